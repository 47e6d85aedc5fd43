"""Try edits of the source on the running model: are the problems gone, and is every result the same?

Runs in a process forked for it (`breakfinder.fixes.forked`), since it replaces the model's own code.
"""

from __future__ import annotations

import difflib
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import torch

from breakfinder.assemble import Assembler
from breakfinder.fixes import live
from breakfinder.fixes.edit import Edit
from breakfinder.fixes.outcome import Outcome, changed_state, differences, run, wanting_gradients
from breakfinder.fixes.variants import Variant, variants
from breakfinder.report.model import Check, DefaultVerdict, Finding
from breakfinder.targets.subject import Scenario, Subject
from breakfinder.tracing import dynamo, trace_default
from breakfinder.tracing.state import GlobalState, ModuleState, seed_everything

Rebuild = Callable[[], "tuple[Subject, Subject | None]"]

COMPARE_SECONDS = 20.0
"""Once the old code has run for so long on variants of the inputs, no more of them are taken."""
ASPECTS = {
    "raises": "raises where it did, and nowhere else",
    "outputs": "same outputs (values, dtypes, shapes, strides, structure)",
    "gradients": "same gradients of parameters and inputs",
    "inputs": "leaves its inputs as it did",
    "random": "draws the same random numbers",
    "state": "leaves the same state",
}
GONE = "the problem is gone from a new trace"
RAN = "every line that changes was run"


@dataclass
class Result:
    """What a trial showed."""

    counts: DefaultVerdict
    findings: list[Finding]
    checks: list[Check] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    """What speaks neither against nor fully for it: each a sentence that must hold for equal results."""
    inputs_tried: int = 0

    def add_condition(self, words: str) -> None:
        if words not in self.conditions:
            self.conditions.append(words)

    @property
    def holds(self) -> bool:
        return all(check.passed is not False for check in self.checks)


@dataclass
class Trial:
    """The model with which edits are tried."""

    subject: Subject
    """What is traced."""
    valued: Subject | None
    """The same with real tensors, whose results are compared; may be the subject itself."""
    rebuild: Rebuild
    """Builds both anew."""
    root: Path
    config: dict[str, Any]

    def run(self, edits: Mapping[str, Edit], gone: str = "") -> Result:
        """Apply the edits and see.  Of one of which the problem with the fingerprint ``gone`` is still there, or
        that breaks the trace, nothing else is tried.
        """
        torch.set_num_threads(1)
        torch.manual_seed(0)
        globals_before = GlobalState(edits)
        old = None if self.valued is None else Comparison(self.valued, globals_before)
        missing = old.run_old(edits) if old is not None else []
        subject, valued = self.edited(edits)
        counts, findings = traced(subject, self.root, self.config)
        result = Result(counts, findings)
        globals_before.restore()
        still = [finding for finding in findings if finding.fingerprint == gone]
        result.checks.append(Check(name=GONE, passed=not still))
        if still:
            return result
        if old is None or valued is None:
            result.conditions.append("Results could not be compared: the model has no real tensors here.")
            return result
        result.inputs_tried = len(old.runs)
        _note_lines(result, missing)
        old.compare(valued, self.config, result)
        return result

    def edited(self, edits: Mapping[str, Edit]) -> tuple[Subject, Subject | None]:
        """Both subjects with the edits applied to this process."""
        if not live.apply(edits):
            return self.subject, self.valued
        subject, valued = self.rebuild()
        if self.valued is not None and valued is not None:
            _same_weights(self.valued.callable, valued.callable)
        return subject, valued


def traced(
    subject: Subject, root: Path, config: dict[str, Any], **how: Any
) -> tuple[DefaultVerdict, list[Finding]]:
    """What a new trace of all scenarios counts, in sum, and finds."""
    assembler = Assembler(root)
    parts = [
        assembler.add_scenario(trace).default for trace in trace_default(subject, config, **how).scenarios
    ]
    return total(parts), assembler.findings()


def total(parts: list[DefaultVerdict]) -> DefaultVerdict:
    """The sum of the counts of several scenarios."""
    names = DefaultVerdict.model_fields
    return DefaultVerdict(**{name: sum(getattr(part, name) for part in parts) for name in names})


def _note_lines(result: Result, missing: list[int]) -> None:
    if missing:
        lines = ", ".join(map(str, missing[:6]))
        result.checks.append(Check(name=RAN, passed=None, detail=f"not line {lines}"))
        result.conditions.append(f"No input that was tried ran line {lines} of the old code.")
    else:
        result.checks.append(Check(name=RAN, passed=True))


