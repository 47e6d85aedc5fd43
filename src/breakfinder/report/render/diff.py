"""Unified diffs, made ready to be shown: numbered, coloured, with what changed inside a line marked."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from markupsafe import Markup, escape

from breakfinder.report.render.excerpt import Line
from breakfinder.report.render.highlight import highlight
from breakfinder.report.render.visible import visible

Kind = Literal["add", "del", "same", "at", "file", "note"]

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_KINDS: dict[str, Kind] = {"+": "add", "-": "del", " ": "same", "": "same"}
_LEAST_SHARED = 0.4
"""Part of a line that must have stayed for the rest of it to be marked: else the mark says nothing."""


@dataclass(frozen=True)
class Row:
    """One line of a diff.

    ``text`` has no sign where ``kind`` is ``add``, ``del`` or ``same``.  ``number`` is the line's in the new
    file, or in the old one if it was removed; None for lines that are of neither.
    """

    kind: Kind
    text: str
    number: int | None = None
    mark: tuple[int, int] | None = None

    @property
    def sign(self) -> str:
        return {"add": "+", "del": "-", "same": " "}.get(self.kind, "")


def rows(diff: str) -> list[Row]:
    """The lines of a unified diff, as they stand; what is no diff gives notes."""
    return list(_rows(diff.removesuffix("\n").split("\n"))) if diff else []


def changed(diff: str) -> list[str]:
    """The removed and added lines, with their signs."""
    return [row.sign + row.text for row in rows(diff) if row.kind in ("add", "del")]


@functools.lru_cache(maxsize=256)
def diff_lines(diff: str) -> list[tuple[Row, Markup]]:
    """Each line and its markup, without the sign."""
    marked = _marked(rows(diff))
    code = _highlighted(marked, {"same", "del"}) | _highlighted(marked, {"same", "add"})
    return [(row, code.get(index, escape(visible(row.text)))) for index, row in enumerate(marked)]


def _rows(lines: Sequence[str]) -> Iterator[Row]:
    old = new = old_left = new_left = 0
    for line in lines:
        kind = _KINDS.get(line[:1]) if old_left > 0 or new_left > 0 else None
        if kind is not None:
            yield Row(kind, line[1:], old if kind == "del" else new)
            old, old_left = (old, old_left) if kind == "add" else (old + 1, old_left - 1)
            new, new_left = (new, new_left) if kind == "del" else (new + 1, new_left - 1)
        elif hunk := _HUNK.match(line):
            old, new = int(hunk[1]), int(hunk[3])
            old_left, new_left = int(hunk[2] or 1), int(hunk[4] or 1)
            yield Row("at", line)
        else:
            yield Row("file" if line.startswith(("--- ", "+++ ")) else "note", line)


def _marked(all_rows: list[Row]) -> list[Row]:
    """Where as many lines were added as removed before them, each pair with what differs in it marked."""
    result = list(all_rows)
    index = 0
    while index < len(result):
        start = index
        while index < len(result) and result[index].kind == "del":
            index += 1
        middle = index
        while index < len(result) and result[index].kind == "add":
            index += 1
        if middle - start == index - middle:
            for one, other in zip(range(start, middle), range(middle, index), strict=True):
                result[one], result[other] = _pair(result[one], result[other])
        index += index == start
    return result


def _pair(old: Row, new: Row) -> tuple[Row, Row]:
    shorter = min(len(old.text), len(new.text))
    front = next((at for at in range(shorter) if old.text[at] != new.text[at]), shorter)
    back = next(
        (at for at in range(shorter - front) if old.text[-1 - at] != new.text[-1 - at]), shorter - front
    )
    if front + back < _LEAST_SHARED * max(len(old.text), len(new.text)):
        return old, new

    def mark(row: Row) -> Row:
        end = len(row.text) - back
        return replace(row, mark=(front, end)) if front < end else row

    return mark(old), mark(new)


def _highlighted(all_rows: Sequence[Row], kinds: set[str]) -> dict[int, Markup]:
    """Markup by index of the rows of one side, so that words are coloured by what is around them there."""
    chosen = [(index, row) for index, row in enumerate(all_rows) if row.kind in kinds]
    lines = [Line(row.number or 0, row.text, row.mark) for _, row in chosen]
    return {index: markup for (index, _), markup in zip(chosen, highlight(lines), strict=True)}
