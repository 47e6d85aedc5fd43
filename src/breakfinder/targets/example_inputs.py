"""Example inputs that the user gives with a Python target, and calls made from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import torch

from breakfinder.errors import UsageError
from breakfinder.options import BuildOptions
from breakfinder.targets.load import load
from breakfinder.targets.subject import Call

_HINT = (
    "define example_inputs() beside it (a tuple, a dict, or (args, kwargs)), "
    "or give --inputs file.py:function"
)


def inputs_of(
    module: ModuleType, options: BuildOptions
) -> tuple[Callable[[], Call], Callable[[], list[Call]] | None]:
    """What makes the first call's arguments, and what makes those of further calls if the user gave any."""
    if options.inputs:
        _, source = load(options.inputs)
        more = None
    elif hasattr(module, "example_inputs"):
        source = module.example_inputs
        more = getattr(module, "more_inputs", None)
    else:
        raise UsageError(f"{module.__name__} has no example_inputs", _HINT)

    def first() -> Call:
        return as_call(fresh(source() if callable(source) else source))

    if more is None:
        return first, None
    return first, lambda: [as_call(fresh(item)) for item in (more() if callable(more) else more)]


def as_call(value: Any) -> Call:
    """Example inputs as a call: a tuple or list of arguments, a dict of keyword arguments, or both."""
    if isinstance(value, Mapping):
        return Call(kwargs=dict(value))
    if isinstance(value, (tuple, list)):
        if len(value) == 2 and isinstance(value[0], (tuple, list)) and isinstance(value[1], Mapping):
            return Call(tuple(value[0]), dict(value[1]))
        return Call(tuple(value))
    if isinstance(value, torch.Tensor):
        return Call((value,))
    raise UsageError(
        f"example inputs are a {type(value).__name__}", "give a tuple, a dict, or (args, kwargs)"
    )


def map_tensors(value: Any, function: Callable[[torch.Tensor], Any]) -> Any:
    """``value`` with ``function`` applied to every tensor in its built-in containers."""
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, Mapping):
        return {key: map_tensors(item, function) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [map_tensors(item, function) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def map_call(call: Call, function: Callable[[torch.Tensor], Any]) -> Call:
    return Call(map_tensors(call.args, function), map_tensors(call.kwargs, function))


def fresh(value: Any) -> Any:
    """A copy whose tensors share nothing with the original, so that no call sees what another left."""
    return map_tensors(value, lambda tensor: tensor.detach().clone().requires_grad_(tensor.requires_grad))


def other_sizes(call: Call) -> Call | None:
    """The same call with one more row in its batch, or None if its tensors share no first dimension."""
    sizes: set[int] = set()

    def note(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.dim():
            sizes.add(tensor.shape[0])
        return tensor

    map_call(call, note)
    if len(sizes) != 1 or 0 in sizes:
        return None

    def grow(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.dim() == 0:
            return tensor
        return torch.cat([tensor, tensor[:1]]).detach().requires_grad_(tensor.requires_grad)

    return map_call(call, grow)
