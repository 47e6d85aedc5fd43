"""Reports of several targets as one document."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pydantic import Field

from breakfinder.report.model import SCHEMA_VERSION, Document, Finding, Report, Status, Tool


class Totals(Document):
    """Sums over all reports; ``places`` counts what several targets share once."""

    targets: int = 0
    ok: int = 0
    findings: int = 0
    """Targets with findings."""
    failed: int = 0
    places: int = 0
    captured_ops: int = 0
    eager_ops: int = 0


class Collection(Document):
    """What several targets gave, in the order in which they were checked."""

    schema_version: str = SCHEMA_VERSION
    tool: Tool
    created: str = ""
    """When it was made, ISO 8601, UTC."""
    command: list[str] = Field(default_factory=list)
    reports: list[Report] = Field(default_factory=list)
    """One for each target; ``target.name`` is the name that the configuration gives it."""
    totals: Totals = Field(default_factory=Totals)
    status: Status = "ok"
    """The worst of them."""
    notes: list[str] = Field(default_factory=list)

    def _repr_html_(self) -> str:
        """The page, in a frame of its own, for notebooks."""
        from breakfinder.report.render.html import in_frame

        return in_frame(self)


@dataclass
class Shared:
    """One problem at one place, and the reports that have it."""

    finding: Finding
    reports: list[Report] = field(default_factory=list)


def collect(
    reports: Iterable[Report], tool: Tool, created: str, command: list[str], notes: list[str]
) -> Collection:
    """The document of these reports."""
    reports = list(reports)
    statuses: list[Status] = [report.status for report in reports]
    worst: Status = "failed" if "failed" in statuses else "findings" if "findings" in statuses else "ok"
    verdicts = [scenario.default for report in reports for scenario in report.scenarios]
    totals = Totals(
        targets=len(reports),
        ok=statuses.count("ok"),
        findings=statuses.count("findings"),
        failed=statuses.count("failed"),
        places=len(shared(reports)),
        captured_ops=sum(verdict.captured_ops for verdict in verdicts),
        eager_ops=sum(verdict.eager_ops for verdict in verdicts),
    )
    return Collection(
        tool=tool, created=created, command=command, reports=reports, totals=totals, status=worst, notes=notes
    )  # fmt: skip


def name_of(report: Report) -> str:
    """What a report's target is called among others."""
    return report.target.name or report.target.text


def shared(reports: Iterable[Report]) -> list[Shared]:
    """All findings, each once, worst first, and among equals those that more targets have."""
    found: dict[tuple[str, str, str, int, int], Shared] = {}
    for report in reports:
        own = {_identity(finding): finding for finding in reversed(report.findings)}
        for key, finding in reversed(own.items()):
            found.setdefault(key, Shared(finding)).reports.append(report)
    severities = {"error": 0, "warning": 1, "info": 2}
    return sorted(found.values(), key=lambda one: (severities[one.finding.severity], -len(one.reports)))


def _identity(finding: Finding) -> tuple[str, str, str, int, int]:
    place = finding.location
    return finding.rule, finding.fingerprint, place.file, place.line, place.column
