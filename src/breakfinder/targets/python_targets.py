"""Targets in Python code: a class, instance or function in a file or an importable module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from breakfinder.errors import UsageError
from breakfinder.options import BuildOptions
from breakfinder.report.model import Subject as SubjectFacts
from breakfinder.report.model import Target
from breakfinder.targets.example_inputs import inputs_of, map_call, map_tensors, other_sizes
from breakfinder.targets.load import TooLargeError, check_callable, construct, load
from breakfinder.targets.subject import Call, Calls, Scenario, Subject

FAKE_ABOVE_BYTES = 1 << 30
"""A class whose parameters take more than this is built without storage unless asked otherwise."""


def build(target: Target, options: BuildOptions) -> Subject:
    """The subject of a Python target.

    A class is built as it is, or under fake tensors where its parameters pass `FAKE_ABOVE_BYTES` or
    ``weights`` is ``none``.  Raises UsageError for what the user can mend.
    """
    module, value = load(target.location)
    check_callable(value, target.location, options.model_kwargs)
    first, more = inputs_of(module, options)
    if options.weights != "none":
        limit = FAKE_ABOVE_BYTES if options.weights is None else None
        try:
            subject = construct(value, options.model_kwargs, limit)
        except TooLargeError:
            note = (
                "its parameters take more than 1 GiB, so it was built without weights "
                "(--weights random builds it with them)"
            )
            return _build_fake(target, value, first, more, options, [note])
        return _real_subject(subject, target, first, more, options)
    return _build_fake(target, value, first, more, options, [])


def _real_subject(
    subject: Any,
    target: Target,
    first: Callable[[], Call],
    more: Callable[[], list[Call]] | None,
    options: BuildOptions,
) -> Subject:
    dtype = _dtype(options.dtype)
    if isinstance(subject, torch.nn.Module):
        if options.device != "cpu" or dtype is not None:
            subject.to(device=options.device, dtype=dtype)
        if not options.training:
            subject.eval()

    def place(tensor: torch.Tensor) -> torch.Tensor:
        wanted = dtype if dtype is not None and tensor.is_floating_point() else None
        return tensor.to(device=options.device, dtype=wanted)

    calls = _calls(first, more, place)
    facts = facts_of(subject, target, "own", [])
    return Subject(subject, facts, scenarios(calls, options, 1 if more is None else None))


def _build_fake(
    target: Target,
    value: Any,
    first: Callable[[], Call],
    more: Callable[[], list[Call]] | None,
    options: BuildOptions,
    notes: list[str],
) -> Subject:
    from breakfinder.targets.fake import build_fake, fake_inputs

    model, mode = build_fake(lambda: construct(value, options.model_kwargs, None))
    if not options.training:
        model.eval()
    calls = _calls(first, more, lambda tensor: fake_inputs(mode, tensor))
    facts = facts_of(model, target, "none", notes)
    return Subject(model, facts, scenarios(calls, options, 1 if more is None else None), lambda: mode)


def _dtype(name: str) -> torch.dtype | None:
    """The torch dtype of this name, None for none.  Raises UsageError if there is no such dtype."""
    if not name:
        return None
    dtype = getattr(torch, name.removeprefix("torch."), None)
    if not isinstance(dtype, torch.dtype):
        raise UsageError(f"no dtype '{name}'", "e.g. float32, bfloat16, float16")
    return dtype


def _calls(
    first: Callable[[], Call],
    more: Callable[[], list[Call]] | None,
    place: Callable[[torch.Tensor], Any],
) -> Callable[[], list[Call]]:
    """The calls of a run.

    Where the user gives only one set of inputs, two further calls with one more row in the batch show
    recompilations: the second of them, being like the first, those that never end.
    """

    def given() -> list[Call]:
        call = first()
        larger = other_sizes(call) if more is None else None
        others = more() if more is not None else [larger] * 2 if larger is not None else []
        return [map_call(item, place) for item in (call, *others)]

    return given


def loss_of(output: Any) -> torch.Tensor | None:
    """A scalar to go backward from: the output's ``loss``, or else the sum of what has a gradient."""
    loss = getattr(output, "loss", None)
    if isinstance(loss, torch.Tensor):
        return loss
    terms: list[torch.Tensor] = []

    def note(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.requires_grad and (tensor.is_floating_point() or tensor.is_complex()):
            terms.append(tensor.abs().sum() if tensor.is_complex() else tensor.sum())
        return tensor

    map_tensors(output, note)
    return torch.stack([term.reshape(()) for term in terms]).sum() if terms else None


def scenarios(calls: Callable[[], list[Call]], options: BuildOptions, given: int | None) -> list[Scenario]:
    """The scenarios that were asked for, over one list of calls, of which the first ``given`` are the user's.

    Raises UsageError for a scenario that does not fit.
    """
    wanted = ("forward", "train") if "all" in options.scenarios else options.scenarios

    def forward() -> Calls:
        for call in calls():
            yield call

    def train() -> Calls:
        for call in calls():
            output = yield call
            loss = loss_of(output)
            if loss is not None:
                loss.backward()

    made = []
    for name in dict.fromkeys(wanted):
        if name == "forward":
            made.append(Scenario("forward", forward, options.training, not options.no_grad, given=given))
        elif name == "train":
            made.append(Scenario("train", train, training=True, backends=("eager", "aot_eager"), given=given))
        else:
            raise UsageError(
                f"the scenario '{name}' does not fit a Python target", "choose forward, train or all"
            )
    return made


def facts_of(subject: Any, target: Target, weights: Any, notes: list[str]) -> SubjectFacts:
    parameters = list(subject.parameters()) if isinstance(subject, torch.nn.Module) else []
    named = type(subject) if isinstance(subject, torch.nn.Module) else subject
    return SubjectFacts(
        name=getattr(named, "__qualname__", target.text),
        parameters=sum(parameter.numel() for parameter in parameters),
        parameter_bytes=sum(parameter.numel() * parameter.element_size() for parameter in parameters),
        weights=weights,
        dtype=str(parameters[0].dtype).removeprefix("torch.") if parameters else "",
        notes=notes,
    )
