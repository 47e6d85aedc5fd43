"""What `lint` prints."""

import pytest

from breakfinder.lint.finding import LintFinding
from breakfinder.lint.session import Outcome
from breakfinder.lint.text import render_text, statistics, summary


def finding(line=1, rule="BF101", **changes):
    fields = {"column": 5, "end_line": line, "end_column": 9, "title": "A title", "expression": "a.b"}
    return LintFinding("model.py", line, rule=rule, **{**fields, **changes})


def outcome(*findings, files=3):
    return Outcome(list(findings), files=files)


def plain(*findings, source=False):
    return render_text(outcome(*findings), color=False, source=source)


def test_one_line_for_each():
    assert plain(finding(), finding(2, fixable="safe"), finding(3, expression=""), finding(4, cell=2)) == (
        "model.py:1:5: BF101 A title: a.b\n"
        "model.py:2:5: BF101 [*] A title: a.b\n"
        "model.py:3:5: BF101 A title\n"
        "model.py:cell 2:4:5: BF101 A title: a.b\n"
    )


def test_long_lines_are_not_wrapped_and_several_become_one():
    text = plain(finding(expression="f(\n    a,\n" + "x" * 500 + ")"))
    assert text.count("\n") == 1
    assert "f( a, xxx" in text


@pytest.mark.parametrize(
    ("source", "place", "shown"),
    [
        ("x = a.item()\n", (1, 5, 1, 13), "  1 | x = a.item()\n    |     ^^^^^^^^\n"),
        ("    漢 = a.b\n", (1, 9, 1, 12), "  1 | 漢 = a.b\n    |      ^^^\n"),
        ("\tx = a\n", (1, 6, 1, 7), "  1 | x = a\n    |     ^\n"),
        (
            "if (a or\n        b):\n    c\n", (1, 5, 2, 10),
            "  1 | if (a or\n    |     ^^^^\n  2 |         b):\n    |         ^\n",
        ),
        ("x = '\x1b[2J'\n", (1, 5, 1, 11), "  1 | x = '<U+001B>[2J'\n    |     ^^^^^^^^^^^^^\n"),
    ],
)  # fmt: skip
def test_source_with_the_expression_marked(tmp_path, monkeypatch, source, place, shown):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(source)
    line, column, end_line, end_column = place
    text = plain(finding(line, column=column, end_line=end_line, end_column=end_column), source=True)
    assert text == f"model.py:{line}:{column}: BF101 A title\n{shown}"


def test_colours():
    assert "\x1b[" in render_text(outcome(finding()), color=True, source=False)


@pytest.mark.parametrize(
    ("findings", "options", "expected"),
    [
        ([], {}, "No problem found in 3 files.\n"),
        ([], {"fixed": 1}, "Fixed 1 problem. No problem found in 3 files.\n"),
        ([finding(), finding(2)], {}, "Found 2 problems in 1 file.\n"),
        ([finding(fixable="safe")], {}, "Found 1 problem in 1 file.\n1 fixable with `--fix`.\n"),
        (
            [finding(fixable="review")], {},
            "Found 1 problem in 1 file.\n1 perhaps fixable with `--fix --unsafe-fixes`.\n",
        ),
        ([finding(fixable="review")], {"unsafe": True}, "Found 1 problem in 1 file.\n"),
    ],
)  # fmt: skip
def test_summary(findings, options, expected):
    assert summary(outcome(*findings), **options) == expected


def test_statistics():
    many = [finding(number, "BF201") for number in range(10)]
    assert statistics(outcome(finding(), *many)) == (
        "10  BF201  `print` in compiled code\n 1  BF101  A tensor's value becomes a Python number\n"
    )
    assert statistics(outcome()) == ""
