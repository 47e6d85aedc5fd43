"""What tracing saw, as plain data.

These records are what the child process streams to the parent and what every later step (locating,
diagnosing, reporting) reads.  They need nothing but the standard library, so that no step after
tracing imports torch.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class StackEntry:
    """One Python frame of a call stack.

    ``line`` and ``end_line`` are 1-based; ``column`` and ``end_column`` are 0-based offsets in UTF-8
    bytes, as the interpreter records them, or None where it records none.
    """

    file: str
    line: int
    name: str
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None


@dataclass(frozen=True)
class BreakEvent:
    """One record of a graph break.

    The same place is recorded once for every frame that the break bubbles through, so several events
    may be one *site*.
    """

    compile_id: str
    gb_type: str
    """torch's registry name of the break type, e.g. ``Data-dependent branching``; empty if unknown."""
    gb_id: str
    """torch's registry id, e.g. ``GB0170``; empty if the type is not in the registry."""
    explanation: str
    hints: tuple[str, ...]
    context: str
    """torch's "developer debug context"."""
    reason: str
    """The whole message, for what the fields above do not hold."""
    stack: tuple[StackEntry, ...]
    """From the frame where tracing began to the breaking one (innermost last)."""
    skips_frame: bool = False
    in_loop: bool = False
    """Reported by torch as "graph break in loop"; the fields above name the real cause."""
    call: int = 0
    """Which call of the scenario met it, from 0."""


@dataclass(frozen=True)
class FrameRecord:
    """One attempt of Dynamo to compile one frame (restarts of one attempt are not counted apart)."""

    compile_id: str
    name: str
    """Function name as torch gives it; resume functions are ``torch_dynamo_resume_in_F_at_LINE``."""
    file: str
    first_line: int
    outcome: Literal["compiled", "empty", "skipped", "failed"]
    """``compiled``: gave a graph; ``empty``: gave code but no graph; ``skipped``: runs in eager;
    ``failed``: raised to the caller."""
    ops: int = 0
    """Operations in its graph."""
    op_names: tuple[str, ...] = ()
    graphs: int = 0
    seconds: float = 0.0
    fail_type: str = ""
    fail_reason: str = ""
    callers: tuple[StackEntry, ...] = ()
    """The frames from the subject to this one (itself not included), outermost first."""
    silent: bool = False
    """Skipped with no break record at all."""
    limit_hit: bool = False
    """Skipped because it had been recompiled too often."""
    call: int = 0


@dataclass(frozen=True)
class Recompilation:
    """A frame was compiled again because no cached code's guards held."""

    compile_id: str
    name: str
    file: str
    first_line: int
    reasons: tuple[str, ...]
    """The guards that failed, newest cache entry first, as torch words them."""
    stack: tuple[StackEntry, ...] = ()
    """Where the guarded value is used, when torch says."""
    call: int = 0


@dataclass(frozen=True)
class Segment:
    """A stretch of one run of the subject: one call of a compiled graph, or eager ops between graphs."""

    kind: Literal["graph", "eager"]
    ops: int
    """aten operations dispatched in it."""
    compile_id: str = ""
    call: int = 0
    """Which call of the scenario it belongs to, from 0."""


@dataclass(frozen=True)
class TraceError:
    """An exception that ended a trial."""

    type: str
    message: str
    stack: tuple[StackEntry, ...] = ()
    gb_type: str = ""
    gb_id: str = ""


