"""SARIF 2.1.0, for code scanning and editors."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote

from breakfinder.report.model import Fix
from breakfinder.report.render.problem import Problem, Problems, RuleText, first_paragraph
from breakfinder.report.render.visible import one_line, visible

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")


def render_sarif(found: Problems) -> str:
    """One run; columns count Unicode code points, paths are relative to the working directory."""
    codes = sorted({problem.rule for problem in found.problems})
    index = {code: number for number, code in enumerate(codes)}
    run = {
        "tool": {
            "driver": {
                "name": "breakfinder",
                "version": found.version,
                "rules": [_rule(code, found.rules.get(code)) for code in codes],
            }
        },
        "invocations": [_invocation(found)],
        "originalUriBaseIds": {ROOT: {"description": {"text": "The working directory."}}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(problem, index[problem.rule]) for problem in found.problems],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _invocation(found: Problems) -> dict[str, Any]:
    invocation: dict[str, Any] = {"executionSuccessful": not found.failures}
    notes = [{"level": "note", "message": _message(note)} for note in found.notes]
    errors = []
    for command, failure in found.failures:
        what = f"{command}: " if found.parts else ""
        text = f"{what}{failure.stage}: {failure.message}"
        errors.append({"level": "error", "message": _message(text)})
    notes = errors + notes
    if notes:
        invocation["toolExecutionNotifications"] = notes
    return invocation


def _rule(code: str, text: RuleText | None) -> dict[str, Any]:
    if text is None:
        return {"id": code}
    return {
        "id": code,
        "name": "".join(word.capitalize() for word in text.name.split("-")),
        "shortDescription": {"text": text.title},
        "fullDescription": {"text": first_paragraph(text.why)},
        "help": {
            "text": f"{text.why}\n\n{text.remedy}",
            "markdown": f"## Why\n\n{text.why}\n\n## What to do\n\n{text.remedy}",
        },
        "defaultConfiguration": {"level": _LEVELS[text.severity]},
        "properties": {"tags": ["torch.compile", text.name]},
    }


def _result(problem: Problem, rule_index: int) -> dict[str, Any]:
    properties = {
        name: value
        for name, value in (
            ("kind", problem.kind), ("confidence", problem.confidence), ("cell", problem.cell),
            ("targets", [one_line(name) for name in problem.targets]),
        )
        if value
    }  # fmt: skip
    result: dict[str, Any] = {
        "ruleId": problem.rule,
        "ruleIndex": rule_index,
        "level": _LEVELS[problem.severity],
        "message": _message(problem.title + (f": {problem.expression}" if problem.expression else "")),
        "locations": [_location(problem)],
        "partialFingerprints": {"breakfinder/v1": problem.fingerprint},
        "suppressions": _suppressions(problem),
    }
    fixes = [fix for fix in (_fix(problem, fix) for fix in problem.fixes) if fix]
    if fixes:
        result["fixes"] = fixes
    if properties:
        result["properties"] = properties
    return result


def _suppressions(problem: Problem) -> list[dict[str, str]]:
    if not problem.suppressed:
        return []
    reason = {"justification": one_line(problem.justification)} if problem.justification else {}
    return [{"kind": "inSource", **reason}]


def _location(problem: Problem) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": _artifact(problem.file)}
    if problem.cell is None:  # in a notebook the lines are not those of the file
        physical["region"] = {
            "startLine": problem.line,
            "startColumn": problem.column,
            "endLine": problem.end_line,
            "endColumn": max(problem.end_column, problem.column if problem.line == problem.end_line else 1),
        }
        if problem.expression:
            physical["region"]["snippet"] = {"text": visible(problem.expression)}
    location: dict[str, Any] = {"physicalLocation": physical}
    if problem.qualname:
        location["logicalLocations"] = [
            {"fullyQualifiedName": one_line(problem.qualname), "kind": "function"}
        ]
    return location


def _artifact(file: str) -> dict[str, str]:
    uri = quote(file.encode("utf-8", "surrogateescape"))
    return {"uri": f"file://{uri}"} if file.startswith("/") else {"uri": uri, "uriBaseId": ROOT}


def _message(text: str) -> dict[str, str]:
    """Plain text in which ``[words](target)`` would be a link."""
    plain = one_line(text)
    if "](" in plain:
        plain = re.sub(r"([\\\[\]])", r"\\\1", plain)
    return {"text": plain}


def _fix(problem: Problem, fix: Fix) -> dict[str, Any] | None:
    replacements = [
        {
            "deletedRegion": {
                "startLine": first, "startColumn": 1, "endLine": first + count, "endColumn": 1,
            },
            "insertedContent": {"text": text},
        }
        for first, count, text in _changes(fix.diff)
    ]  # fmt: skip
    if not replacements or fix.verdict not in ("proved", "conditional"):  # editors apply them at a click
        return None
    change = {"artifactLocation": _artifact(problem.file), "replacements": replacements}
    return {"description": _message(f"{fix.title} ({fix.verdict})"), "artifactChanges": [change]}


def _changes(diff: str) -> list[tuple[int, int, str]]:
    """First line, number of lines taken away, and text put in their place, for each change of a unified diff."""
    changes: list[tuple[int, int, str]] = []
    line = first = count = 0
    added: list[str] = []

    def close() -> None:
        nonlocal count
        if count or added:
            changes.append((first, count, "".join(text + "\n" for text in added)))
        count = 0
        added.clear()

    in_hunk = False
    for row in diff.split("\n"):
        if hunk := _HUNK.match(row):
            close()
            in_hunk = True
            line = int(hunk[1]) + (hunk[2] == "0")
        elif not in_hunk or row.startswith("\\"):
            continue
        elif row.startswith(("-", "+")):
            if not count and not added:
                first = line
            if row.startswith("-"):
                count += 1
                line += 1
            else:
                added.append(row[1:])
        else:
            close()
            line += 1
    close()
    return changes
