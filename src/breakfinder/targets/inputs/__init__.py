"""Inputs of Transformers models, synthesised from the config and the forward signature by general rules."""

from __future__ import annotations

import inspect
from typing import Any

import torch

# Each of these modules registers its rules.
from breakfinder.errors import UsageError
from breakfinder.targets.inputs import audio, multimodal, patches, series, shapes, text, vision  # noqa: F401
from breakfinder.targets.inputs.setting import Setting

__all__ = ["describe", "synthesise"]

BATCH, LENGTH = 2, 32


def synthesise(
    model: Any,
    config: Any,
    *,
    batch_size: int | None = None,
    seq_len: int | None = None,
    device: str = "cpu",
    dtype: torch.dtype | None = None,
    variant: int = 0,
) -> dict[str, Any]:
    """Keyword arguments for ``model.forward``: tensors on ``device``, the same each time.

    ``dtype`` is that of the floating inputs, by default that of the model's parameters.  ``variant`` 1
    gives other sizes than 0: a longer text (a shorter one where positions run out) and one more in the
    batch.  Raises UsageError if the model needs an input that no rule can make.
    """
    setting = Setting(
        model,
        config,
        inspect.signature(model.forward).parameters,
        (batch_size or BATCH) + variant,
        (seq_len or LENGTH) * (2 + variant) // 2,
        dtype or _dtype_of(model),
        variant,
    )
    inputs = {name: value for name in setting.parameters if (value := setting.get(name)) is not None}
    missing = [name for name in setting.parameters if setting.needs(name) and name not in inputs]
    missing = [
        name for name in missing if setting.parameters[name].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    ]
    if missing:
        raise UsageError(
            f"no inputs are known for {type(model).__name__}: it needs {', '.join(missing)}",
            "give them with --inputs file.py:function",
        )
    return {name: _moved(value, device) for name, value in inputs.items()}


def _dtype_of(model: Any) -> torch.dtype:
    floating = (parameter.dtype for parameter in model.parameters() if parameter.is_floating_point())
    return next(floating, torch.float32)


def _moved(value: Any, device: str) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, (list, tuple)):
        return type(value)(_moved(item, device) for item in value)
    if isinstance(value, dict):
        return {key: _moved(item, device) for key, item in value.items()}
    return value


def describe(inputs: dict[str, Any]) -> str:
    """The inputs in words, e.g. ``input_ids int64[2, 64], attention_mask int64[2, 64]``."""
    return ", ".join(f"{name} {_described(value)}" for name, value in inputs.items())


def _described(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_described(item) for item in value)}]"
    if isinstance(value, dict):
        return "{" + describe(value) + "}"
    return repr(value) if isinstance(value, (bool, int, float, str)) else type(value).__name__
