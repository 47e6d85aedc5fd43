"""torch's private fake-tensor API, as far as building a model without weights needs it."""

from __future__ import annotations

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
    UnsupportedOperatorException,
)
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode, ShapeEnv

__all__ = ["FAKE_FAILURES", "FAKE_MESSAGES", "FakeTensorMode", "fake_like", "fake_mode", "is_fake"]

FAKE_FAILURES: tuple[type[BaseException], ...] = (
    DataDependentOutputException,
    DynamicOutputShapeException,
    GuardOnDataDependentSymNode,
    UnsupportedOperatorException,
)
"""What an op raises that cannot go on because its operand has no values."""

FAKE_MESSAGES = (
    ".numpy() is not supported for tensor subclasses",
    "Cannot access data pointer of Tensor",
    "The tensor has a non-zero number of elements, but its data is not allocated yet",
)
"""Parts of what a plain RuntimeError says for the same reason."""


def fake_mode() -> FakeTensorMode:
    """A mode under which tensors have shapes and dtypes but no storage; real tensors may mix in."""
    return FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv())


def is_fake(tensor: torch.Tensor) -> bool:
    return isinstance(tensor, FakeTensor)


def fake_like(mode: FakeTensorMode, tensor: torch.Tensor) -> torch.Tensor:
    """A fake tensor with the sizes, strides and dtype of ``tensor``, on its device (``meta``: on the CPU)."""
    device = "cpu" if tensor.device.type == "meta" else tensor.device
    with mode:
        return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=device)
