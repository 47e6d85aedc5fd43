"""What settings would do, tried for real: each in a process of its own, on the unchanged source."""

from __future__ import annotations

import logging
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch

from breakfinder.fixes.forked import TrialError, in_fork
from breakfinder.fixes.outcome import differences
from breakfinder.fixes.trial import in_sequence, traced
from breakfinder.report.model import DefaultVerdict, Finding, KnobTrial
from breakfinder.rules import by_code
from breakfinder.targets.subject import Subject
from breakfinder.tracing import dynamo

TIMEOUT = 120.0
"""Seconds that one trial may take."""

_LOGGER_METHODS = ("debug", "info", "warning", "error", "critical", "exception", "log")


def _logging_functions() -> set[Any]:
    return {print, warnings.warn}


def _ignored_functions() -> set[Any]:
    return {print, warnings.warn, *(getattr(logging.Logger, name) for name in _LOGGER_METHODS)}


@dataclass(frozen=True)
class Knob:
    """A setting of Dynamo, of ``torch.compile``, or of the model."""

    name: str
    note: str = ""
    config: dict[str, Any] = field(default_factory=dict)
    """Values of ``torch._dynamo.config``; one that is a function is called for its value."""
    arguments: dict[str, Any] = field(default_factory=dict)
    """Further arguments of ``torch.compile``."""
    how: str = ""

    def instructions(self) -> str:
        """How a reader sets it."""
        if self.how:
            return self.how
        if self.arguments:
            said = ", ".join(f"{name}={value}" for name, value in self.arguments.items())
            return f"torch.compile(model, {said})"
        return "\n".join(
            f"torch._dynamo.config.{name} = {_shown(value)}" for name, value in self.config.items()
        )

    def values(self) -> dict[str, Any]:
        return {name: value() if callable(value) else value for name, value in self.config.items()}


def _shown(value: Any) -> str:
    if value is _logging_functions:
        return "{print, warnings.warn}"
    if value is _ignored_functions:
        return "{print, warnings.warn, logging.Logger.warning, ...}"
    return repr(value)


_SCALARS = {"capture_scalar_outputs": True}
_SHAPES = {"capture_dynamic_output_shape_ops": True}
KNOBS: dict[str, Knob] = {
    "fullgraph": Knob(
        "fullgraph=True",
        "It raises at the first break; it also captures scalars and data-dependent shapes.",
        arguments={"fullgraph": True},
    ),
    "scalars": Knob(
        "capture_scalar_outputs=True", "`.item()` gives a symbolic number in the graph.", _SCALARS
    ),
    "shapes": Knob("capture_dynamic_output_shape_ops=True", config=_SHAPES),
    "scalars-and-shapes": Knob(
        "capture_scalar_outputs=True and capture_dynamic_output_shape_ops=True", config=_SCALARS | _SHAPES
    ),
    "nested": Knob(
        "nested_graph_breaks=True",
        "Experimental: a break in a called function no longer breaks its callers.",
        {"nested_graph_breaks": True},
    ),
    "reorder-logging": Knob(
        "reorderable_logging_functions",
        "The messages come after the graph has run.",
        {"reorderable_logging_functions": _logging_functions},
    ),
    "ignore-logging": Knob(
        "ignore_logging_functions",
        "The messages are dropped in compiled code.",
        {"ignore_logging_functions": _ignored_functions},
    ),
    "rnn": Knob(
        "allow_rnn=True",
        "With gradients, inductor may fail on the CPU.",
        {"allow_rnn": True},
    ),
    "integers": Knob(
        "allow_unspec_int_on_nn_module=True",
        "Integer attributes of modules are no constants then.",
        {"allow_unspec_int_on_nn_module": True},
    ),
    "dynamic": Knob(
        "dynamic=True", "All sizes are symbolic from the first call on.", arguments={"dynamic": True}
    ),
    "autograd": Knob("trace_autograd_ops=True", config={"trace_autograd_ops": True}),
    "compiled-autograd": Knob("compiled_autograd=True", config={"compiled_autograd": True}),
    "classes": Knob("enable_trace_load_build_class=True", config={"enable_trace_load_build_class": True}),
}


