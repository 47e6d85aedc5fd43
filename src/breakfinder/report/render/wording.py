"""What every format says about a report, in the same words."""

from __future__ import annotations

from typing import Literal

from breakfinder.report.collection import Collection
from breakfinder.report.model import Check, DefaultVerdict, Finding, Fix, KnobTrial, Report, Scenario

Tone = Literal["good", "warn", "bad"]

KIND_NAMES: dict[str, str] = {
    "graph_break": "graph break",
    "skipped_frame": "skipped frame",
    "recompilation": "recompilation",
    "recompile_limit": "recompile limit",
    "error": "error",
}

WEIGHTS = {
    "none": "no weights (fake tensors)",
    "random": "random weights",
    "real": "real weights",
    "own": "its own weights",
}


def count(number: int, noun: str, plural: str = "") -> str:
    """``1 graph``, ``2 graphs``; thousands are set apart by a thin space from five digits on."""
    digits = f"{number:,}".replace(",", "\u2009") if abs(number) >= 10_000 else str(number)
    return f"{digits} {noun if number == 1 else plural or noun + 's'}"


def percent(part: int, whole: int) -> str:
    """A share that says 100 % only of the whole and 0 % only of nothing; empty if there is no whole."""
    if whole <= 0:
        return ""
    share = 100 * part / whole
    if part < whole and share > 99:
        share = min(share, 99.9)
        return f"{int(share * 10) / 10:g} %"
    if part > 0 and share < 1:
        return "under 1 %"
    return f"{share:.0f} %"


def magnitude(number: float) -> str:
    """``8.03 B`` for 8 030 261 248."""
    for size, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g} {letter}"
    return f"{number:g}"


def captured(scenarios: list[Scenario]) -> str:
    inside = sum(scenario.default.captured_ops for scenario in scenarios)
    outside = sum(scenario.default.eager_ops for scenario in scenarios)
    return percent(inside, inside + outside)


def is_broken(scenario: Scenario) -> bool:
    return bool(scenario.default.sites or scenario.default.skipped_frames)


def is_recompilation(finding: Finding) -> bool:
    return finding.kind in ("recompilation", "recompile_limit")


def tone(report: Report) -> Tone:
    if report.status == "failed" or any(not is_recompilation(finding) for finding in report.findings):
        return "bad"
    return "warn" if report.status == "findings" else "good"


def headline(report: Report) -> str:
    """Does it compile to one graph?  The answer in a sentence, without a full stop."""
    if report.status == "failed":
        stage = f": stopped at “{report.failure.stage}”" if report.failure else ""
        found = f", after {count(len(report.findings), 'finding')}" if report.findings else ""
        return f"Could not be run{stage}{found}"
    breaking = sum(not is_recompilation(finding) for finding in report.findings)
    recompiling = [
        finding for finding in report.findings if is_recompilation(finding) and finding.severity != "info"
    ]
    broken = [scenario for scenario in report.scenarios if is_broken(scenario)]
    if not breaking and not broken:
        everywhere = f" in {_all_of(len(report.scenarios))}" if len(report.scenarios) > 1 else ""
        if recompiling:
            return f"Compiles to one graph{everywhere}, but recompiles: {_places(len(recompiling))} to fix"
        return f"Compiles to one graph{everywhere}"
    parts = [f"{_places(breaking)} to fix"]
    if recompiling:
        parts.append(f"{_places(len(recompiling))} that recompile{'s' if len(recompiling) == 1 else ''}")
    if share := captured(report.scenarios):
        parts.append(f"{share} of ops captured")
    return f"{_how_broken(report.scenarios, broken)}: {', '.join(parts)}"


def collection_headline(collection: Collection) -> str:
    """The result of several targets in a sentence, without a full stop."""
    totals = collection.totals
    parts = [f"{totals.ok} of {count(totals.targets, 'target')} without findings"]
    if totals.places:
        parts.append(f"{count(totals.places, 'finding')} in all")
    if totals.failed:
        parts.append(f"{totals.failed} could not be run")
    return ", ".join(parts)


def collection_tone(collection: Collection) -> Tone:
    tones = {tone(report) for report in collection.reports}
    return "bad" if "bad" in tones else "warn" if "warn" in tones else "good"


