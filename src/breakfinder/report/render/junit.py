"""JUnit XML, as Jenkins, GitLab and others read it: a failed case for each problem.

There is a suite for each file; of several targets, a suite for each target.
"""

from __future__ import annotations

import re
from itertools import groupby
from xml.etree import ElementTree as Xml

from breakfinder.report.model import Failure
from breakfinder.report.render.problem import Problem, Problems, path_text
from breakfinder.report.render.visible import one_line, visible

_NO_XML = re.compile("[\ufffe\uffff]")


def render_junit(found: Problems) -> str:
    """The document; where nothing was found it holds one case that passed."""
    root = Xml.Element("testsuites", name="breakfinder")
    for part in found.parts:
        _target(root, part)
    if not found.parts:
        _files(root, found)
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    Xml.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _target(root: Xml.Element, found: Problems) -> None:
    """One suite of all that a target has."""
    cases = [_failed(problem) for problem in found.shown]
    failures = len(cases)
    if found.failure:
        cases.append(_broken(found.command, found.failure))
    suite = _suite(root, found.command, cases or [_passed(found)], failures=failures)
    suite.set("errors", str(len(cases) - failures))


def _files(root: Xml.Element, found: Problems) -> None:
    problems = sorted(found.shown, key=lambda problem: problem.file)
    for file, group in groupby(problems, key=lambda problem: problem.file):
        cases = [_failed(problem) for problem in group]
        _suite(root, path_text(file), cases, failures=len(cases))
    if found.failure:
        _suite(root, found.command, [_broken(found.command, found.failure)], errors=1)
    if not len(root):
        _suite(root, found.command, [_passed(found)])


def _broken(command: str, failure: Failure) -> Xml.Element:
    case = Xml.Element("testcase", name=_attribute(failure.stage), classname=_attribute(command))
    error = Xml.SubElement(case, "error", message=_attribute(failure.message), type="error")
    error.text = _text(failure.detail)
    return case


def _passed(found: Problems) -> Xml.Element:
    return Xml.Element("testcase", name="no problems", classname=_attribute(found.command))


def _suite(
    root: Xml.Element, name: str, cases: list[Xml.Element], *, failures: int = 0, errors: int = 0
) -> Xml.Element:
    suite = Xml.SubElement(
        root, "testsuite", name=_attribute(name), tests=str(len(cases)),
        failures=str(failures), errors=str(errors), skipped="0",
    )  # fmt: skip
    suite.extend(cases)
    return suite


def _failed(problem: Problem) -> Xml.Element:
    file = path_text(problem.file)
    cell = f"cell {problem.cell}, " if problem.cell is not None else ""
    case = Xml.Element(
        "testcase",
        name=_attribute(f"{problem.rule} at {cell}line {problem.line}, column {problem.column}"),
        classname=_attribute(file),
        file=_attribute(file),
        line=str(problem.line),
    )
    failure = Xml.SubElement(case, "failure", message=_attribute(problem.title), type=problem.rule)
    parts = [f"{file}:{problem.line}:{problem.column}", problem.expression, problem.why, problem.remedy]
    failure.text = _text("\n\n".join(part for part in parts if part))
    return case


def _attribute(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", one_line(text))


def _text(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", visible(text))