@dataclass
class KnobTrials:
    """Tries the settings that may help with a model's findings."""

    subject: Subject
    valued: Subject | None
    root: Any
    config: dict[str, Any]
    before: DefaultVerdict
    findings: Sequence[Finding]

    def run(self, send: Callable[[str, Any], None], deadline: Callable[[], float]) -> None:
        """Try each; ``deadline`` gives the seconds that are left.  ``send`` is told of each result."""
        for knob in self._relevant():
            if deadline() <= 0:
                return
            send("stage", {"name": f"try settings: {knob.name}"})
            send("knob", self._try(knob, min(TIMEOUT, deadline() + 10)).model_dump())
        regions = repeated_block(self.subject)
        if regions and self.findings and deadline() > 0:
            send("stage", {"name": "try settings: compile the repeated block"})
            send("knob", self._try_region(regions, min(TIMEOUT, deadline() + 10)).model_dump())

    def _relevant(self) -> Iterable[Knob]:
        names = [name for finding in self.findings for name in by_code(finding.rule).knobs]
        breaks = [finding for finding in self.findings if finding.kind == "graph_break"]
        if breaks:
            names.append("fullgraph")
        if "scalars" in names and "shapes" in names:
            names.append("scalars-and-shapes")
        if any(finding.events > 1 for finding in breaks):
            names.append("nested")
        return [knob for name, knob in KNOBS.items() if name in names]

    def _try(self, knob: Knob, timeout: float) -> KnobTrial:
        def compiled(function: Any, backend: Any) -> Any:
            return torch.compile(function, backend=backend, **knob.arguments)

        return self._in_trial(knob.name, knob.instructions(), knob.note, knob.values(), compiled, timeout)

    def _try_region(self, blocks: list[torch.nn.Module], timeout: float) -> KnobTrial:
        name = type(blocks[0]).__name__

        def compiled(function: Any, backend: Any) -> Any:
            for block in blocks:
                block.compile(backend=backend)
            return function

        how = f"for module in model.modules():\n    if isinstance(module, {name}):\n        module.compile()"
        note = f"Only the {len(blocks)} blocks are compiled; all around them stays eager, and cannot break."
        return self._in_trial(f"compile each {name} by itself", how, note, {}, compiled, timeout, blocks)

    def _in_trial(
        self,
        name: str,
        how: str,
        note: str,
        config: dict[str, Any],
        compiled: Callable[[Any, Any], Any],
        timeout: float,
        regions: list[torch.nn.Module] | None = None,
    ) -> KnobTrial:
        trial = KnobTrial(name=name, how=how, note=note, before=self.before)
        try:
            counts, left = in_fork(partial(self._counts, config, compiled), timeout)
        except TrialError as error:
            return trial.model_copy(update={"error": str(error)})
        equal: bool | None = None
        if self.valued is not None:
            valued = self.valued
            if regions is not None:
                regions = repeated_block(valued) or []

            def compiled_there(function: Any, backend: Any) -> Any:
                if regions is None:
                    return compiled(function, backend)
                for block in regions:
                    block.compile(backend=backend)
                return function

            try:
                equal = in_fork(partial(_equal, valued, config | self.config, compiled_there), timeout)
            except TrialError as error:
                trial = trial.model_copy(update={"error": str(error)})
        gone = [item.fingerprint for item in self.findings if item.fingerprint not in left and counts.graphs]
        return trial.model_copy(update={"after": counts, "clears": gone, "equal_outputs": equal})

    def _counts(
        self, config: dict[str, Any], compiled: Callable[[Any, Any], Any]
    ) -> tuple[DefaultVerdict, list[str]]:
        torch.set_num_threads(1)
        counts, findings = traced(self.subject, self.root, self.config | config, compile=compiled)
        errors = [finding for finding in findings if finding.kind == "error"]
        if errors:
            raise RuntimeError(errors[0].torch.explanation.strip().split("\n")[0][:300])
        return counts, [finding.fingerprint for finding in findings]


def _equal(subject: Subject, config: dict[str, Any], compiled: Callable[[Any, Any], Any]) -> bool:
    """Whether the scenario's calls, compiled so, give what they give uncompiled."""
    torch.set_num_threads(1)
    old = in_sequence(subject, subject.callable)
    dynamo.reset()
    with dynamo.configured(config):
        new = in_sequence(subject, compiled(subject.callable, "eager"))
    return len(old) == len(new) and not any(
        differences(one, other) for one, other in zip(old, new, strict=True)
    )


def repeated_block(subject: Subject) -> list[torch.nn.Module] | None:
    """The blocks of the kind of which a model is mostly made, as they stand in its module lists; None if
    there are no two of one kind."""
    if not isinstance(subject.callable, torch.nn.Module):
        return None
    kinds: Counter[type] = Counter()
    blocks: dict[type, list[torch.nn.Module]] = {}
    for holder in subject.callable.modules():
        if isinstance(holder, torch.nn.ModuleList | torch.nn.Sequential):
            for block in holder:
                if any(True for _ in block.children()):
                    kinds[type(block)] += sum(parameter.numel() for parameter in block.parameters())
                    blocks.setdefault(type(block), []).append(block)
    for kind, _ in kinds.most_common():
        if len(blocks[kind]) > 1:
            return blocks[kind]
    return None
