"""Places against what the interpreter itself recorded of frames in which an exception was raised."""

import ast
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from real_frames import needs_columns, raising_file

from breakfinder import source
from breakfinder.source.place import place_at, resumed_function
from breakfinder.trace import StackEntry

pytestmark = needs_columns

SCOPES = """
def plain():
    return 1 // 0

class Model:
    rate = 2

    def forward(self, x=None):
        return x + 1 // 0

    @property
    def size(self):
        return self.rate // 0

    def keys(self):
        return sorted([3, 1], key=lambda item: item % 0)

    def build(self):
        def inner(count):
            return [count // zero for zero in range(count)]
        return inner

    async def wait(self):
        return divmod(1, 0)

    class Inner:
        def run(self):
            return {k: 1 // k for k in (0,)}

def outer():
    def wrap(function):
        1 // 0
    @wrap
    def inner(): ...

def default():
    def inner(x=7 // 0): ...

def base():
    class Sub(int(1 // 0)): ...

def lazy():
    return list(n // 0 for n in range(3))

def iterable():
    return [n for n in range(1 // 0)]

def await_it(coroutine):
    coroutine.send(None)
"""


@pytest.mark.parametrize(
    ("call", "qualname", "expression", "statement"),
    [
        ("plain()", "plain", "1 // 0", "return 1 // 0"),
        ("Model().forward()", "Model.forward", "1 // 0", "return x + 1 // 0"),
        ("Model().size", "Model.size", "self.rate // 0", "return self.rate // 0"),
        (
            "Model().keys()",
            "Model.keys.<locals>.<lambda>",
            "item % 0",
            "return sorted([3, 1], key=lambda item: item % 0)",
        ),
        (
            "Model().build()(2)",
            "Model.build.<locals>.inner.<locals>.<listcomp>",
            "count // zero",
            "return [count // zero for zero in range(count)]",
        ),
        ("await_it(Model().wait())", "Model.wait", "divmod(1, 0)", "return divmod(1, 0)"),
        (
            "Model.Inner().run()",
            "Model.Inner.run.<locals>.<dictcomp>",
            "1 // k",
            "return {k: 1 // k for k in (0,)}",
        ),
        ("outer()", "outer.<locals>.wrap", "1 // 0", "1 // 0"),
        ("default()", "default", "7 // 0", "def inner(x=7 // 0):"),
        ("base()", "base", "1 // 0", "class Sub(int(1 // 0)):"),
        ("lazy()", "lazy.<locals>.<genexpr>", "n // 0", "return list(n // 0 for n in range(3))"),
        ("iterable()", "iterable", "1 // 0", "return [n for n in range(1 // 0)]"),
    ],
)
def test_scopes(tmp_path, call, qualname, expression, statement):
    stack = raising_file(tmp_path / "model.py", SCOPES + call + "\n")
    place = source.locate(stack, root=tmp_path)
    assert (place.file, place.line, place.qualname) == ("model.py", stack[-1].line, qualname)
    assert (place.expression, place.statement, place.note) == (expression, statement, "")
    line = SCOPES.split("\n")[place.line - 1]
    assert place.line == place.end_line
    assert line[place.column - 1 : place.end_column - 1] == expression


def test_the_decorator_of_a_function_is_outside_it(tmp_path):
    stack = raising_file(tmp_path / "model.py", SCOPES + "outer()\n")
    place = source.locate(stack[:-1], root=tmp_path)
    assert place.qualname == "outer"
    assert SCOPES.split("\n")[place.line - 1].strip() == "@wrap"
    assert place.expression == "wrap"


