"""Trace → Report: locate and diagnose everything that was seen, and count it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

from breakfinder import rules, source
from breakfinder.report.model import (
    CrossCheck,
    DefaultVerdict,
    ExplainVerdict,
    Finding,
    Frame,
    FullgraphVerdict,
    Kind,
    Location,
    Scenario,
    Segment,
    TorchSays,
)
from breakfinder.trace import BreakEvent, FrameRecord, Recompilation, ScenarioTrace, StackEntry, TraceError

_SEVERITY_ORDER = {"error": 0, "warning": 1, "info": 2}
_KIND_ORDER = {"error": 0, "skipped_frame": 1, "graph_break": 2, "recompile_limit": 3, "recompilation": 4}
_REFERENCE = "https://meta-pytorch.github.io/compile-graph-break-site/gb/{}.html"
EXPECTED_RECOMPILATIONS = 1
"""A frame that is compiled a second time, when a size or a first-use state changes, has not gone wrong:
Dynamo then makes the size dynamic.  Only more than that is a finding; all are counted."""


class Assembler:
    """Gathers the findings of several scenarios: what is met in more than one is one finding."""

    def __init__(self, root: Path | None = None) -> None:
        self._root = root or Path.cwd()
        self._findings: dict[str, Finding] = {}

    def findings(self) -> list[Finding]:
        """All findings, worst first, numbered."""
        ordered = sorted(self._findings.values(), key=_worst_first)
        return [finding.model_copy(update={"id": f"F{n}"}) for n, finding in enumerate(ordered, 1)]

    def add_scenario(self, trace: ScenarioTrace) -> Scenario:
        """Take one scenario's findings, and give its part of the report."""
        sites = self._add_breaks(trace)
        self._add_silent_skips(trace)
        self._add_recompilations(trace)
        for error in trace.errors:
            self._add_error(trace, error)
        return _scenario(trace, sites, self._root)

    def _add_breaks(self, trace: ScenarioTrace) -> int:
        groups: dict[tuple[str, StackEntry | None], list[BreakEvent]] = defaultdict(list)
        for event in trace.breaks:
            groups[event.gb_type, event.stack[-1] if event.stack else None].append(event)
        skipped = {frame.compile_id for frame in trace.frames if frame.outcome in ("skipped", "failed")}
        explained = {(place.file, place.line) for place in (trace.explain or {}).get("places", [])}
        fingerprints = set()
        for events in groups.values():
            event = events[0]
            location = source.locate(event.stack, root=self._root)
            diagnosis = rules.diagnose(event, location)
            finding = Finding(
                id="",
                fingerprint=_fingerprint("graph_break", location, event.gb_type),
                kind="graph_break",
                scenario=trace.name,
                scenarios=[trace.name],
                rule=diagnosis.rule.code,
                title=diagnosis.title,
                severity=diagnosis.severity,
                why=diagnosis.why,
                remedy=diagnosis.remedy,
                torch=_torch_says(event),
                events=sum(one.call == event.call for one in events),
                skips_frame=any(one.skips_frame or one.compile_id in skipped for one in events),
                in_loop=any(one.in_loop for one in events),
                location=location,
                stack=source.describe_stack(event.stack, root=self._root),
                missed_by_explain=not any(
                    (entry.file, entry.line) in explained for entry in event.stack[-1:]
                ),
                fullgraph_clears=bool(trace.fullgraph_ok),
            )
            fingerprints.add(finding.fingerprint)
            self._keep(finding)
        return len(fingerprints)

    def _add_silent_skips(self, trace: ScenarioTrace) -> None:
        for frame in trace.frames:
            if not (frame.outcome == "skipped" and frame.silent):
                continue
            location = source.locate_function(frame.file, frame.first_line, frame.name, root=self._root)
            diagnosis = rules.diagnose_skip(frame, location)
            self._keep(
                Finding(
                    id="",
                    fingerprint=_fingerprint("skipped_frame", location, frame.fail_type),
                    kind="skipped_frame",
                    scenario=trace.name,
                    scenarios=[trace.name],
                    rule=diagnosis.rule.code,
                    title=diagnosis.title,
                    severity=diagnosis.severity,
                    why=diagnosis.why,
                    remedy=diagnosis.remedy,
                    torch=TorchSays(explanation=frame.fail_reason),
                    skips_frame=True,
                    location=location,
                    stack=source.describe_stack(frame.callers, root=self._root),
                    missed_by_explain=True,
                )
            )

    def _add_recompilations(self, trace: ScenarioTrace) -> None:
        groups: dict[tuple[str, int, str], list[Recompilation]] = defaultdict(list)
        for recompilation in trace.recompilations:
            groups[recompilation.file, recompilation.first_line, recompilation.name].append(recompilation)
        limited = {(f.file, f.first_line, f.name) for f in trace.frames if f.limit_hit}
        for frame, recompilations in groups.items():
            if len(recompilations) <= EXPECTED_RECOMPILATIONS and frame not in limited:
                continue
            self._keep(self._recompilation_finding(trace, recompilations, frame in limited))

    def _recompilation_finding(
        self, trace: ScenarioTrace, group: list[Recompilation], limited: bool
    ) -> Finding:
        """One finding for a frame, at the place whose guards failed most often."""
        stacks = Counter(one.stack for one in group if one.stack)
        typical = group[-1]
        if stacks:
            stack = stacks.most_common(1)[0][0]
            typical = next(one for one in reversed(group) if one.stack == stack)
            location = source.locate(stack, root=self._root)
        else:
            stack = ()
            location = source.locate_function(typical.file, typical.first_line, typical.name, root=self._root)
        diagnosis = rules.diagnose_recompilation(typical, location)
        kind: Kind = "recompile_limit" if limited else "recompilation"
        reasons = list(dict.fromkeys(reason for one in group for reason in one.reasons[:1]))
        return Finding(
            id="",
            fingerprint=_fingerprint(kind, location, diagnosis.rule.code),
            kind=kind,
            scenario=trace.name,
            scenarios=[trace.name],
            rule=diagnosis.rule.code,
            title=diagnosis.title,
            severity="error" if limited else diagnosis.severity,
            why=diagnosis.why,
            remedy=diagnosis.remedy,
            events=len(group),
            reasons=reasons,
            location=location,
            stack=source.describe_stack(stack, root=self._root),
            missed_by_explain=True,
        )

    def _add_error(self, trace: ScenarioTrace, error: TraceError) -> None:
        location = source.locate(error.stack, root=self._root)
        event = BreakEvent("", error.gb_type, error.gb_id, error.message, (), "", error.message, error.stack)
        diagnosis = rules.diagnose_error(error, location)
        self._keep(
            Finding(
                id="",
                fingerprint=_fingerprint("error", location, error.type),
                kind="error",
                scenario=trace.name,
                scenarios=[trace.name],
                rule=diagnosis.rule.code,
                title=diagnosis.title,
                severity="error",
                why=diagnosis.why,
                remedy=diagnosis.remedy,
                torch=_torch_says(event),
                location=location,
                stack=source.describe_stack(error.stack, root=self._root),
                missed_by_explain=False,
            )
        )

    def _keep(self, finding: Finding) -> None:
        """Add a finding, or count it to the one that is known at this place."""
        known = self._findings.get(finding.fingerprint)
        if known is None:
            self._findings[finding.fingerprint] = finding
            return
        same_scenario = finding.scenario in known.scenarios
        self._findings[finding.fingerprint] = known.model_copy(
            update={
                "scenarios": known.scenarios + ([] if same_scenario else [finding.scenario]),
                "events": known.events + (finding.events if same_scenario else 0),
                "skips_frame": known.skips_frame or finding.skips_frame,
                "in_loop": known.in_loop or finding.in_loop,
                "missed_by_explain": known.missed_by_explain and finding.missed_by_explain,
                "fullgraph_clears": known.fullgraph_clears and finding.fullgraph_clears,
                "reasons": list(dict.fromkeys(known.reasons + finding.reasons)),
            }
        )


