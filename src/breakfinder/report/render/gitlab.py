"""GitLab's code quality report, the subset of Code Climate's format that it reads."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

from breakfinder.report.render.problem import Problem, Problems, path_text
from breakfinder.report.render.visible import one_line

_SEVERITIES = {"error": "critical", "warning": "major", "info": "info"}


def render_gitlab(found: Problems) -> str:
    """A JSON list; each problem keeps its fingerprint as long as its code does."""
    seen: dict[str, int] = {}
    issues = []
    for problem in found.shown:
        number = seen[problem.fingerprint] = seen.get(problem.fingerprint, -1) + 1
        issues.append(_issue(problem, number))
    for command, failure in found.failures:
        message = f"{failure.stage}: {failure.message}"
        issues.append(
            {
                "description": one_line(message),
                "check_name": "breakfinder",
                "fingerprint": blake2b(command.encode(errors="replace"), digest_size=16).hexdigest(),
                "severity": "blocker",
                "location": {"path": path_text(command), "lines": {"begin": 1}},
            }
        )
    return json.dumps(issues, indent=2) + "\n"


def _issue(problem: Problem, number: int) -> dict[str, Any]:
    expression = f": {problem.expression}" if problem.expression else ""
    lines = {"begin": problem.line, "end": problem.end_line}
    return {
        "description": one_line(f"{problem.rule} {problem.title}{expression}"),
        "check_name": problem.rule,
        "fingerprint": problem.fingerprint + (f"-{number}" if number else ""),  # one that is twice is dropped
        "severity": _SEVERITIES[problem.severity],
        "location": {
            "path": path_text(problem.file.removeprefix("./")),
            "lines": lines if problem.cell is None else {"begin": 1},
        },
    }