@pytest.mark.parametrize(
    ("statement", "header"),
    [
        ("if 1 // 0 > 2:  # a: b\n    pass", "if 1 // 0 > 2:"),
        ("if None:\n    pass\nelif {1: 1 // 0}[1]: pass", "elif {1: 1 // 0}[1]:"),
        ("while (lambda: 1 // 0)():\n\n    # wait: here\n    '''a: b'''", "while (lambda: 1 // 0)():"),
        ("for i in range(\n    1 // 0,\n): pass", "for i in range(\n    1 // 0,\n):"),
        ("with (open(__file__ * (1 // 0)) as é, open('ü:') as b):\n    pass", None),
        ("try:\n    raise KeyError\nexcept (1 // 0) as e:\n    pass", "except (1 // 0) as e:"),
        ("try:\n    1 // 0\nfinally:\n    pass", "1 // 0"),
        ("match 1 // 0:\n    case 1: pass", "match 1 // 0:"),
        ("match 1:\n    case 2: pass\n    case int() if 1 // 0: pass", "case int() if 1 // 0:"),
        ("a = 1; b = [1 // 0]; c = 2", "b = [1 // 0]"),
        ("é = 'ü'; assert 1 // 0", "assert 1 // 0"),
    ],
)
def test_a_statement_is_shown_by_its_header(tmp_path, statement, header):
    stack = raising_file(tmp_path / "model.py", statement, __file__=str(tmp_path / "model.py"))
    place = source.locate(stack, root=tmp_path)
    assert place.statement == (header or statement.split("\n")[0])
    assert place.expression in ("1 // 0", "(lambda: 1 // 0)()")
    assert place.expression in place.statement


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("first", "encoding"),
    [
        ("# -*- coding: latin-1 -*-", "latin-1"),
        ("# coding: cp1252", "cp1252"),
        ("pass", "utf-8"),
        ("pass", "utf-8-sig"),
        ("# coding: shift_jis", "shift_jis"),
    ],
)
def test_columns_are_characters_in_any_encoding(tmp_path, newline, first, encoding):
    word = "日本" if encoding == "shift_jis" else "éü"
    line = f"\ty = ('{word}', 1 // 0, '{word}')"
    lines = [first, "\x0c", "if True:", "\tz = '\x0c\x0b'", line, ""]
    stack = raising_file(tmp_path / "model.py", newline.join(lines).encode(encoding))
    place = source.locate(stack, root=tmp_path)
    assert (place.line, place.column) == (5, line.index("1 // 0") + 1)
    assert (place.end_line, place.end_column) == (5, line.index("1 // 0") + 7)
    assert place.expression == "1 // 0"
    assert place.snippet.split("\n")[5 - place.snippet_line] == line


_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="'\\\r\n"), max_size=30)


@given(before=_TEXT, after=_TEXT)
def test_columns_count_characters_of_any_width(tmp_path_factory, before, after):
    line = f"y = ('{before}', 1 // 0, '{after}')"
    stack = raising_file(tmp_path_factory.mktemp("columns") / "model.py", line)
    place = source.locate(stack)
    start = len(f"y = ('{before}', ") + 1
    assert (place.line, place.column, place.end_column) == (1, start, start + len("1 // 0"))
    assert place.expression == "1 // 0"
    assert place.snippet == line


def test_a_range_over_several_lines(tmp_path):
    lines = ["value = (", "    'é',", "    divmod(", "        1,", "        0,", "    ),", ")"]
    place = source.locate(raising_file(tmp_path / "model.py", "\n".join(lines)))
    assert (place.line, place.column, place.end_line, place.end_column) == (3, 5, 6, 6)
    assert place.expression == "\n".join(["divmod(", "        1,", "        0,", "    )"])
    assert place.statement == "\n".join(lines)


def test_a_method_call_over_several_lines_is_at_the_method(tmp_path):
    """Python records such a call from the method's name on; the expression is all of it."""
    text = "class A:\n    def f(self): return self\n    def g(self): 1 // 0\n(A()\n  .f()\n  .g()\n)\n"
    stack = raising_file(tmp_path / "model.py", text)
    place = source.locate(stack[:1])
    assert (stack[0].line, place.line, place.column, place.end_column) == (6, 6, 4, 7)
    assert place.expression == "A()\n  .f()\n  .g()"


@pytest.mark.parametrize(
    ("lines", "at", "expression"),
    [
        (["def f(x, mask):", "    y = x[mask].sum()"], 2, "x[mask].sum()"),
        (["def f(x, mask):", "    x[mask] = 0"], 2, "x[mask]"),
        (["def f(x):", "    if x.sum() > 0:", "        print(x.sum() + x.sum())"], 2, "x.sum() > 0"),
        (["def f(x):", "    return g(", "        x,", "        x.item(),", "    )"], 4, "x.item()"),
        (["def f(x):", "    return g(", "        x,", "    )"], 2, "g(\n        x,\n    )"),
        (["def f(x):", "    import numpy"], 2, "import numpy"),
        (["def f(x):", "    return g(", "        x,", "    )"], 4, "return g(\n        x,\n    )"),
    ],
)
def test_without_columns_it_is_the_widest_expression_that_starts_on_the_line(tmp_path, lines, at, expression):
    file = tmp_path / "model.py"
    file.write_text("\n".join(lines))
    place = source.locate([StackEntry(str(file), at, "f")])
    assert (place.line, place.qualname, place.expression) == (at, "f", expression)
    assert "No columns were recorded" in place.note
    marked = lines[at - 1][place.column - 1 : place.end_column - 1 if place.end_line == at else None]
    assert marked == (expression.split("\n")[0] if lines[at - 1].strip() != ")" else ")")


