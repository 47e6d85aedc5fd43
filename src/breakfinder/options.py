"""What a check can be asked to do, as plain data that the parent hands to the child process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Weights = Literal["none", "random", "real"]


@dataclass(frozen=True)
class BuildOptions:
    """How to turn a target into a subject.  Empty strings and None mean "as the model has it"."""

    revision: str = ""
    trust_remote_code: bool = False
    task: str = ""
    class_name: str = ""
    inputs: str = ""
    """``file.py:function`` or ``package.module:function`` that gives example inputs."""
    model_kwargs: dict[str, Any] = field(default_factory=dict)
    weights: Weights | None = None
    """None: ``none`` for Transformers models; a Python target of up to 1 GiB is built as it is."""
    shrink: bool = False
    depth: str = "auto"
    """``auto``, ``full`` or a number of layers."""
    batch_size: int | None = None
    seq_len: int | None = None
    dtype: str = ""
    device: str = "cpu"
    attn_implementation: str = ""
    training: bool = False
    """Leave a Python target in training mode in the ``forward`` and ``decode`` scenarios."""
    no_grad: bool = False
    scenarios: tuple[str, ...] = ("forward",)
    """Names of scenarios, or ``all``."""
