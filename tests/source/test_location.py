"""Which frame of a stack is shown, whose problem it is, and what the note says."""

import copy
import linecache

import pytest
from real_frames import needs_columns, raising_file, stack_of, stack_when_raising

from breakfinder import source
from breakfinder.trace import StackEntry

pytestmark = needs_columns


class _Fragile:
    def __deepcopy__(self, memo):
        raise ZeroDivisionError


def library(tmp_path, name="timm", body="def layer(x):\n    return x // 0\n"):
    """A file of an installed distribution that raises when ``layer`` is called."""
    file = tmp_path / "lib" / "site-packages" / name / "layers.py"
    file.parent.mkdir(parents=True)
    file.write_text(body)
    space = {}
    exec(compile(body, str(file), "exec"), space)
    return file, space["layer"]


def test_python_code_is_not_shown_where_the_users_called_it(tmp_path):
    text = (
        "import copy\ndef forward(b):\n    saved = copy.deepcopy(b)\n    return saved\nforward([[fragile]])"
    )
    stack = raising_file(tmp_path / "model.py", text, fragile=_Fragile())[:-1]
    assert stack[-1].file == copy.__file__
    place = source.locate(stack, root=tmp_path)
    assert (place.file, place.line, place.owner) == ("model.py", 3, "user")
    assert (place.expression, place.qualname) == ("copy.deepcopy(b)", "forward")
    assert (
        place.note
        == f"It happens deeper, in copy.py:{stack[-1].line}, in deepcopy (python), which this calls."
    )


def test_a_library_that_breaks_by_itself_owns_what_the_user_called(tmp_path):
    file, layer = library(tmp_path)
    stack = raising_file(
        tmp_path / "model.py", "def forward(x):\n    return layer(x) + 1\nforward(1)", layer=layer
    )
    assert stack[-1].file == str(file)
    place = source.locate(stack, root=tmp_path)
    assert (place.file, place.line, place.expression) == ("model.py", 2, "layer(x)")
    assert place.owner == "timm"
    assert " timm/layers.py:2, in layer (timm)" in place.note


def test_two_places_in_a_library_are_two_though_called_from_one_line(tmp_path):
    body = "def layer(x):\n    if x:\n        return x // 0\n    return 1 // x\n"
    _, layer = library(tmp_path, body=body)
    places = [
        source.locate(
            raising_file(tmp_path / "m.py", "def f(x):\n    layer(x)\nf(y)", layer=layer, y=y), root=tmp_path
        )
        for y in (1, 0)
    ]
    assert places[0].line == places[1].line == 2
    assert places[0].expression == places[1].expression
    assert places[0].fingerprint != places[1].fingerprint


def test_library_code_is_shown_where_the_user_has_no_frame(tmp_path):
    _, layer = library(tmp_path, "transformers", "import copy\ndef layer(x):\n    y = copy.deepcopy(x)\n")
    try:
        layer([_Fragile()])
    except ZeroDivisionError as error:
        stack = stack_of(error.__traceback__)[1:-1]
    place = source.locate(stack, root=tmp_path)
    assert (place.file, place.line) == ("lib/site-packages/transformers/layers.py", 3)
    assert (place.owner, place.expression) == ("transformers", "copy.deepcopy(x)")
    assert "copy.py" in place.note


def test_python_code_is_shown_where_there_is_no_other():
    with pytest.raises(ZeroDivisionError) as caught:
        copy.deepcopy([_Fragile()])
    stack = [entry for entry in stack_of(caught.tb) if entry.file == copy.__file__]
    place = source.locate(stack)
    assert (place.owner, place.line, place.note) == ("python", stack[-1].line, "")


@pytest.mark.parametrize(
    "file", ["<string>", "<frozen runpy>", "<eval_with_key>.999999", "<__array_function__ internals>"]
)
def test_code_without_source_is_shown_by_its_caller(tmp_path, file):
    made = {}
    exec(compile("def made(x):\n\n    return x // 0", file, "exec"), made)
    stack = raising_file(tmp_path / "model.py", "def f(x):\n    return [made(x)]\nf(1)", made=made["made"])
    assert stack[-1].file == file
    place = source.locate(stack, root=tmp_path)
    assert (place.file, place.line, place.expression, place.owner) == ("model.py", 2, "made(x)", "user")
    assert f"{file}:3, in made, which has no source" in place.note