def test_an_edited_file_is_said_to_be(tmp_path):
    file = tmp_path / "model.py"
    stack = raising_file(file, "def f():\n    pass\n    1 // 0\nf()")
    file.write_text("def f():\n    pass\ndef g():\n    1 // 0\n")
    assert "Expected in f" in source.locate(stack).note
    file.write_text("def f(): pass\n")
    place = source.locate(stack)
    assert "only 1 lines" in place.note
    assert (place.line, place.snippet, place.expression) == (3, "", "")
    file.write_text("def f():\n    pass\n")
    assert source.locate(stack[:1]).note


@pytest.mark.parametrize(
    "text",
    [
        "def f(:\n    1 // 0\n",
        "def f():\n  1 // 0\n 2\n",
        "x = '\n1 // 0\n",
        "(" * 400 + "\n1 // 0",
        "?\n  1 // 0",
    ],
)
def test_a_file_that_does_not_parse_still_has_lines(tmp_path, text):
    file = tmp_path / "model.py"
    file.write_text(text)
    line = text.split("\n")[1]
    column = line.index("1")
    place = source.locate([StackEntry(str(file), 2, "f", column, 2, column + 6)])
    assert "cannot be parsed" in place.note
    assert (place.line, place.column, place.expression, place.qualname) == (2, column + 1, "1 // 0", "f")
    assert (place.snippet, place.snippet_line) == (text.rstrip("\n"), 1)
    unknown = source.locate([StackEntry(str(file), 2, "f")])
    assert unknown.expression == "1 // 0"


@pytest.mark.parametrize(
    "expression",
    [
        "x" + " + 1" * 900,
        "[" * 90 + "1" + "]" * 90,
        "x" + ".real" * 900,
        "f(" * 90 + ")" * 90,
        "not " * 2000 + "x",
    ],
    ids=["sum", "lists", "attributes", "calls", "not"],
)
def test_deep_nesting(tmp_path, expression):
    file = tmp_path / "model.py"
    file.write_text(f"def f(x):\n    a = {expression}\n    return a.item()\n")
    for columns in ((11, 3, 19), (None, None, None)):
        place = source.locate([StackEntry(str(file), 3, "f", *columns)])
        assert (place.line, place.column, place.end_column) == (3, 12, 20)
        assert place.expression == "a.item()"
    deep = source.locate([StackEntry(str(file), 2, "f", 8, 2, 8 + len(expression))])
    assert deep.fingerprint
    assert deep.expression in (expression, expression[:3999] + "…")


def test_what_nests_too_deep_for_python_is_shown_as_text(tmp_path):
    file = tmp_path / "model.py"
    file.write_text("def f(x):\n    a = x" + " + 1" * 100_000 + "\n    return a.item()\n")
    place = source.locate([StackEntry(str(file), 3, "f", 11, 3, 19)])
    assert "nests too deep" in place.note
    assert (place.line, place.column, place.end_column, place.expression) == (3, 12, 20, "a.item()")


def test_a_huge_line_is_cut(tmp_path):
    file = tmp_path / "model.py"
    file.write_text("x = 1\nTABLE = [" + "1, " * 200_000 + "]\n")
    place = source.locate([StackEntry(str(file), 2, "<module>")])
    assert len(place.snippet) == 20_000
    assert len(place.expression) == len(place.statement) == 4_000
    assert place.snippet_line == 2


FUNCTIONS = """
import functools

@functools.lru_cache(
    maxsize=None,
)
def cached(x):
    return x

class Model:
    @staticmethod
    @functools.wraps(cached)
    async def  größe(x, f=lambda a: a): return [
        i
        for i in (j for j in x)
    ]

    def forward(self):
        return lambda: (
            None
        )
"""


def code_objects(code):
    for constant in code.co_consts:
        if hasattr(constant, "co_firstlineno"):
            yield constant
            yield from code_objects(constant)


