"""JUnit XML, as Jenkins, GitLab and others read it: a suite for each file, a failed case for each problem."""

from __future__ import annotations

import re
from itertools import groupby
from xml.etree import ElementTree as Xml

from breakfinder.report.render.problem import Problem, Problems, path_text
from breakfinder.report.render.visible import one_line, visible

_NO_XML = re.compile("[\ufffe\uffff]")


def render_junit(found: Problems) -> str:
    """The document; where nothing was found it holds one case that passed."""
    problems = sorted(found.shown, key=lambda problem: problem.file)
    broken = int(found.failure is not None)
    root = Xml.Element(
        "testsuites", name="breakfinder", tests=str(len(problems) + broken or 1),
        failures=str(len(problems)), errors=str(broken),
    )  # fmt: skip
    for file, group in groupby(problems, key=lambda problem: problem.file):
        _suite(root, path_text(file), [_failed(problem) for problem in group], failures=True)
    if found.failure:
        case = Xml.Element(
            "testcase", name=_attribute(found.failure.stage), classname=_attribute(found.command)
        )
        error = Xml.SubElement(case, "error", message=_attribute(found.failure.message), type="error")
        error.text = _text(found.failure.detail)
        _suite(root, found.command, [case], errors=True)
    if not len(root):
        passed = Xml.Element("testcase", name="no problems", classname=_attribute(found.command))
        _suite(root, found.command, [passed])
    Xml.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _suite(
    root: Xml.Element, name: str, cases: list[Xml.Element], *, failures: bool = False, errors: bool = False
) -> None:
    suite = Xml.SubElement(
        root, "testsuite", name=_attribute(name), tests=str(len(cases)),
        failures=str(len(cases) if failures else 0), errors=str(len(cases) if errors else 0), skipped="0",
    )  # fmt: skip
    suite.extend(cases)


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
