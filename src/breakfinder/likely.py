"""What the source patterns of the rules see in frames that no trace looks into."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from breakfinder import rules, source
from breakfinder.lint.analyse import UNREADABLE, analyse
from breakfinder.lint.finding import LintFinding
from breakfinder.report.model import Finding
from breakfinder.source.text import SourceText, read
from breakfinder.trace import ScenarioTrace, StackEntry


def likely(traces: Sequence[ScenarioTrace], findings: Sequence[Finding], root: Path) -> list[Finding]:
    """Problems in skipped frames that are likely and not among ``findings``, by place."""
    known = {(finding.location.file, finding.location.line) for finding in findings}
    found: dict[str, Finding] = {}
    for trace in traces:
        for file, functions in _skipped(trace, root).items():
            text = read(file)
            for item in analyse(file, text, functions, rules.all_rules()) if text is not None else ():
                if item.rule == UNREADABLE or item.confidence == "low":
                    continue
                finding = _finding(item, text, trace.name, root)
                if (finding.location.file, finding.location.line) not in known:
                    found.setdefault(finding.fingerprint, finding)
    ordered = sorted(found.values(), key=lambda item: (item.location.file, item.location.line))
    return [finding.model_copy(update={"id": f"L{number}"}) for number, finding in enumerate(ordered, 1)]


def _skipped(trace: ScenarioTrace, root: Path) -> dict[str, set[str]]:
    """The qualified names of functions whose frames were skipped, by file."""
    functions: dict[str, set[str]] = defaultdict(set)
    for frame in trace.frames:
        if frame.outcome == "skipped" and not frame.limit_hit and source.resumed_function(frame.name) is None:
            place = source.locate_function(frame.file, frame.first_line, frame.name, root=root)
            functions[frame.file].add(place.qualname)
    return functions


def _finding(item: LintFinding, text: SourceText | None, scenario: str, root: Path) -> Finding:
    assert text is not None
    entry = StackEntry(
        item.file,
        item.line,
        item.qualname.rpartition(".")[2],
        len(text.line(item.line)[: item.column - 1].encode()),
        item.end_line,
        len(text.line(item.end_line)[: item.end_column - 1].encode()),
    )
    location = source.locate([entry], root=root)
    diagnosis = rules.diagnose_pattern(rules.by_code(item.rule), location)
    return Finding(
        id="",
        fingerprint=location.fingerprint,
        kind="graph_break",
        scenario=scenario,
        scenarios=[scenario],
        rule=item.rule,
        title=diagnosis.title,
        severity=diagnosis.severity,
        why=diagnosis.why,
        remedy=diagnosis.remedy,
        events=0,
        location=location,
    )
