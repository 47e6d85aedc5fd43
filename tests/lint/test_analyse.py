"""What the source patterns find, and where exactly."""

import ast
import sysconfig
import textwrap
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st

from breakfinder.lint.analyse import MOST_CHARACTERS, UNREADABLE, analyse, parsed
from breakfinder.lint.finding import LintFinding
from breakfinder.lint.reach import reachable, summarise
from breakfinder.rules.pattern import Match
from breakfinder.rules.registry import all_rules
from breakfinder.rules.rule import Rule
from breakfinder.source.text import SourceText


def rule(code: str, kinds: tuple[type[ast.AST], ...], found, title: str = "a title") -> type[Rule]:
    """A rule whose pattern is a function."""
    return type(code, (Rule,), {
        "code": code, "name": code, "title": title, "why": "", "remedy": "", "examples": (),
        "pattern_nodes": kinds, "pattern": classmethod(lambda cls, node, function: found(node, function)),
    })  # fmt: skip


def called(code: str, name: str, confidence: str = "high", title: str = "a title") -> type[Rule]:
    def found(node, function):
        return Match(node, confidence) if function.called(node) == name else None

    return rule(code, (ast.Call,), found, title)


def found(source: str, *rules: type[Rule], reached=None) -> list[LintFinding]:
    return analyse("a.py", SourceText(textwrap.dedent(source)), reached, rules)


def test_the_place_is_exact():
    (finding,) = found("def f(x):\n\tß = 'ö'; é = (lost(x,\n\t\t'ü')) + 1\n", called("BF201", "lost"))
    assert (finding.line, finding.column, finding.end_line, finding.end_column) == (2, 16, 3, 7)
    assert finding.expression == "lost(x,\n\t\t'ü')"
    assert (finding.rule, finding.title, finding.confidence, finding.qualname) == (
        "BF201",
        "a title",
        "high",
        "f",
    )
    assert (finding.file, finding.fixable, finding.cell) == ("a.py", "", None)


def test_of_a_statement_the_header_is_the_place():
    pattern = rule("BF402", (ast.For,), lambda node, function: Match(node))
    (finding,) = found("def f(x):\n    for a in x:\n        pass\n", pattern)
    assert (finding.line, finding.column, finding.end_line, finding.end_column) == (2, 5, 2, 16)
    assert finding.expression == "for a in x:"


def test_titles_are_filled():
    (finding,) = found("def f(x):\n    lost(x)\n", called("BF201", "lost", title="{expression} is lost"))
    assert finding.title == "`lost(x)` is lost"


def test_one_finding_per_place_the_surest_then_the_first_rule():
    rules = [called("BF101", "a", "medium"), called("BF102", "a"), called("BF103", "a"), called("BF104", "b")]
    findings = found("def f():\n    a()\n    b()\n", *rules)
    assert [(finding.line, finding.rule) for finding in findings] == [(2, "BF102"), (3, "BF104")]


def test_only_in_functions_that_are_reached():
    source = """
        class A:
            def f(self):
                a()
                def g():
                    a()
        def f():
            a()
        a()
        """
    rules = [called("BF101", "a")]
    assert [finding.qualname for finding in found(source, *rules)] == ["A.f", "A.f.<locals>.g", "f"]
    assert [finding.line for finding in found(source, *rules, reached={"A.f.<locals>.g"})] == [6]
    assert found(source, *rules, reached=frozenset()) == []


def test_choosing_later_gives_the_same():
    text = SourceText(Path(__file__).with_name("test_reach.py").read_text(encoding="utf-8"))
    everything = analyse("a.py", text, None, all_rules())
    names = {finding.qualname for finding in everything}
    for name in names:
        chosen = [finding for finding in everything if finding.qualname == name]
        assert analyse("a.py", text, {name}, all_rules()) == chosen


def test_what_never_runs_compiled_is_left_alone():
    source = """
        import torch
        def f(x):
            if not torch.compiler.is_compiling():
                a()
            return 1
            a()
        @torch.compiler.disable
        def g(x):
            a()
        """
    assert found(source, called("BF101", "a")) == []


def test_findings_are_in_order_and_go_through_json():
    source = "def f():\n    b(a())\ndef g():\n    a(); a()\n"
    findings = found(source, called("BF102", "b"), called("BF101", "a"))
    assert [(one.line, one.column, one.rule) for one in findings] == [
        (2, 5, "BF102"),
        (2, 7, "BF101"),
        (4, 5, "BF101"),
        (4, 10, "BF101"),
    ]
    assert [LintFinding(**one.as_dict()) for one in findings] == findings
    assert sorted(findings, key=lambda one: one.expression) != sorted(findings) == findings


@pytest.mark.parametrize(
    ("source", "line", "said"),
    [
        ("x = 1\ndef f(:\n", 2, "invalid syntax"),
        ("x = 1\n\n  y = 2\n", 3, "unexpected indent"),
        ("x = (\n", 1, "never closed"),
        ("def f():\n    x\n  y\n", 3, "unindent"),
        ("x" + "+x" * 100_000, 1, "nests too deep"),
        ("(" * 300 + ")" * 300, 1, "too many nested"),
        ("a" * 10 + "\n" + "#" * (MOST_CHARACTERS + 1), 1, "5 MiB"),
        ("x = '\0'\n", 1, "null byte"),
    ],
)
def test_a_file_that_cannot_be_looked_into_gives_one_finding(source, line, said):
    (finding,) = found(source, *all_rules())
    assert (finding.rule, finding.confidence, finding.line) == (UNREADABLE, "high", line)
    assert said in finding.title and finding.qualname == ""