def test_functions_are_found_by_their_code_objects(tmp_path):
    file = tmp_path / "model.py"
    file.write_text(FUNCTIONS)
    found = {}
    for code in code_objects(compile(FUNCTIONS, str(file), "exec")):
        place = source.locate_function(str(file), code.co_firstlineno, code.co_name, root=tmp_path)
        assert place.qualname == getattr(code, "co_qualname", place.qualname)
        assert place.note == ""
        found[place.qualname] = (place.line, place.expression)
        line = FUNCTIONS.split("\n")[place.line - 1]
        assert line[place.column - 1 :].startswith(place.expression.split("\n")[0])
    assert found["cached"] == (7, "cached")
    assert found["Model.größe"] == (13, "größe")
    assert found["Model.<lambda>"] == (13, "lambda a: a")
    assert found["Model.größe.<locals>.<genexpr>"] == (15, "(j for j in x)")
    assert found["Model.forward.<locals>.<lambda>"][0] == 19
    assert found["Model"] == (10, "Model")
    if sys.version_info < (3, 12):
        assert found["Model.größe.<locals>.<listcomp>"][0] == 13


def test_the_statement_of_a_function_is_its_def_line(tmp_path):
    file = tmp_path / "model.py"
    file.write_text(FUNCTIONS)
    assert source.locate_function(str(file), 18, "forward").statement == "def forward(self):"
    assert source.locate_function(str(file), 4, "cached").snippet.split("\n")[3] == "def cached(x):"


def test_a_function_that_is_not_there_is_placed_at_its_line(tmp_path):
    file = tmp_path / "model.py"
    file.write_text(FUNCTIONS)
    place = source.locate_function(str(file), 8, "gone")
    assert (place.line, place.expression) == (8, "x")
    assert "Expected in gone" in place.note


def test_resume_functions():
    assert resumed_function("torch_dynamo_resume_in_forward_at_9") == ("forward", 9)
    assert resumed_function("torch_dynamo_resume_in_<lambda>_at_12") == ("<lambda>", 12)
    assert resumed_function("torch_dynamo_resume_in_look_at_me_at_3") == ("look_at_me", 3)
    nested = "torch_dynamo_resume_in_torch_dynamo_resume_in_f_at_3_at_9"
    assert resumed_function(nested) == ("f", 9)
    assert resumed_function("forward") is None


def test_a_resume_function_is_the_function_that_it_resumes(tmp_path):
    file = tmp_path / "model.py"
    file.write_text("class M:\n    def forward(self, x):\n        print(x)\n        return x.item()\n")
    name = "torch_dynamo_resume_in_forward_at_3"
    inside = source.locate([StackEntry(str(file), 4, name, 15, 4, 23)])
    assert (inside.qualname, inside.expression, inside.note) == ("M.forward", "x.item()", "")
    frame = source.locate_function(str(file), 3, name)
    assert (frame.line, frame.qualname) == (3, "M.forward")
    assert "the rest of M.forward" in frame.note
    assert frame.fingerprint != source.locate([StackEntry(str(file), 3, "forward")]).fingerprint


def test_the_truth_used_here_is_the_interpreters(tmp_path):
    """`raising_file` gives the range of the node that raised."""
    stack = raising_file(tmp_path / "model.py", "x = [2, 1 // 0]")
    division = next(node for node in ast.walk(ast.parse("x = [2, 1 // 0]")) if isinstance(node, ast.BinOp))
    assert (stack[-1].column, stack[-1].end_column) == (division.col_offset, division.end_col_offset)


@pytest.mark.parametrize(
    ("header", "test"),
    [
        ("if x.isnan().any():", "x.isnan().any()"),
        ("while (x > 0).any():", "(x > 0).any()"),
        ('assert x.max() < 9, f"{x}"', "x.max() < 9"),
    ],
)
def test_of_a_whole_condition_the_test_is_the_place(tmp_path, header, test):
    """The jump of an ``if`` has the position of the whole statement's header (Python 3.11)."""
    body = "\n        x = 1" if header.endswith(":") else ""
    path = tmp_path / "condition.py"
    path.write_text(f"def f(x):\n    {header}{body}\n")
    entry = StackEntry(str(path), 2, "f", 4, 2, 4 + len(header.encode()))
    place = place_at(entry, tmp_path)
    assert place.expression == test
    assert (place.line, place.column) == (2, 5 + header.index(test))