def _places(number: int) -> str:
    return count(number, "place")


def _how_broken(scenarios: list[Scenario], broken: list[Scenario]) -> str:
    if len(scenarios) > 1 and broken:
        if len(broken) == len(scenarios):
            return f"Breaks in {_all_of(len(scenarios))}"
        return f"Breaks in {len(broken)} of {len(scenarios)} scenarios"
    return default_verdict(scenarios[0]) if scenarios else "Does not compile"


def _all_of(number: int) -> str:
    return "both scenarios" if number == 2 else f"all {number} scenarios"


def why(finding: Finding) -> str:
    """Why it breaks; of a break for which a whole frame is given up, also that."""
    if not (finding.why and finding.skips_frame and finding.kind == "graph_break"):
        return finding.why
    reason = ", as Dynamo cannot resume inside a loop" if finding.in_loop else ""
    first, *rest = finding.why.split("\n\n")
    return "\n\n".join([f"{first} Here a whole frame is left to eager for it{reason}.", *rest])


def default_verdict(scenario: Scenario) -> str:
    """What plain ``torch.compile`` does with a scenario."""
    graphs = scenario.default.graphs
    if not is_broken(scenario) and graphs <= 1:
        return "Compiles to one graph"
    if not is_broken(scenario):
        return f"Compiles without a break, {count(graphs, 'graph')}"
    if graphs == 0:
        return "Is not compiled at all"
    return f"Breaks into {graphs} graphs" if graphs > 1 else "Breaks, with one graph captured"


def fullgraph_verdict(scenario: Scenario) -> str:
    words = {True: "Compiles to one graph", False: "Raises an error", None: "Was not tried"}
    return words[scenario.fullgraph.ok]


def explain_verdict(scenario: Scenario) -> str:
    said = scenario.explain
    if said.error:
        return "Raised an error"
    if said.graph_count is None or said.graph_break_count is None:
        return "Was not run"
    return f"{count(said.graph_count, 'graph')}, {count(said.graph_break_count, 'graph break')}"


def is_missed(finding: Finding) -> bool:
    """Whether ``explain`` should have told of this and did not; it never tells of recompilations."""
    return finding.missed_by_explain and finding.kind in ("graph_break", "skipped_frame")


def missed_by_explain(report: Report, scenario: Scenario) -> list[Finding]:
    return [
        finding for finding in report.findings if is_missed(finding) and scenario.name in finding.scenarios
    ]


def why_verdicts_differ(report: Report, scenario: Scenario) -> str:
    """Why the default and ``fullgraph=True`` agree or not, and what follows from it."""
    capture = "captures scalar outputs (.item()) and shapes that depend on data (nonzero)"
    if scenario.fullgraph.ok is None:
        return ""
    if scenario.fullgraph.ok and is_broken(scenario):
        return (
            f"Compile with fullgraph=True: it clears every break of this scenario, because it also "
            f"{capture}, which the default leaves to eager."
        )
    if scenario.fullgraph.ok:
        return "Both agree."
    if not is_broken(scenario):
        return "The trial compile stops where the default goes on: see its error."
    cleared = [
        finding.id
        for finding in report.findings
        if finding.fullgraph_clears and scenario.name in finding.scenarios
    ]
    if cleared:
        return (
            f"fullgraph=True also {capture}, so it gets past "
            f"{', '.join(cleared[:8])}{' and others' if len(cleared) > 8 else ''}, "
            "where the default breaks."
        )
    return "fullgraph=True turns the first break into an error; the default runs the rest in eager."


def subject_facts(report: Report) -> list[str]:
    """How the subject was built, in short."""
    subject = report.subject
    facts = []
    if subject.parameters:
        facts.append(f"{magnitude(subject.parameters)} parameters")
    facts.append(WEIGHTS[subject.weights])
    if subject.layers_total:
        traced = subject.layers_traced
        facts.append(
            f"all {subject.layers_total} layers traced"
            if traced >= subject.layers_total
            else f"{traced} of {subject.layers_total} layers traced"
        )
    if subject.dtype:
        facts.append(subject.dtype)
    if subject.attn_implementation:
        facts.append(f"{subject.attn_implementation} attention")
    return facts


