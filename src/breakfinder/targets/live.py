"""Objects that are alive in this process already."""

from __future__ import annotations

from typing import Any

import torch

from breakfinder.errors import UsageError
from breakfinder.report.model import Target
from breakfinder.targets.example_inputs import fresh
from breakfinder.targets.python_targets import facts_of
from breakfinder.targets.subject import Call, Calls, Scenario, Subject


def subject_of(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Subject:
    """A callable and the arguments to call it with, as a subject with the ``forward`` scenario.

    Raises UsageError if it is not callable.
    """
    if not callable(model):
        raise UsageError(f"{type(model).__name__} is not callable", "give a module or a function")
    # An already compiled module would be compiled twice.
    model = getattr(model, "_orig_mod", model)

    def forward() -> Calls:
        yield Call(fresh(args), fresh(kwargs))

    name = getattr(model, "__qualname__", type(model).__qualname__)
    facts = facts_of(model, Target(text=name, kind="object"), "own", [])
    return Subject(model, facts, [Scenario("forward", forward, training=None, grad=torch.is_grad_enabled())])


def device_of(model: Any) -> str:
    """The device of a module's first parameter; ``cpu`` for what has none."""
    if isinstance(model, torch.nn.Module):
        for parameter in model.parameters():
            return str(parameter.device.type)
    return "cpu"
