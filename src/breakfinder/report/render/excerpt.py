"""The source lines of a finding, made ready to be shown: dedented, clipped, with the place marked."""

from __future__ import annotations

import re
from dataclasses import dataclass

from breakfinder.report.model import Location

LONGEST_LINE = 240
"""Characters of a line that are shown; generated code has lines of many thousands."""
MOST_LINES = 24
TAB = "    "

_NEWLINE = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class Line:
    """One source line. ``mark`` is the range of the expression in ``text``: 0-based characters."""

    number: int
    text: str
    mark: tuple[int, int] | None = None


def excerpt(location: Location, *, context: int | None = None) -> list[Line]:
    """The lines of the location's snippet, with ``context`` lines around the marked ones (None: all).

    Empty where there is no source.
    """
    if not location.snippet:
        return []
    lines = [_line(location, location.snippet_line + row, text) for row, text in enumerate(_rows(location))]
    if context is not None:
        first, last = location.line - context, location.end_line + context
        lines = [line for line in lines if first <= line.number <= last]
    return _dedent(_shorten(lines, location.line))


def _rows(location: Location) -> list[str]:
    rows = _NEWLINE.split(location.snippet)
    if rows and not rows[-1]:
        rows.pop()
    return rows


def _line(location: Location, number: int, text: str) -> Line:
    if not location.line <= number <= location.end_line:
        return Line(number, text.replace("\t", TAB))
    start = location.column - 1 if number == location.line else 0
    end = location.end_column - 1 if number == location.end_line else len(text)
    if location.line == location.end_line and end <= start:  # columns unknown
        start, end = 0, len(text)
    indent = len(text) - len(text.lstrip())
    start, end = max(start, indent), min(end, len(text.rstrip()))
    shift = [len(text[:index].replace("\t", TAB)) for index in (start, end)]
    mark = (shift[0], shift[1]) if start < end else None
    return Line(number, text.replace("\t", TAB), mark)


def _shorten(lines: list[Line], first_marked: int) -> list[Line]:
    """At most `MOST_LINES` lines, from shortly before the marked ones."""
    if len(lines) <= MOST_LINES:
        return lines
    before = [line for line in lines if line.number < first_marked][-4:]
    return (before + [line for line in lines if line.number >= first_marked])[:MOST_LINES]


def _dedent(lines: list[Line]) -> list[Line]:
    indents = [len(line.text) - len(line.text.lstrip(" ")) for line in lines if line.text.strip()]
    return [_clip(_cut(line, min(indents, default=0))) for line in lines]


def _cut(line: Line, count: int) -> Line:
    mark = (max(line.mark[0] - count, 0), max(line.mark[1] - count, 0)) if line.mark else None
    return Line(line.number, line.text[count:], mark)


def _clip(line: Line) -> Line:
    """At most `LONGEST_LINE` characters, the beginning of the mark among them."""
    if len(line.text) <= LONGEST_LINE:
        return line
    start = line.mark[0] - LONGEST_LINE // 4 if line.mark and line.mark[0] > LONGEST_LINE // 2 else 0
    text = line.text[start : start + LONGEST_LINE]
    mark = (line.mark[0] - start, min(line.mark[1] - start, len(text))) if line.mark else None
    if start:
        text, mark = "…" + text, (mark[0] + 1, mark[1] + 1) if mark else None
    return Line(line.number, text + "…", mark)
