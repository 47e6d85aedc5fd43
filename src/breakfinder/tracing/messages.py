"""Reading what Dynamo says: graph break messages and guard failure reasons, which come as text.

Nothing here touches torch; the wording is that of torch 2.13 to 2.15, and text that is not understood is
kept whole rather than guessed at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from breakfinder.trace import StackEntry

_NESTED = re.compile(r"\n*\*\*\* While handling this graph break, another graph break occurred: \*\*\*\n*")
_REFERENCE = re.compile(r"For more details about this graph break, please visit: (\S+)")
_GB_LINK = re.compile(r"/gb(\d{4,})\.html")
_FIELD = re.compile(r"^  (Explanation|Hint|Developer debug context): ?", re.MULTILINE)
_USER_STACK = re.compile(r'^\s*File "(?P<file>.+?)", line (?P<line>\d+), in (?P<name>\S+)', re.MULTILINE)
_LOOP = "graph break in loop"


@dataclass(frozen=True)
class BreakMessage:
    """The parts of one graph break message; parts that it lacks are empty."""

    gb_type: str
    gb_id: str = ""
    explanation: str = ""
    hints: tuple[str, ...] = ()
    context: str = ""
    in_loop: bool = False
    """torch wrapped the real cause, which the other fields describe, in "graph break in loop"."""


def _dedent(text: str) -> str:
    """Undo the indentation that torch gives to continuation lines."""
    return "\n".join(line[4:] if line.startswith("    ") else line for line in text.strip().split("\n"))


def parse_break(message: str) -> BreakMessage:
    """The cause of a break.

    Where a break was met while another was handled, the first one is the cause and the rest are its
    consequences.
    """
    sections = [section for section in _NESTED.split(message) if section.strip()]
    if not sections:
        return BreakMessage(gb_type="")
    first = sections[0]
    in_loop = any(section.strip().startswith(_LOOP) for section in sections)
    link = _GB_LINK.search(first)
    body = first[: reference.start()] if (reference := _REFERENCE.search(first)) else first
    pieces = _FIELD.split(body)
    fields: dict[str, list[str]] = {}
    for name, value in zip(pieces[1::2], pieces[2::2], strict=True):
        fields.setdefault(name, []).append(_dedent(value))
    return BreakMessage(
        gb_type=pieces[0].strip().split("\n")[0],
        gb_id=f"GB{link[1]}" if link else "",
        explanation="\n".join(fields.get("Explanation", [])),
        hints=tuple(fields.get("Hint", [])),
        context="\n".join(fields.get("Developer debug context", [])),
        in_loop=in_loop,
    )


def reason_from_artifact(payload: str) -> str:
    """The break message inside the text of a ``dynamo_graph_break_reason`` artifact."""
    match = re.search(
        r"Graph Break Reason: (?:Failed to handle graph break gracefully\. Skipping the function and "
        r"falling back to eager\. Graph break encountered:\s+)?(.*?)(?:\n\nStack variable source attribution:|"
        r"\n\nUser code traceback:|\Z)",
        payload,
        re.DOTALL,
    )
    return match[1] if match else payload


def stack_from_text(text: str) -> tuple[StackEntry, ...]:
    """The frames of a formatted traceback, outermost first, without columns."""
    return tuple(
        StackEntry(file=match["file"], line=int(match["line"]), name=match["name"])
        for match in _USER_STACK.finditer(text)
    )


@dataclass(frozen=True)
class GuardFailure:
    """One failed guard: which cache entry had it, the guard, and where the guarded value is used."""

    cache_entry: str
    guard: str
    stack: tuple[StackEntry, ...] = ()


def parse_guard_failure(reason: str) -> GuardFailure:
    """A reason such as ``0/1: self.n == 3   # code  # file.py:7 in forward`` and its user stack."""
    head, _, tail = reason.partition("\nUser stack trace:\n")
    entry, separator, guard = head.partition(": ")
    if not separator or not re.fullmatch(r"[!\d/\[\]]+", entry):
        entry, guard = "", head
    guard = re.sub(r"\s+# .*", "", guard, flags=re.DOTALL).strip()
    return GuardFailure(cache_entry=entry, guard=guard, stack=stack_from_text(tail))
