"""The outcome of `lint` in the form that the formats are made from, and the two formats of its own."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from breakfinder import __version__
from breakfinder.lint.finding import LintFinding
from breakfinder.lint.own import OWN_RULES
from breakfinder.lint.session import Outcome
from breakfinder.lint.suppressions import Suppression
from breakfinder.report.render.problem import Problem, Problems, RuleText, rule_texts
from breakfinder.report.render.wording import count
from breakfinder.source.identity import digest

SCHEMA_VERSION = "1.0"
_UNKNOWN = RuleText("", "", "", "warning", "", "")


def of_outcome(outcome: Outcome) -> Problems:
    """All findings, those that comments take away marked as such."""
    everything: list[tuple[LintFinding, Suppression | None]] = [(one, None) for one in outcome.findings]
    everything += outcome.suppressed
    everything.sort(key=lambda pair: pair[0])
    texts = rule_texts({finding.rule for finding, _ in everything})
    texts.update(OWN_RULES)
    seen: Counter[str] = Counter()
    problems = []
    for finding, suppression in everything:
        same = digest(finding.rule, finding.file, finding.qualname, " ".join(finding.expression.split()))
        problems.append(
            _problem(finding, suppression, texts.get(finding.rule, _UNKNOWN), f"{same}-{seen[same]}")
        )
        seen[same] += 1
    used = {problem.rule for problem in problems}
    return Problems(
        command="lint",
        version=__version__,
        problems=problems,
        rules={code: text for code, text in texts.items() if code in used},
        headline=headline(outcome),
    )


def headline(outcome: Outcome) -> str:
    """What was found, in a sentence without a full stop."""
    if not outcome.findings:
        return f"No problem found in {count(outcome.files, 'file')}"
    files = len({finding.file for finding in outcome.findings})
    return f"Found {count(len(outcome.findings), 'problem')} in {count(files, 'file')}"


def _problem(
    finding: LintFinding, suppression: Suppression | None, text: RuleText, fingerprint: str
) -> Problem:
    return Problem(
        rule=finding.rule,
        title=finding.title,
        severity=text.severity,
        file=finding.file,
        line=finding.line,
        column=finding.column,
        end_line=finding.end_line,
        end_column=finding.end_column,
        fingerprint=fingerprint,
        qualname=finding.qualname,
        expression=finding.expression,
        why=text.why,
        remedy=text.remedy,
        kind="" if finding.rule in OWN_RULES else "likely graph break",
        confidence=finding.confidence,
        fixable=bool(finding.fixable),
        cell=finding.cell,
        suppressed=suppression is not None,
        justification=suppression.reason if suppression else "",
    )


def render_json(outcome: Outcome) -> str:
    """The findings that are shown, as they are, with the severity of their rules and their fingerprints."""
    findings: list[dict[str, Any]] = [
        {**finding.as_dict(), "severity": problem.severity, "fingerprint": problem.fingerprint}
        for finding, problem in zip(outcome.findings, of_outcome(outcome).shown, strict=True)
    ]
    document = {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "breakfinder", "version": __version__},
        "files": outcome.files,
        "suppressed": len(outcome.suppressed),
        "findings": findings,
    }
    return json.dumps(document, indent=2) + "\n"