def test_a_file_that_is_gone_is_shown_by_its_caller(tmp_path):
    gone = tmp_path / "gone.py"
    gone.write_text("def made(x):\n    return x // 0")
    made = {}
    exec(compile(gone.read_text(), str(gone), "exec"), made)
    gone.unlink()
    stack = raising_file(tmp_path / "model.py", "def f(x):\n    return made(x)\nf(1)", made=made["made"])
    place = source.locate(stack, root=tmp_path)
    assert (place.file, place.line, place.expression) == ("model.py", 2, "made(x)")
    assert "gone.py:2, in made, which has no source" in place.note
    alone = source.locate(stack[-1:], root=tmp_path)
    assert (alone.file, alone.line, alone.qualname, alone.snippet) == ("gone.py", 2, "made", "")
    assert "no source" in alone.note
    assert alone.fingerprint


@pytest.mark.parametrize("file", ["/tmp/ipykernel_77/12345.py", "<ipython-input-3-0a1b2c>"])
def test_notebook_cells_are_read_from_memory(file, monkeypatch):
    cell = "class Net:\n    def forward(self, x):\n        return x // 0\nNet().forward(1)\n"
    monkeypatch.setitem(linecache.cache, file, (len(cell), None, cell.splitlines(True), file))
    place = source.locate(stack_when_raising(cell, file))
    assert (place.file, place.line, place.column, place.end_column) == (file, 3, 16, 22)
    assert (place.owner, place.qualname, place.expression) == ("user", "Net.forward", "x // 0")
    assert place.snippet == cell.rstrip("\n")


def test_a_cell_that_is_run_again_keeps_its_fingerprint(monkeypatch):
    cell = "def forward(x):\n    return x // 0\nforward(1)\n"
    found = set()
    for file in (
        "/tmp/ipykernel_77/12345.py",
        "/tmp/ipykernel_9/6.py",
        "<ipython-input-3-0a>",
        "<ipython-input-8-0a>",
    ):
        monkeypatch.setitem(linecache.cache, file, (len(cell), None, cell.splitlines(True), file))
        found.add(source.locate(stack_when_raising(cell, file)).fingerprint)
    assert len(found) == 1


def test_the_snippet_is_some_lines_around(tmp_path):
    lines = [f"a{n} = {n}" for n in range(1, 21)]
    lines[9] = "b = 1 // 0"
    place = source.locate(raising_file(tmp_path / "model.py", "\n".join(lines)))
    assert place.snippet.split("\n") == lines[6:13]
    assert place.snippet_line == 7


def test_a_fingerprint_does_not_depend_on_where_the_project_is(tmp_path):
    text = "def forward(x):\n    return x // 0\nforward(1)"
    roots = [tmp_path / "a", tmp_path / "b" / "c"]
    stacks = [raising_file(root / "src" / "model.py", text) for root in roots]
    places = [source.locate(stack, root=root) for stack, root in zip(stacks, roots, strict=True)]
    assert places[0] == places[1]


def test_no_stack():
    place = source.locate([])
    assert (place.file, place.line) == ("", 0)
    assert place.note


def test_stacks_are_described(tmp_path):
    _, layer = library(tmp_path)
    text = (
        "class M:\n    def forward(self, x):\n        return [layer(y) for y in x]  # é\nM().forward([1])\n"
    )
    stack = raising_file(tmp_path / "model.py", text, layer=layer)
    stack = [
        *stack,
        StackEntry("<string>", 1, "torch_dynamo_resume_in_f_at_1"),
        StackEntry(copy.__file__, 1, "copy"),
    ]
    described = [
        (frame.file, frame.line, frame.function, frame.owner, frame.code)
        for frame in source.describe_stack(stack, root=tmp_path)
        if frame.function != "M.forward.<locals>.<listcomp>"
    ]
    assert described == [
        ("model.py", 4, "<module>", "user", "M().forward([1])"),
        ("model.py", 3, "M.forward", "user", "return [layer(y) for y in x]  # é"),
        ("lib/site-packages/timm/layers.py", 2, "layer", "timm", "return x // 0"),
        ("<string>", 1, "f", "python", ""),
        (copy.__file__, 1, "copy", "python", '"""Generic (shallow and deep) copying operations.'),
    ]