@dataclass
class ScenarioTrace:
    """Everything seen while one scenario was traced."""

    name: str
    calls: int = 0
    """Calls of the subject that were completed under ``torch.compile``."""
    inputs: list[str] = field(default_factory=list)
    """The inputs of each call, described."""
    breaks: list[BreakEvent] = field(default_factory=list)
    frames: list[FrameRecord] = field(default_factory=list)
    recompilations: list[Recompilation] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    explain: dict[str, Any] | None = None
    """``graph_count``, ``graph_break_count`` as ``torch._dynamo.explain`` gives them, and ``places``, the
    innermost frame of each of its break reasons; or ``error``."""
    fullgraph_ok: bool | None = None
    fullgraph_error: TraceError | None = None
    cross_check_breaks: int | None = None
    """Breaks and skipped frames left with scalar and dynamic-shape capture on; None: not needed."""
    errors: list[TraceError] = field(default_factory=list)
    """Exceptions that compiling brought (those that the model raises without it too end the run)."""
    trace_seconds: float = 0.0
    finished: bool = False

    def has_problems(self) -> bool:
        """Whether there may be a finding in it."""
        skipped = any(frame.outcome == "skipped" for frame in self.frames)
        return bool(self.breaks or self.errors or self.recompilations or skipped)


def to_plain(data: Any) -> Any:
    """A record, or a dict of records, as JSON-compatible data."""
    if dataclasses.is_dataclass(data) and not isinstance(data, type):
        return dataclasses.asdict(data)
    if isinstance(data, dict):
        return {key: to_plain(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [to_plain(item) for item in data]
    return data


def _stack(items: Any) -> tuple[StackEntry, ...]:
    return tuple(StackEntry(**item) for item in items)


def _break(data: dict[str, Any]) -> BreakEvent:
    return BreakEvent(**{**data, "hints": tuple(data["hints"]), "stack": _stack(data["stack"])})


def _frame(data: dict[str, Any]) -> FrameRecord:
    return FrameRecord(**{**data, "op_names": tuple(data["op_names"]), "callers": _stack(data["callers"])})


def _recompilation(data: dict[str, Any]) -> Recompilation:
    return Recompilation(**{**data, "reasons": tuple(data["reasons"]), "stack": _stack(data["stack"])})


def _error(data: dict[str, Any]) -> TraceError:
    return TraceError(**{**data, "stack": _stack(data["stack"])})


_FROM_PLAIN: dict[str, Callable[[Any], Any]] = {
    "break": _break,
    "frame": _frame,
    "recompilation": _recompilation,
    "segment": lambda data: Segment(**data),
    "error": _error,
    "explain": lambda data: {**data, "places": list(_stack(data.get("places", ())))},
    "fullgraph": lambda data: {**data, "error": _error(data["error"]) if data["error"] else None},
}


def from_plain(kind: str, data: Any) -> Any:
    """Undo `to_plain` for a message of this kind."""
    convert = _FROM_PLAIN.get(kind)
    return convert(data) if convert else data


class TraceLog:
    """Builds scenario traces from the messages of a run, one at a time.

    Whatever arrived before a run was cut short is there, in scenarios that are not ``finished``.
    """

    def __init__(self) -> None:
        self.scenarios: list[ScenarioTrace] = []

    def recompiles_within_a_call(self) -> bool:
        """Whether a frame was compiled anew in the first call already, as one that serves many layers is."""
        return any(one.call == 0 for trace in self.scenarios for one in trace.recompilations)

    def apply(self, kind: str, data: Any) -> None:
        """Take one message; kinds that do not belong to a scenario are passed over."""
        if kind == "scenario":
            self.scenarios.append(ScenarioTrace(data["name"]))
            return
        if not self.scenarios:
            return
        now = self.scenarios[-1]
        lists = {
            "break": now.breaks,
            "frame": now.frames,
            "recompilation": now.recompilations,
            "segment": now.segments,
            "error": now.errors,
        }
        if kind in lists:
            lists[kind].append(data)  # type: ignore[attr-defined]
        elif kind == "inputs":
            now.inputs.append(data["text"])
        elif kind == "call":
            now.calls = data["index"] + 1
        elif kind == "explain":
            now.explain = data
        elif kind == "fullgraph":
            now.fullgraph_ok, now.fullgraph_error = data["ok"], data["error"]
        elif kind == "cross_check":
            now.cross_check_breaks = data["breaks"]
        elif kind == "scenario_done":
            now.trace_seconds, now.finished = data["trace_seconds"], True
