"""Apply fixes one after another, keep what holds, and say what each did."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from breakfinder.fixes import inductor
from breakfinder.fixes.edit import Edit
from breakfinder.fixes.forked import TrialError, in_fork
from breakfinder.fixes.patch import patch, shown
from breakfinder.fixes.proposals import Proposal, propose
from breakfinder.fixes.trial import RAN, Result, Trial
from breakfinder.report.model import (
    Applicability,
    Check,
    DefaultVerdict,
    Evidence,
    Finding,
    Fix,
    FixStep,
    Verdict,
)
from breakfinder.rules import by_code, rewrites
from breakfinder.source.diff import unified_diff

Send = Callable[[str, Any], None]

DEEPEST = 6
"""Breaks that mask one another are followed so far before a fix is said to hold or not."""
_ORDER: dict[Applicability, int] = {"safe": 0, "review": 1, "manual": 2}


@dataclass(frozen=True)
class State:
    """The model with some edits: what is left of its problems."""

    edits: dict[str, Edit]
    counts: DefaultVerdict
    findings: tuple[Finding, ...]

    def better_than(self, other: State) -> bool:
        """Fewer frames skipped, problems or graphs, in this order of weight, and something compiled."""
        return self.counts.graphs > 0 and self._badness() < other._badness()

    def _badness(self) -> tuple[int, int, int]:
        errors = sum(finding.kind == "error" for finding in self.findings)
        return errors + self.counts.skipped_frames, len(self.findings), self.counts.graphs

    def clean(self) -> bool:
        return not self.findings and self.counts.graphs > 0


@dataclass(frozen=True)
class Step:
    """A fix that was applied to a finding, and where that led."""

    finding: Finding
    proposal: Proposal
    before: State
    after: State
    result: Result
    seconds: float


@dataclass
class Search:
    """Looks for the fixes of one traced model.

    ``send`` is told of every fix that was tried (``fix``), of the steps that were kept (``step``) and of the
    whole patch (``patch``).
    """

    trial: Trial
    start: State
    send: Send
    seconds: float
    """How long it may take."""
    conditional: bool = True
    """Keep also what is proved only under a condition."""
    _failed: dict[str, list[Fix]] = field(default_factory=dict)
    _banned: set[tuple[str, type[rewrites.Rewrite]]] = field(default_factory=set)
    """Fixes that inductor gave other results for."""
    _out_of_time: bool = False

    def __post_init__(self) -> None:
        self._deadline = time.monotonic() + self.seconds

    def run(self) -> State:
        """Fix what can be fixed, safest first; gives the state that is left."""
        while True:
            state, steps = self._greedy()
            check = self._through_inductor(steps)
            if check is None or check.passed is not False:
                break
            self._ban_culprit(steps, check)
        self._report(steps, check)
        if self._out_of_time:
            self.send(
                "note", {"text": f"not all fixes were tried within {self.seconds:.0f} s (--fix-timeout)"}
            )
        return state

    def _greedy(self) -> tuple[State, list[Step]]:
        state, steps = self.start, list[Step]()
        tried: set[str] = set()
        while waiting := [item for item in _safest_first(state.findings) if item.fingerprint not in tried]:
            finding = waiting[0]
            tried.add(finding.fingerprint)
            self.send("stage", {"name": f"try fixes: {finding.rule} at line {finding.location.line}"})
            if chain := self._fix(finding, state, 0):
                steps += chain
                state = chain[-1].after
        return state, steps

    def _fix(self, finding: Finding, state: State, depth: int) -> list[Step]:
        """Steps that take a finding away, and what comes to light with it; none if that does not work out."""
        for proposal in propose(finding, state.edits, self.trial.root):
            if (finding.fingerprint, proposal.rewrite) in self._banned:
                continue
            if time.monotonic() > self._deadline:
                self._out_of_time = True
                return []
            began = time.monotonic()
            edits = {**state.edits, proposal.edit.file: proposal.edit}
            try:
                result = in_fork(
                    partial(self.trial.run, edits, finding.fingerprint), self._deadline - began + 10
                )
            except TrialError as error:
                self._note_failure(finding, proposal, state, None, f"the trial ended early: {error}")
                continue
            after = State(edits, result.counts, tuple(result.findings))
            if not result.holds or (result.conditions and not self.conditional):
                self._note_failure(finding, proposal, state, result)
                continue
            step = Step(finding, proposal, state, after, result, time.monotonic() - began)
            chain = [step, *self._fix_surfaced(state, after, depth)]
            if chain[-1].after.better_than(state):
                return chain
            left = [item for item in chain[-1].after.findings if not _known(item, state)]
            where = f"line {left[0].location.line}: {left[0].title}" if left else "what was there before"
            self._note_failure(finding, proposal, state, result, f"it only leads to {where}")
        return []

    def _fix_surfaced(self, before: State, state: State, depth: int) -> list[Step]:
        """Steps for what came to light with a fix."""
        steps: list[Step] = []
        if depth >= DEEPEST:
            return steps
        for finding in _safest_first(state.findings):
            if _known(finding, before) or not _known(finding, state):
                continue
            more = self._fix(finding, state, depth + 1)
            if more:
                steps += more
                state = more[-1].after
        return steps

    def _through_inductor(self, steps: list[Step]) -> Check | None:
        """All steps together, on the real backend; None for no steps."""
        if not steps:
            return None
        self.send("stage", {"name": "try fixes: inductor"})
        return inductor.check(
            self.trial, steps[-1].after.edits, max(self._deadline - time.monotonic(), 120.0)
        )

    def _ban_culprit(self, steps: list[Step], check: Check) -> None:
        """Never again take the first step with which inductor gives other results."""
        for step in steps:
            found = check if step is steps[-1] else inductor.check(self.trial, step.after.edits, 120.0)
            if found.passed is False:
                self._banned.add((step.finding.fingerprint, step.proposal.rewrite))
                fix = self._described(step.proposal, step.before, step.result, step.seconds, found)
                self._failed.setdefault(step.finding.fingerprint, []).append(fix)
                return

    def _report(self, steps: list[Step], check: Check | None) -> None:
        """Send what was tried and what is kept."""
        surfaced_by = _surfaced(self.start, steps)
        for number, step in enumerate(steps, 1):
            fix = self._described(step.proposal, step.before, step.result, step.seconds, check)
            self.send("fix", {"finding": step.finding.fingerprint, "fix": fix.model_dump()})
            location = step.finding.location
            said = FixStep(
                number=number,
                finding=step.finding.fingerprint,
                rule=step.finding.rule,
                file=location.file,
                line=_original_line(step),
                expression=location.expression or location.statement,
                fix=fix,
                before=step.before.counts,
                after=step.after.counts,
                surfaced=surfaced_by[number - 1],
            )
            self.send("step", said.model_dump())
        kept = {step.finding.fingerprint for step in steps}
        for fingerprint, fixes in self._failed.items():
            for fix in fixes if fingerprint not in kept else ():
                self.send("fix", {"finding": fingerprint, "fix": fix.model_dump()})
        if steps:
            edits = list(steps[-1].after.edits.values())
            self.send("patch", {"text": patch(edits, self.trial.root)})
            self.send("edits", [dataclasses.asdict(edit) for edit in edits])

    def _note_failure(
        self, finding: Finding, proposal: Proposal, state: State, result: Result | None, why: str = ""
    ) -> None:
        result = result or Result(DefaultVerdict(), [])
        if why:
            checks = [*result.checks, Check(name="it leads to fewer problems", passed=False, detail=why)]
            result = replace(result, checks=checks)
        fix = self._described(proposal, state, result, 0.0, None)
        self._failed.setdefault(finding.fingerprint, []).append(fix)

    def _described(
        self, proposal: Proposal, before: State, result: Result, seconds: float, check: Check | None
    ) -> Fix:
        checks = result.checks + ([check] if check else [])
        conditions = [proposal.rewrite.condition] if proposal.rewrite.condition else []
        conditions += result.conditions
        conditions += [
            f"Not shown: {item.name} ({item.detail})."
            for item in checks
            if item.passed is None and item.name != RAN
        ]
        verdict: Verdict = "proved"
        if any(item.passed is False for item in checks):
            verdict = "failed"
        elif result.conditions or any(item.passed is None for item in checks):
            verdict = "conditional"
        file = proposal.edit.file
        now = before.edits[file].after if file in before.edits else proposal.edit.before
        return Fix(
            title=proposal.rewrite.title,
            applicability=proposal.rewrite.applicability,
            verdict=verdict,
            condition=" ".join(conditions),
            diff=unified_diff(shown(file, self.trial.root), now, proposal.edit.after),
            evidence=Evidence(
                checks=checks,
                inputs_tried=result.inputs_tried,
                before=before.counts,
                after=result.counts,
                seconds=round(seconds, 2),
            ),
        )


def _safest_first(findings: tuple[Finding, ...]) -> list[Finding]:
    """Those with a fix, the ones whose first fix is safest first."""

    def order(finding: Finding) -> int:
        return min(_ORDER[rewrites.by_name(name).applicability] for name in by_code(finding.rule).fixes)

    return sorted((finding for finding in findings if by_code(finding.rule).fixes), key=order)


def _original_line(step: Step) -> int:
    """The line of a step's finding in the file as it is on disk."""
    edit = step.before.edits.get(step.proposal.edit.file)
    line = step.finding.location.line
    return edit.line_before(line) if edit is not None else line


def _known(finding: Finding, state: State) -> bool:
    return any(item.fingerprint == finding.fingerprint for item in state.findings)


def _surfaced(start: State, steps: list[Step]) -> list[list[Finding]]:
    """What each step brought to light that was in no state before it."""
    seen = {finding.fingerprint for finding in start.findings}
    found = []
    for step in steps:
        new = [finding for finding in step.after.findings if finding.fingerprint not in seen]
        seen |= {finding.fingerprint for finding in new}
        found.append(new)
    return found