def _same_weights(old: Any, new: Any) -> None:
    """A model that was built anew gets the weights of the one before it."""
    if isinstance(old, torch.nn.Module) and isinstance(new, torch.nn.Module):
        fitting = {
            name: value
            for name, value in old.state_dict().items()
            if name in new.state_dict() and new.state_dict()[name].shape == value.shape
        }
        new.load_state_dict(fitting, strict=False)


class Comparison:
    """The runs of the old code, to which those of the new are held."""

    def __init__(self, subject: Subject, globals_before: GlobalState) -> None:
        self.subject = subject
        self.scenario: Scenario = subject.scenarios[0]
        self.globals = globals_before
        self.runs: list[tuple[Variant, Outcome]] = []
        self.sequence: list[Outcome] = []

    def run_old(self, edits: Mapping[str, Edit]) -> list[int]:
        """Run the old code on every variant; gives the lines to be changed that no run came to."""
        coverage = _Coverage(edits)
        self._prepare(self.subject)
        began = time.monotonic()
        with coverage, self.subject.run_context():
            self.sequence = self._in_sequence(self.subject, self.subject.callable)
            for variant in self._variants():
                if time.monotonic() - began > COMPARE_SECONDS and len(self.runs) >= 4:
                    break
                self.runs.append((variant, self._run(self.subject, self.subject.callable, variant)))
        return coverage.missing()

    def compare(self, subject: Subject, config: dict[str, Any], result: Result) -> None:
        """Hold the new code, uncompiled and compiled, to the old; adds checks and conditions."""
        self._prepare(subject)
        wrong: dict[str, str] = {}
        for how, function in (("uncompiled", subject.callable), ("compiled", self._compiled(subject))):
            with dynamo.configured(config), subject.run_context():
                sequence = self._in_sequence(subject, function)
                runs = [self._run(subject, function, variant) for variant, _ in self.runs]
            for number, (old, new) in enumerate(zip(self.sequence, sequence, strict=False), 1):
                self._judge(_without_aliases(differences(old, new), result), f"{how}, call {number}", wrong)
            if len(sequence) != len(self.sequence):
                wrong.setdefault("raises", f"{how}: {len(sequence)} calls, not {len(self.sequence)}")
            for (variant, old), new in zip(self.runs, runs, strict=True):
                found = _without_aliases(differences(old, new), result)
                if variant.extreme or old.raised:
                    _add_conditions(found, old, new, variant, result)
                else:
                    self._judge(found, f"{how}, {variant.name}", wrong)
        _lost(self.runs, runs, result)
        for aspect, name in ASPECTS.items():
            result.checks.append(Check(name=name, passed=aspect not in wrong, detail=wrong.get(aspect, "")))

    def _compiled(self, subject: Subject) -> Any:
        dynamo.reset()
        return torch.compile(subject.callable, backend="eager")

    def _prepare(self, subject: Subject) -> None:
        self.globals.restore()
        if isinstance(subject.callable, torch.nn.Module) and self.scenario.training is not None:
            subject.callable.train(self.scenario.training)

    def _variants(self) -> Iterator[Variant]:
        calls = self.scenario.calls()
        first = next(calls)
        calls.close()
        for number, variant in enumerate(variants(first)):
            yield variant
            if number in (0, 1, 2) and self.scenario.grad:
                yield Variant(f"{variant.name}, wanting gradients", wanting_gradients(variant.call))

    def _in_sequence(self, subject: Subject, function: Any) -> list[Outcome]:
        try:
            return in_sequence(subject, function)
        finally:
            self.globals.restore()

    def _run(self, subject: Subject, function: Any, variant: Variant) -> Outcome:
        state = ModuleState(subject.callable)
        try:
            return run(function, _own(variant), self.scenario.grad, _module(subject))
        finally:
            state.restore()
            self.globals.restore()

    def _judge(self, found: dict[str, str], where: str, wrong: dict[str, str]) -> None:
        for aspect, words in found.items():
            wrong.setdefault(aspect, f"{where}: {words}")