def _worst_first(finding: Finding) -> tuple[object, ...]:
    return (
        _SEVERITY_ORDER[finding.severity],
        not finding.skips_frame,
        finding.location.owner != "user",
        _KIND_ORDER[finding.kind],
        -finding.events,
        finding.location.file,
        finding.location.line,
        finding.location.column,
        finding.fingerprint,
    )


def _fingerprint(kind: str, location: Location, what: str) -> str:
    return blake2b("\0".join((kind, location.fingerprint, what)).encode(), digest_size=8).hexdigest()


def _torch_says(event: BreakEvent) -> TorchSays:
    return TorchSays(
        gb_id=event.gb_id,
        gb_type=event.gb_type,
        explanation=event.explanation,
        hints=list(event.hints),
        context=event.context,
        reference=_REFERENCE.format(event.gb_id.lower()) if event.gb_id else "",
    )


def _scenario(trace: ScenarioTrace, sites: int, root: Path) -> Scenario:
    first = [frame for frame in trace.frames if frame.call == 0]
    explain = trace.explain or {}
    error = trace.fullgraph_error
    return Scenario(
        name=trace.name,
        calls=trace.calls,
        inputs=trace.inputs,
        default=DefaultVerdict(
            graphs=sum(frame.graphs for frame in first),
            sites=sites,
            events=sum(event.call == 0 for event in trace.breaks),
            skipped_frames=sum(frame.outcome in ("skipped", "failed") for frame in first),
            recompilations=len(trace.recompilations),
            captured_ops=sum(segment.ops for segment in trace.segments if segment.kind == "graph"),
            eager_ops=sum(segment.ops for segment in trace.segments if segment.kind == "eager"),
        ),
        fullgraph=FullgraphVerdict(
            ok=trace.fullgraph_ok, error=f"{error.type}: {error.message}" if error is not None else ""
        ),
        explain=ExplainVerdict(
            graph_count=explain.get("graph_count"),
            graph_break_count=explain.get("graph_break_count"),
            error=explain.get("error", ""),
        ),
        cross_check=_cross_check(trace),
        trace_seconds=round(trace.trace_seconds, 3),
        frames=[_frame(frame, root) for frame in trace.frames],
        segments=[
            Segment(kind=segment.kind, ops=segment.ops, compile_id=segment.compile_id, call=segment.call)
            for segment in trace.segments
        ],
        finished=trace.finished,
    )


