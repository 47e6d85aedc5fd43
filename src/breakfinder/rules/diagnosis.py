"""Which rule explains a problem, and what it says about this one."""

from __future__ import annotations

from dataclasses import dataclass

from breakfinder.report.model import Location, Severity
from breakfinder.rules import symptom as symptoms
from breakfinder.rules.bf900_unclassified import Unclassified
from breakfinder.rules.registry import all_rules
from breakfinder.rules.rule import Rule
from breakfinder.rules.symptom import Symptom
from breakfinder.trace import BreakEvent, FrameRecord, Recompilation, TraceError


@dataclass(frozen=True)
class Diagnosis:
    """A rule, and its texts with this problem's own names in them."""

    rule: type[Rule]
    title: str
    severity: Severity
    why: str
    remedy: str


def diagnose(event: BreakEvent, location: Location) -> Diagnosis:
    """Explain a graph break."""
    return _explain(symptoms.of_break(event, location))


def diagnose_recompilation(recompilation: Recompilation, location: Location) -> Diagnosis:
    """Explain why a frame was compiled again."""
    return _explain(symptoms.of_recompilation(recompilation, location))


def diagnose_skip(frame: FrameRecord, location: Location) -> Diagnosis:
    """Explain a frame that was skipped with no break recorded."""
    return _explain(symptoms.of_skip(frame, location))


def diagnose_error(error: TraceError, location: Location) -> Diagnosis:
    """Explain an exception that compiling brought."""
    return _explain(symptoms.of_error(error, location))


def diagnose_pattern(rule: type[Rule], location: Location) -> Diagnosis:
    """Explain a place that looks like a rule's problem, of which torch has said nothing."""
    return _in_words(rule, Symptom("graph_break", location))


def _explain(symptom: Symptom) -> Diagnosis:
    # Of rules that match equally well, the first by code.
    rule = max(all_rules(), key=lambda candidate: candidate.matches(symptom))
    if not rule.matches(symptom):
        rule = Unclassified
    return _in_words(rule, symptom)


def _in_words(rule: type[Rule], symptom: Symptom) -> Diagnosis:
    names = rule.placeholders(symptom)
    return Diagnosis(
        rule,
        title=rule.title.format_map(names),
        severity=rule.severity,
        why=rule.why.format_map(names),
        remedy=rule.remedy.format_map(names),
    )
