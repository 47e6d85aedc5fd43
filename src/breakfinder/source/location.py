"""Which frame of a stack is shown, and everything that is known about the place in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from breakfinder.report.model import Location, StackFrame
from breakfinder.source.identity import digest
from breakfinder.source.ownership import module_path, owner, shown_path
from breakfinder.source.place import (
    function_name,
    place_at,
    place_of_function,
    qualified_name_at,
    resumed_function,
)
from breakfinder.source.text import read
from breakfinder.trace import StackEntry

_MACHINERY = ("torch", "python")
"""Owners whose code only carries out what other code asks of it."""
MOST_CHARACTERS = 2_000
"""Of a source line in a stack."""


def locate(stack: Sequence[StackEntry], *, root: Path | None = None) -> Location:
    """The place that is shown first for a stack (outermost frame first).

    The *place* is the innermost frame of the user's own code; where there is none, the innermost frame that
    is neither torch's nor the standard library's; where there is none either, the innermost.  If it has no
    source, its nearest caller that has some stands in.

    The *owner* is whose code has the problem: that of the innermost frame that is neither torch's nor the
    standard library's.  What happens in torch or in ``copy.py`` is put down to the code that called it, so
    ``user`` means that a change of the user's code mends it.  A user's model that calls a library which
    breaks by itself is shown at the user's call but is owned by the library: a gate on ``user`` passes it.

    ``note`` says where it really happens whenever that is not the place shown, and what is not exact.
    The fingerprint holds the place shown and, where a library owns the problem, the place in the library.
    """
    if not stack:
        return Location(file="", line=0, end_line=0, owner="", note="No Python frame was recorded.")
    owners = [owner(entry.file) for entry in stack]
    blamed = _innermost(owners, lambda name: name not in _MACHINERY, len(stack) - 1)
    shown = _with_source(stack, _innermost(owners, lambda name: name == "user", blamed))
    location = place_at(stack[shown], root)
    fingerprint = location.fingerprint
    if blamed > shown:
        fingerprint = digest(fingerprint, place_at(stack[blamed], root).fingerprint)
    note = " ".join(filter(None, [_deeper(stack[-1], root) if shown < len(stack) - 1 else "", location.note]))
    return location.model_copy(update={"owner": owners[blamed], "note": note, "fingerprint": fingerprint})


def locate_function(file: str, first_line: int, name: str, *, root: Path | None = None) -> Location:
    """The place of the function whose code object has this first line and name: its name in its ``def``.

    The first line of a decorated function is its decorator's.  ``qualname`` is the function's own.  For a
    resume function the place is where it resumes.
    """
    resumed = resumed_function(name)
    if resumed is not None:
        rest = place_at(StackEntry(file, resumed[1], resumed[0]), root)
        note = f"From here on, as the rest of {rest.qualname or resumed[0]} after a graph break."
        return rest.model_copy(update={"note": note, "fingerprint": digest(rest.fingerprint, "rest")})
    return place_of_function(file, first_line, name, root)


def describe_stack(stack: Sequence[StackEntry], *, root: Path | None = None) -> list[StackFrame]:
    """The frames of a stack, outermost first, each with its source line (empty where there is none).

    Functions have their qualified names, except torch's and the standard library's.
    """
    frames = []
    for entry in stack:
        text, whose = read(entry.file), owner(entry.file)
        frames.append(
            StackFrame(
                file=shown_path(entry.file, root),
                line=entry.line,
                function=function_name(entry) if whose in _MACHINERY else qualified_name_at(entry),
                owner=whose,
                code=text.line(entry.line).strip()[:MOST_CHARACTERS] if text is not None else "",
            )
        )
    return frames


def _innermost(owners: Sequence[str], wanted: Callable[[str], bool], default: int) -> int:
    return next((index for index in reversed(range(len(owners))) if wanted(owners[index])), default)


def _with_source(stack: Sequence[StackEntry], start: int) -> int:
    """The nearest frame with source from ``start`` outward, ``start`` itself if there is none."""
    for index in range(start, -1, -1):
        text = read(stack[index].file)
        if text is not None and stack[index].line <= len(text.lines):
            return index
    return start


def _deeper(entry: StackEntry, root: Path | None) -> str:
    """The note for a place that is not the innermost frame, which is this entry."""
    at = f"{entry.line}, in {entry.name}"
    if read(entry.file) is None:
        gone = f"{shown_path(entry.file, root)}:{at}"
        return f"It happens in {gone}, which has no source; this is the nearest caller that can be shown."
    return (
        f"It happens deeper, in {module_path(entry.file, root)}:{at} ({owner(entry.file)}), which this calls."
    )
