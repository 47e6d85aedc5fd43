"""What `check` and `lint` have in common for the formats that other programs read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from breakfinder.report.collection import Collection, name_of, shared
from breakfinder.report.model import Failure, Finding, Fix, Report, Severity
from breakfinder.report.render.visible import one_line, visible
from breakfinder.report.render.wording import KIND_NAMES


@dataclass(frozen=True)
class Problem:
    """One problem at one place. Lines and columns are 1-based, columns in characters, their ends exclusive."""

    rule: str
    title: str
    """One line, code in backticks."""
    severity: Severity
    file: str
    """Relative to the working directory, or absolute; with slashes."""
    line: int
    column: int
    end_line: int
    end_column: int
    fingerprint: str
    qualname: str = ""
    expression: str = ""
    why: str = ""
    remedy: str = ""
    kind: str = ""
    """In words: ``graph break``, ``recompilation``, ..."""
    confidence: str = ""
    """How sure `lint` is; empty for what was traced."""
    fixable: bool = False
    fixes: Sequence[Fix] = ()
    cell: int | None = None
    """The cell of a notebook that the lines are in."""
    suppressed: bool = False
    """By a comment in the source; ``justification`` is the reason that it gives."""
    justification: str = ""
    targets: Sequence[str] = ()
    """Names of the targets that have it, where there are several."""


@dataclass(frozen=True)
class RuleText:
    """What a rule says of no finding in particular."""

    code: str
    name: str
    title: str
    severity: Severity
    why: str
    remedy: str


@dataclass(frozen=True)
class Problems:
    """All problems that one command found, and what a reader must know of the run."""

    command: str
    """``check llama``, ``lint``."""
    version: str
    problems: Sequence[Problem] = ()
    rules: Mapping[str, RuleText] = field(default_factory=dict)
    """Those of the problems, by code."""
    failure: Failure | None = None
    notes: Sequence[str] = ()
    headline: str = ""
    """The result in one sentence, without a full stop."""
    parts: Sequence[Problems] = ()
    """Those of each target, where there are several; ``problems`` then holds each problem once."""

    @property
    def failures(self) -> list[tuple[str, Failure]]:
        """What could not be run, each with its command."""
        own = [(self.command, self.failure)] if self.failure else []
        return own + [failure for part in self.parts for failure in part.failures]

    @property
    def shown(self) -> list[Problem]:
        """Those that no comment takes away."""
        return [problem for problem in self.problems if not problem.suppressed]


def of_document(document: Report | Collection) -> Problems:
    """The findings of a check, of one target or of several."""
    return of_report(document) if isinstance(document, Report) else of_collection(document)


def of_collection(collection: Collection) -> Problems:
    """The findings of several targets: each once, with the targets that have it."""
    from breakfinder.report.render.wording import collection_headline

    several = len(collection.reports) > 1
    notes = [
        f"{name_of(report)}: {note}"
        for report in collection.reports
        for note in [*report.notes, *report.subject.notes]
    ]
    return Problems(
        command="check",
        version=collection.tool.version,
        problems=[
            _of_finding(one.finding, [name_of(report) for report in one.reports] if several else [])
            for one in shared(collection.reports)
        ],
        rules=rule_texts({item.rule for report in collection.reports for item in report.findings}),
        notes=[*collection.notes, *notes],
        headline=collection_headline(collection),
        parts=[of_report(report) for report in collection.reports],
    )


def of_report(report: Report) -> Problems:
    """The findings of a check."""
    from breakfinder.report.render.wording import headline

    return Problems(
        command=f"check {name_of(report)}",
        version=report.tool.version,
        problems=[_of_finding(finding) for finding in report.findings],
        rules=rule_texts({finding.rule for finding in report.findings}),
        failure=report.failure,
        notes=[*report.notes, *report.subject.notes],
        headline=headline(report),
    )


def _of_finding(finding: Finding, targets: Sequence[str] = ()) -> Problem:
    place = finding.location
    return Problem(
        rule=one_line(finding.rule),
        title=finding.title,
        severity=finding.severity,
        file=place.file,
        line=place.line,
        column=place.column,
        end_line=place.end_line,
        end_column=place.end_column,
        fingerprint=one_line(finding.fingerprint),
        qualname=place.qualname,
        expression=place.expression or place.statement,
        why=finding.why or finding.torch.explanation,
        remedy=finding.remedy,
        kind=KIND_NAMES[finding.kind],
        fixes=finding.fixes,
        targets=targets,
    )


def rule_texts(codes: set[str]) -> dict[str, RuleText]:
    """What the rules of these codes say, as far as there are such rules."""
    from breakfinder.rules.docs import plain
    from breakfinder.rules.registry import all_rules

    return {
        rule.code: RuleText(
            rule.code, rule.name, plain(rule.title), rule.severity, plain(rule.why), plain(rule.remedy)
        )
        for rule in all_rules()
        if rule.code in codes
    }


def path_text(file: str) -> str:
    """A path on one line, with nothing in it that acts on a screen."""
    return visible(file).replace("\n", "<U+000A>").replace("\t", "<U+0009>")


def first_paragraph(text: str) -> str:
    return text.strip().split("\n\n")[0]
