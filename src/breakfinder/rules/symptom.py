"""What torch said about one problem, in one shape for all kinds of records."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from breakfinder.report.model import Location
from breakfinder.trace import BreakEvent, FrameRecord, Recompilation, TraceError

_SKIPPED = re.compile(r"(?:module: (?P<module>.+?), )?qualname: (?P<qualname>[^,]+), ")
_BUILTIN = re.compile(r"builtin (?P<name>\w+) \[")
_METHOD = re.compile(r"call_method (?P<owner>.+?\)|\S+) (?P<name>\w+)(?: |$)")
_CACHE_ENTRY = re.compile(r"^\d+/\d+: ")


@dataclass(frozen=True)
class Symptom:
    """One problem at one place, as torch told it."""

    kind: Literal["graph_break", "recompilation", "skipped_frame", "error"]
    location: Location
    gb_type: str = ""
    """torch's registry name of the break type; of an error that has none, the exception's type."""
    context: str = ""
    text: str = ""
    """torch's explanation; of a skipped frame or an error, its whole message."""
    hints: tuple[str, ...] = ()
    guards: tuple[str, ...] = ()
    """The guards that failed, one of each cache entry, newest entry first."""

    @property
    def guard(self) -> str:
        """The guard of the newest cache entry."""
        return self.guards[0] if self.guards else ""

    @cached_property
    def callee(self) -> str:
        """The function that torch names in its context, qualified as far as torch does so; or empty.

        ``warnings.warn`` is ``_warnings.warn``; the builtin ``print`` is ``builtins.print``; of a method
        called on a traced value only its name is known, ``.append``.
        """
        if found := _SKIPPED.match(self.context):
            return ".".join(filter(None, (found["module"], found["qualname"])))
        if found := _BUILTIN.match(self.context):
            return f"builtins.{found['name']}"
        if found := _METHOD.match(self.context):
            return f".{found['name']}"
        return ""


def of_break(event: BreakEvent, location: Location) -> Symptom:
    return Symptom(
        "graph_break", location, event.gb_type, event.context, event.explanation or event.reason, event.hints
    )


def of_recompilation(recompilation: Recompilation, location: Location) -> Symptom:
    guards = tuple(_CACHE_ENTRY.sub("", reason) for reason in recompilation.reasons)
    return Symptom("recompilation", location, guards=guards)


def of_skip(frame: FrameRecord, location: Location) -> Symptom:
    gb_type = "Dynamo recompile limit exceeded" if frame.limit_hit else ""
    return Symptom("skipped_frame", location, gb_type, text=frame.fail_reason)


def of_error(error: TraceError, location: Location) -> Symptom:
    return Symptom("error", location, error.gb_type or error.type, text=error.message)
