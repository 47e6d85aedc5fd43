"""Annotations of GitHub Actions: one workflow command for each problem."""

from __future__ import annotations

from breakfinder.report.render.problem import Problem, Problems, path_text
from breakfinder.report.render.visible import visible

_LEVELS = {"error": "error", "warning": "warning", "info": "notice"}


def render_github(found: Problems) -> str:
    """Lines that a workflow's log turns into annotations of the files; empty if there is nothing to say."""
    lines = [_command(problem) for problem in found.shown]
    for command, failure in found.failures:
        what = f"{command}: " if found.parts else ""
        title = _property(f"breakfinder: {what}{failure.stage}")
        lines.append(f"::error title={title}::{_data(failure.message)}")
    return "".join(line + "\n" for line in lines)


def _command(problem: Problem) -> str:
    place = {"file": path_text(problem.file), "line": problem.line, "endLine": problem.end_line}
    if problem.cell is not None:  # its lines are not those of the file
        place = {"file": path_text(problem.file)}
    elif problem.line == problem.end_line:  # columns of several lines are refused
        place |= {"col": problem.column, "endColumn": problem.end_column}
    place["title"] = f"{problem.rule}: {problem.title}"
    properties = ",".join(f"{name}={_property(str(value))}" for name, value in place.items())
    return f"::{_LEVELS[problem.severity]} {properties}::{_data(_message(problem))}"


def _message(problem: Problem) -> str:
    where = path_text(problem.file)
    if problem.cell is not None:
        where += f": cell {problem.cell}"
    parts = [f"{where}:{problem.line}:{problem.column}: {problem.rule} {problem.title}"]
    if problem.expression:
        parts.append(problem.expression)
    if problem.targets:
        parts.append(f"in {', '.join(problem.targets)}")
    if problem.remedy:
        parts.append(problem.remedy.split("\n\n")[0])
    return "\n".join(parts)


def _data(text: str) -> str:
    """A command's text: the runner reads it up to the end of the line, and undoes these three."""
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
