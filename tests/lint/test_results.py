"""What is left of findings after selection, reach and comments."""

from breakfinder.lint.finding import LintFinding
from breakfinder.lint.results import FileResult, Wanted, judge
from breakfinder.lint.suppressions import suppressions

ALL = frozenset({"BF001", "BF101", "BF201", "BF700"})
READABLE = frozenset({"BF101", "BF201"})


def finding(line, rule="BF101", confidence="high", qualname="f"):
    return LintFinding("/x/a.py", line, 1, line, 5, rule, "title", confidence, qualname)


def judged(text, *findings, reached=None, rules=ALL, confidence="high", cells=()):
    result = FileResult(findings, suppressions(text), cells)
    found = judge("a.py", result, reached, Wanted(rules, confidence, READABLE))
    shown = [(one.rule, one.line) for one in found.shown]
    return shown, [(one.rule, one.line) for one, _ in found.suppressed]


def test_confidence_and_selection():
    findings = finding(1), finding(2, confidence="medium"), finding(3, "BF201", "low")
    assert judged("", *findings)[0] == [("BF101", 1)]
    assert judged("", *findings, confidence="medium")[0] == [("BF101", 1), ("BF101", 2)]
    assert judged("", *findings, confidence="low", rules=frozenset({"BF201"}))[0] == [("BF201", 3)]


def test_only_functions_that_are_reached():
    findings = finding(1, qualname="f"), finding(2, qualname="g"), finding(3, "BF201", qualname="")
    assert judged("", *findings, reached={"g"})[0] == [("BF101", 2), ("BF201", 3)]


def test_comments_take_findings_away():
    assert judged("x  # noqa: BF101\ny\n", finding(1), finding(2)) == ([("BF101", 2)], [("BF101", 1)])


def test_unused_comments_are_reported():
    text = "x  # noqa: BF101, BF201\n"
    result = FileResult([finding(1)], suppressions(text))
    (unused,) = judge("a.py", result, None, Wanted(ALL, "high", READABLE)).shown
    assert (unused.rule, unused.line, unused.column, unused.end_column) == ("BF001", 1, 4, 24)
    assert unused.title == "Unused suppression comment: `BF201`"


def test_what_is_not_called_unused():
    assert judged("x  # noqa\n") == ([], []), "it may be for another tool"
    assert judged("x  # noqa: BF700\n") == ([], []), "only tracing finds that"
    assert judged("x  # noqa: BF201\n", rules=ALL - {"BF201"}) == ([], []), "it was not looked for"
    assert judged("x  # noqa: BF201\n", rules=ALL - {"BF001"}) == ([], []), "not asked for"
    assert judged("x  # noqa: BF101\n", finding(1, confidence="low")) == ([], []), (
        "another confidence needs it"
    )
    assert judged("x  # noqa: BF101\n", finding(1), reached=set()) == ([], []), "callers may be elsewhere"
    assert judged("x  # breakfinder: ignore\n", rules=ALL - {"BF101"}) == ([], []), "not all was looked for"
    assert judged("# breakfinder: ignore-file[BF1]\nx\n", finding(2)) == ([], [("BF101", 2)])


def test_blanket_comments_of_our_own_are_called_unused():
    assert judged("x  # breakfinder: ignore\n")[0] == [("BF001", 1)]
    assert judged("x\n# breakfinder: ignore-file\n")[0] == [("BF001", 2)]


def test_lines_of_a_notebook_are_those_of_its_cells():
    result = FileResult([finding(1), finding(4)], (), [(2, 1), (5, 3)])
    shown = judge("n.ipynb", result, None, Wanted(ALL, "high", READABLE)).shown
    assert [(one.file, one.cell, one.line, one.end_line) for one in shown] == [
        ("n.ipynb", 2, 1, 1), ("n.ipynb", 5, 2, 2),
    ]  # fmt: skip