def marks(finding: Finding) -> list[str]:
    """What sets a finding apart, each in a few words."""
    facts = []
    if finding.events > 1:
        facts.append(count(finding.events, "recompilation" if is_recompilation(finding) else "event"))
    if finding.skips_frame and finding.kind != "skipped_frame":
        facts.append("the whole frame is skipped")
    if finding.in_loop:
        facts.append("in a loop")
    if is_missed(finding):
        facts.append("explain missed it")
    if finding.fullgraph_clears:
        facts.append("fullgraph=True clears it")
    return facts


FIX_VERDICTS = {
    "proved": "proved",
    "conditional": "proved under a condition",
    "failed": "did not hold",
    "advice": "advice only",
}
FIX_MARKS = {"proved": "✓", "conditional": "◐", "failed": "✗", "advice": "→"}
EQUAL = {True: "yes", False: "no", None: "not compared"}


def why_failed(fix: Fix) -> str:
    """What spoke against a fix, in short."""
    for check in fix.evidence.checks:
        if check.passed is False:
            return f"not: {check.name}{': ' + check.detail if check.detail else ''}"
    return "what it needs could not be shown"


def check_tone(check: Check) -> Tone:
    return {True: "good", False: "bad", None: "warn"}[check.passed]  # type: ignore[return-value]


def check_mark(check: Check) -> str:
    return {True: "✓", False: "✗", None: "?"}[check.passed]


def share(counts: DefaultVerdict) -> str:
    """The part of the ops that ran inside graphs."""
    return percent(counts.captured_ops, counts.captured_ops + counts.eager_ops) or "-"


def is_clean(counts: DefaultVerdict) -> bool:
    return not counts.sites and not counts.skipped_frames and counts.graphs > 0


def change(before: DefaultVerdict, after: DefaultVerdict) -> str:
    """What a step did to the figures."""
    parts = [f"breaks {before.sites} → {after.sites}"]
    if before.skipped_frames or after.skipped_frames:
        parts.append(f"skipped frames {before.skipped_frames} → {after.skipped_frames}")
    parts.append(f"graphs {before.graphs} → {after.graphs}")
    parts.append(f"ops captured {share(before)} → {share(after)}")
    if before.recompilations != after.recompilations:
        parts.append(f"recompilations {before.recompilations} → {after.recompilations}")
    return ", ".join(parts)


def end_state(report: Report) -> str:
    """Where all steps lead, in a sentence."""
    after, scenarios = report.steps[-1].after, max(len(report.scenarios), 1)
    steps = count(len(report.steps), "step")
    if is_clean(after):
        graphs = "one graph" if after.graphs == scenarios == 1 else count(after.graphs, "graph")
        return f"After {steps}: {graphs}, no breaks, {share(after)} of ops captured."
    left = [count(after.sites, "break")] if after.sites else []
    left += [count(after.skipped_frames, "skipped frame")] if after.skipped_frames else []
    left = left or ["nothing compiled"]
    return f"After {steps}: {' and '.join(left)} left, {share(after)} of ops captured."


def knob_tone(knob: KnobTrial) -> str:
    """``good`` for a setting that clears every break and keeps the outputs."""
    clears = knob.after is not None and is_clean(knob.after) and not is_clean(knob.before)
    return "good" if clears and knob.equal_outputs is not False else ""


def way_out(report: Report) -> str:
    """The best way out of the findings that was proved; empty if none was."""
    if report.steps and is_clean(report.steps[-1].after):
        sure = all(step.fix.verdict == "proved" for step in report.steps)
        fixes = count(len(report.steps), "source fix", "source fixes")
        held = "proved" if sure else "some proved under a condition"
        clean = "makes" if len(report.steps) == 1 else "make"
        return f"{fixes}, {held}, {clean} it compile without a break."
    settings = [knob.name for knob in report.knobs if knob_tone(knob) == "good"]
    if settings:
        return f"`{settings[0]}` clears every break{', as tried' if len(settings) == 1 else ''}."
    if report.steps:
        return end_state(report)
    return ""
