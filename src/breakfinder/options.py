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


@dataclass(frozen=True)
class CheckOptions:
    """All that a check can be asked: how to build the subject, and how to run its child process."""

    build: BuildOptions = field(default_factory=BuildOptions)
    dynamo_config: dict[str, Any] = field(default_factory=dict)
    """Values of ``torch._dynamo.config`` to trace under."""
    timeout: float = 600.0
    """Seconds after which the child process is stopped."""
    memory_limit: int | None = None
    """Bytes of resident memory; None: 85 % of what was available at the start."""
    fixes: bool = True
    """Try fixes, and with ``knobs`` settings, once the model is traced."""
    knobs: bool = True
    conditional_fixes: bool = True
    """Keep fixes for which something could not be shown too."""
    fix_timeout: float = 60.0
    """Seconds for all of them."""
    output_limit: int = 256 * 1024 * 1024
    """Bytes that the model may print before it is stopped."""


def options_from_plain(data: dict[str, Any]) -> CheckOptions:
    """Undo ``dataclasses.asdict``."""
    build = {**data["build"], "scenarios": tuple(data["build"]["scenarios"])}
    return CheckOptions(**{**data, "build": BuildOptions(**build)})
