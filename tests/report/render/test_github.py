"""Workflow commands, as the runner of GitHub Actions reads them."""

import re

import pytest

from breakfinder.report.render import render
from breakfinder.report.render.github import render_github
from breakfinder.report.render.problem import Problem, Problems
from report import samples

COMMAND = re.compile(r"::(error|warning|notice) ([^:]*)::(.*)")


def parse(line):
    """Level, properties and text of one command, by the runner's own rules of escaping."""
    level, properties, data = COMMAND.fullmatch(line).groups()
    pairs = dict(part.split("=", 1) for part in properties.split(","))
    return level, {name: undone(value) for name, value in pairs.items()}, undone(data)


def undone(text):
    for code, character in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(code, character)
    return text


def problem(**changes):
    fields = {
        "rule": "BF101", "title": "title", "severity": "warning", "file": "a.py", "line": 3, "column": 5,
        "end_line": 3, "end_column": 9, "fingerprint": "f",
    }  # fmt: skip
    return Problem(**{**fields, **changes})


def commands(*problems):
    return [parse(line) for line in render_github(Problems("lint", "1", problems)).splitlines()]


def test_a_finding_of_a_check():
    first, second, third = map(parse, render(samples.with_findings(), "github").splitlines())
    assert first[0] == "error"
    assert first[1] == {
        "file": "src/gatednet/modeling_gatednet.py", "line": "22", "endLine": "24",
        "title": "BF103: `if` on a tensor's value",
    }  # fmt: skip
    assert second[1]["col"] == "23"
    assert second[1]["endColumn"] == "48"
    assert "chosen.flatten().tolist()" in second[2]
    assert third[0] == "warning"


@pytest.mark.parametrize(
    ("severity", "level"), [("error", "error"), ("warning", "warning"), ("info", "notice")]
)
def test_levels(severity, level):
    assert commands(problem(severity=severity))[0][0] == level


def test_special_characters_come_back():
    name = "50%, of: a%0A.py"
    ((_, properties, data),) = commands(problem(file=name, title="x::y, 100%\n::error::z"))
    assert properties["file"] == name
    assert properties["title"] == "BF101: x::y, 100%\n::error::z"
    assert data.startswith(f"{name}:3:5: BF101 x::y, 100%")


def test_one_line_for_each_problem_whatever_it_holds():
    text = render_github(
        Problems("lint", "1", [problem(file="a\nb\r.py", title="a\r\nb\u2028c\u202e", expression="x\n  y")])
    )
    assert len(text.splitlines()) == 1
    assert "\u202e" not in text
    ((_, properties, _),) = [parse(line) for line in text.splitlines()]
    assert properties["file"] == "a<U+000A>b<U+000D>.py"


def test_a_notebook_has_no_lines():
    ((_, properties, data),) = commands(problem(file="n.ipynb", cell=4))
    assert set(properties) == {"file", "title"}
    assert data.startswith("n.ipynb: cell 4:3:5: ")


def test_a_suppressed_problem_is_left_out_and_a_failure_is_said():
    assert commands(problem(suppressed=True)) == []
    *_, (level, properties, data) = map(parse, render(samples.failed(), "github").splitlines())
    failure = samples.failed().failure
    assert (level, properties["title"]) == ("error", f"breakfinder: {failure.stage}")
    assert data == failure.message
