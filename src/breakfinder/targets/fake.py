"""Models without weights: parameters and buffers that have shapes and dtypes but no storage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from breakfinder.tracing.dynamo import (
    FAKE_FAILURES,
    FAKE_MESSAGES,
    FakeTensorMode,
    fake_like,
    fake_mode,
    is_fake,
)

__all__ = ["FakeTensorMode", "build_fake", "fake_inputs", "is_data_dependent_failure", "make_fake"]


def build_fake(construct: Callable[[], nn.Module]) -> tuple[nn.Module, FakeTensorMode]:
    """The module that ``construct`` makes, built without storage, and the mode to call it under.

    The mode is a context manager that can be entered again and again.  Whatever ``construct`` raises
    comes out.
    """
    with torch.device("meta"):
        model = construct()
    return model, make_fake(model)


def make_fake(model: nn.Module) -> FakeTensorMode:
    """Replace every tensor that ``model`` holds by a fake one of one new mode, which is returned.

    Tensors on ``meta`` get a fake CPU device, others keep theirs.  Covers parameters, buffers, and tensors in
    plain attributes, lists and dicts of its modules; a tensor held in several places stays shared, and a
    parameter stays a parameter of its class.
    """
    mode = fake_mode()
    faker = _Faker(mode)
    for module in modules_of(model):
        for name, value in list(vars(module).items()):
            if name != "_modules":
                replaced = faker.convert(value)
                if replaced is not value:
                    vars(module)[name] = replaced
    return mode


def modules_of(model: nn.Module) -> Iterator[nn.Module]:
    """All modules that ``model`` can reach, also those that it hides from torch in plain lists and dicts."""
    seen: set[int] = set()
    waiting: list[Any] = [model]
    while waiting:
        value = waiting.pop()
        if isinstance(value, nn.Module):
            if id(value) not in seen:
                seen.add(id(value))
                yield value
                waiting += vars(value).values()
        elif isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, (list, tuple)):
            waiting += value


def fake_inputs(mode: FakeTensorMode, value: Any) -> Any:
    """``value`` with every tensor in its built-in containers replaced by a fake one of ``mode``."""
    return _Faker(mode).convert(value, copy=True)


def is_data_dependent_failure(error: BaseException | None) -> bool:
    """Whether an exception, or one behind it, says that the missing values of a fake tensor were needed."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, FAKE_FAILURES):
            return True
        if isinstance(error, RuntimeError) and any(part in str(error) for part in FAKE_MESSAGES):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


class _Faker:
    """Makes fake tensors of one mode; equal tensors (by identity) give one fake tensor."""

    def __init__(self, mode: FakeTensorMode) -> None:
        self.mode = mode
        self.made: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        """By identity; the original is kept as well, so that its id is not given to another."""

    def tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        if is_fake(tensor):
            return tensor
        if id(tensor) not in self.made:
            self.made[id(tensor)] = tensor, self._fresh(tensor)
        return self.made[id(tensor)][1]

    def _fresh(self, tensor: torch.Tensor) -> torch.Tensor:
        fake = fake_like(self.mode, tensor)
        if isinstance(tensor, nn.Parameter):
            fake = nn.Parameter(fake, requires_grad=tensor.requires_grad)
        elif tensor.requires_grad:
            fake.requires_grad_()
        vars(fake).update(vars(tensor))
        return fake

    def convert(self, value: Any, copy: bool = False) -> Any:
        """``value`` with fake tensors; containers are changed in place unless ``copy``."""
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if isinstance(value, dict):
            if copy:
                return {key: self.convert(item, copy) for key, item in value.items()}
            for key, item in value.items():
                value[key] = self.convert(item)
        elif isinstance(value, list):
            if copy:
                return [self.convert(item, copy) for item in value]
            value[:] = [self.convert(item) for item in value]
        elif isinstance(value, tuple) and any(
            isinstance(item, (torch.Tensor, dict, list, tuple)) for item in value
        ):
            items = [self.convert(item, copy) for item in value]
            if any(new is not old for new, old in zip(items, value, strict=True)):
                return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        return value