def _cross_check(trace: ScenarioTrace) -> CrossCheck:
    """The trial compile must succeed exactly when nothing breaks with the same capture switched on."""
    if trace.fullgraph_ok is None or not trace.finished:
        return CrossCheck()
    breaks = trace.cross_check_breaks if trace.cross_check_breaks is not None else 0
    agrees = (breaks == 0) == trace.fullgraph_ok
    message = (
        ""
        if agrees
        else "breakfinder's own fault: the fullgraph=True trial compile and the trace with the same capture "
        "disagree, so one of the two verdicts above is wrong; please report it with this model"
    )
    return CrossCheck(agrees=agrees, breaks_with_capture=breaks, message=message)


def _frame(record: FrameRecord, root: Path) -> Frame:
    resumed = source.resumed_function(record.name)
    return Frame(
        compile_id=record.compile_id,
        function=record.name,
        file=source.shown_path(record.file, root),
        line=record.first_line,
        resume_of=resumed[0] if resumed else "",
        resume_line=resumed[1] if resumed else None,
        outcome=record.outcome,
        ops=record.ops,
        op_counts=dict(Counter(record.op_names).most_common()),
        seconds=round(record.seconds, 4),
        reason=_first_line(record.fail_reason),
    )


def _first_line(text: str) -> str:
    return text.strip().split("\n")[0]


def problems(findings: Sequence[Finding]) -> int:
    """How many findings are more than information: what makes a check fail."""
    return sum(finding.severity != "info" for finding in findings)