def test_a_pattern_that_nests_too_deep_is_one_such_finding():
    def endless(node, function):
        return endless(node, function)

    (finding,) = found("def f():\n    a()\n", rule("BF101", (ast.Call,), endless))
    assert finding.rule == UNREADABLE and "nests too deep" in finding.title


def whole(text: SourceText) -> list[LintFinding]:
    reachable([summarise("a.py", parsed(text))])
    return analyse("a.py", text, None, all_rules())


LIBRARY = Path(sysconfig.get_paths()["stdlib"])
PACKAGES = Path(sysconfig.get_paths()["purelib"])


def some_files() -> list[Path]:
    """Of the standard library every twentieth file and its parser's test data; of site-packages some."""
    library = sorted(path for path in LIBRARY.rglob("*.py") if "site-packages" not in path.parts)
    packages = sorted(PACKAGES.rglob("*.py"))
    return (
        library[::20]
        + sorted((LIBRARY / "test").glob("test_*gramm*.py"))
        + packages[:: max(1, len(packages) // 100)]
    )


def test_nothing_in_the_library_or_in_packages_makes_it_fail():
    for path in some_files():
        text = SourceText(path.read_bytes().decode(errors="replace"))
        for finding in whole(text):
            assert 1 <= finding.line <= finding.end_line <= max(1, len(text.lines)), path
            assert finding.rule == UNREADABLE or finding.qualname, path


NAMES = st.sampled_from(
    ["x", "y", "self", "torch", "F", "None", "1", "'a'", "x.item()", "self.a", "print", "mask"]
)
EXPRESSIONS = st.recursive(
    NAMES,
    lambda inner: st.one_of(
        st.tuples(
            inner, st.sampled_from(["+", "and", "or", "is", "in", "==", "if x else", "@", "<"]), inner
        ).map(" ".join),
        st.builds("({} := {})".format, st.sampled_from(["x", "z"]), inner),
        st.builds("{}({}, *{}, k={})".format, NAMES, inner, inner, inner),
        st.builds("({})[{}:{}]".format, inner, inner, inner),
        st.builds("[{} for x in {} if {}]".format, inner, inner, inner),
        st.builds("{{{}: {} for y, *z in {}}}".format, inner, inner, inner),
        st.builds("(lambda x, *y: {})".format, inner),
        st.builds("({}).item()".format, inner),
        st.builds("not {}".format, inner),
        st.builds("f'{{({})!r:>{{({})}}}}'".format, st.sampled_from(["x", "y"]), st.sampled_from(["x", "1"])),
    ),
    max_leaves=8,
)
SIMPLE = st.one_of(
    st.builds(
        "{} = {}".format, st.sampled_from(["x", "self.a", "x[0]", "x, (y, *z)", "[x]", "x = y"]), EXPRESSIONS
    ),
    st.builds("{} += {}".format, st.sampled_from(["x", "self.a", "x[0]"]), EXPRESSIONS),
    st.builds("x: {} = {}".format, EXPRESSIONS, EXPRESSIONS),
    EXPRESSIONS,
    st.builds("return {}".format, EXPRESSIONS),
    st.builds("raise {}".format, EXPRESSIONS),
    st.builds("assert {}, {}".format, EXPRESSIONS, EXPRESSIONS),
    st.sampled_from(
        ["pass", "import torch as F", "from . import x", "del x", "global q", "from torch import *"]
    ),
)
HEADERS = st.one_of(
    st.builds("if {}:".format, EXPRESSIONS),
    st.builds("while {}:".format, EXPRESSIONS),
    st.builds("for x, y in {}:".format, EXPRESSIONS),
    st.builds("with {} as x:".format, EXPRESSIONS),
    st.builds("def {}(self, x, y={}, *z, **k):".format, st.sampled_from(["f", "forward", "x"]), EXPRESSIONS),
    st.builds(
        "class {}({}):".format, st.sampled_from(["x", "A"]), st.sampled_from(["torch.nn.Module", "A", "x"])
    ),
)


def indented(header: str, body: str) -> str:
    return f"{header}\n{textwrap.indent(body, ' ')}"


STATEMENTS = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        st.builds(indented, HEADERS, inner),
        st.builds("{}\n{}".format, inner, inner),
        st.builds(
            lambda a, b: f"{indented('try:', a)}\n{indented('except (ImportError, x) as y:', b)}",
            inner,
            inner,
        ),
        st.builds(lambda a, b: f"{indented('if x:', a)}\n{indented('else:', b)}", inner, inner),
        st.builds(lambda a, b: f"{indented('for _ in x:', a)}\n break\n{indented('else:', b)}", inner, inner),
        st.builds(
            lambda a: (
                f"match x:\n case [1, *y] if x:\n{textwrap.indent(a, '  ')}\n case {{'k': z, **w}}: pass"
            ),
            inner,
        ),
    ),
    max_leaves=12,
)


@hypothesis.settings(max_examples=150, deadline=None)
@hypothesis.given(st.lists(STATEMENTS, min_size=1, max_size=3))
def test_nothing_that_hypothesis_makes_up_makes_it_fail(bodies):
    source = "class M(torch.nn.Module):\n" + "\n".join(
        indented(" def forward(self, x, y=None):", textwrap.indent(body, " ")) for body in bodies
    )
    findings = whole(SourceText(source))
    try:
        ast.parse(source)
    except SyntaxError:
        assert [finding.rule for finding in findings] == [UNREADABLE]
    else:
        assert UNREADABLE not in {finding.rule for finding in findings}


@hypothesis.settings(max_examples=100, deadline=None)
@hypothesis.given(st.text())
def test_nor_does_any_text(text):
    whole(SourceText(text))