def in_sequence(subject: Subject, function: Callable[..., Any]) -> list[Outcome]:
    """The calls of a subject's first scenario, one after another, each finding the state that the one before
    left; up to the first that raises."""
    state = ModuleState(subject.callable)
    outcomes: list[Outcome] = []
    scenario = subject.scenarios[0]
    noted = _Noted(function)
    seed_everything()  # inputs are made as the calls are
    with subject.run_context():
        calls = scenario.calls()
        try:
            call = next(calls)
            while True:
                outcomes.append(run(noted, call, scenario.grad, _module(subject), backward=False))
                if outcomes[-1].raised:
                    break
                call = calls.send(noted.output)
        except StopIteration:
            pass
        finally:
            calls.close()
            state.restore()
    return outcomes


class _Noted:
    """A function that keeps what it gave last."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.output: Any = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.output = self._function(*args, **kwargs)
        return self.output


def _own(variant: Variant) -> Any:
    """The call with tensors of its own, so that what a run does to them stays with it."""
    from breakfinder.targets.example_inputs import map_call

    return map_call(variant.call, lambda t: t.detach().clone().requires_grad_(t.requires_grad))


def _module(subject: Subject) -> torch.nn.Module | None:
    return subject.callable if isinstance(subject.callable, torch.nn.Module) else None


def _without_aliases(found: dict[str, str], result: Result) -> dict[str, str]:
    """Which tensors share memory shows only to code that changes one of them later: a condition."""
    if found.pop("aliases", ""):
        result.add_condition("Nothing changes the output in place: it shares other memory than before.")
    return found


def _add_conditions(
    found: dict[str, str], old: Outcome, new: Outcome, variant: Variant, result: Result
) -> None:
    if not found:
        return
    if old.raised:
        now = f"raises {new.raised}" if new.raised else "does not raise"
        words = f"Where the old code raises {old.raised}, the new one {now}."
    else:
        words = f"The inputs hold not {variant.name}: there the {next(iter(found))} differ."
        words = words.replace("hold not", "do not have")
    result.add_condition(words)


def _lost(old: list[tuple[Variant, Outcome]], new: list[Outcome], result: Result) -> None:
    names = sorted(
        {name for (_, one), other in zip(old, new, strict=True) for name in changed_state(one, other)}
    )
    if names and all(not outcome.raised for outcome in new[:1]):
        result.conditions.append(
            f"Nothing else reads {', '.join(names[:5])}, which is no longer kept as it was."
        )


class _Coverage:
    """Which of the lines that edits change are run, uncompiled."""

    def __init__(self, edits: Mapping[str, Edit]) -> None:
        self._wanted = {edit.file: changed_lines(edit) for edit in edits.values()}
        self._ran: dict[str, set[int]] = defaultdict(set)
        self._files: dict[str, str] = {}

    def __enter__(self) -> _Coverage:
        self._former = sys.gettrace()
        sys.settrace(self._on_call)
        return self

    def __exit__(self, *exc_info: object) -> None:
        sys.settrace(self._former)

    def missing(self) -> list[int]:
        return sorted(line for file, lines in self._wanted.items() for line in lines - self._ran[file])

    def _on_call(self, frame: FrameType, event: str, argument: Any) -> Any:
        name = frame.f_code.co_filename
        if name not in self._files:
            self._files[name] = str(Path(name).resolve()) if not name.startswith("<") else name
        file = self._files[name]
        if file not in self._wanted:
            return None
        ran = self._ran[file]

        def on_line(frame: FrameType, event: str, argument: Any) -> Any:
            ran.add(frame.f_lineno)
            return on_line

        ran.add(frame.f_lineno)
        return on_line


def changed_lines(edit: Edit) -> set[int]:
    """The lines with code inside functions that an edit removes or replaces; those of constructors, which run
    when the model is built, are left out."""
    before, after = edit.before.splitlines(), edit.after.splitlines()
    touched: set[int] = set()
    for tag, start, end, _, _ in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag in ("replace", "delete"):
            touched |= set(range(start + 1, end + 1))
    module = compile(edit.before, edit.file, "exec")
    lines: set[int] = set()
    todo = [item for item in module.co_consts if isinstance(item, CodeType)]
    while todo:
        code = todo.pop()
        if code.co_name not in live.CONSTRUCTORS and not _is_class_body(code):
            lines |= {line for _, _, line in code.co_lines() if line and line != code.co_firstlineno}
        todo += [item for item in code.co_consts if isinstance(item, CodeType)]
    return touched & lines


def _is_class_body(code: CodeType) -> bool:
    return "__qualname__" in code.co_names and "__module__" in code.co_names
