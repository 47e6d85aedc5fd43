"""Source files as Python reads them: their lines, and the conversion of its columns."""

from __future__ import annotations

import io
import linecache
import re
import tokenize
from functools import lru_cache
from pathlib import Path

Position = tuple[int, int]
"""A line, 1-based, and an offset in it, 0-based, in UTF-8 bytes: what ``ast`` and the interpreter use."""

_NEWLINE = re.compile(r"\r\n|\r|\n")
"""What Python takes for the end of a line; form feeds and Unicode's separators are not."""


class SourceText:
    """The text of one file. Lines are 1-based; a line's text is without its newline."""

    def __init__(self, text: str) -> None:
        self.lines = _NEWLINE.split(text)
        if not self.lines[-1]:
            self.lines.pop()

    def line(self, number: int) -> str:
        """The text of a line, empty where there is none."""
        return self.lines[number - 1] if 1 <= number <= len(self.lines) else ""

    def column(self, position: Position) -> int:
        """The 1-based character column of a position; beyond the end of the line it is the end."""
        line, offset = position
        return len(self.line(line).encode()[:offset].decode(errors="ignore")) + 1

    def cut(self, start: Position, end: Position) -> str:
        """The text from one position up to another, lines parted by ``\\n``."""
        lines = [self.line(number) for number in range(start[0], end[0] + 1)]
        if not lines:
            return ""
        lines[-1] = lines[-1][: self.column(end) - 1]
        lines[0] = lines[0][self.column(start) - 1 :]
        return "\n".join(lines)

    def extent(self, number: int) -> tuple[Position, Position]:
        """Where the text of a line starts and ends, white space around it left out."""
        line = self.line(number)
        indent = len(line) - len(line.lstrip())
        return (number, len(line[:indent].encode())), (number, len(line.rstrip().encode()))


_STANDING_IN: dict[str, str] = {}


def stand_in(file: str, text: str) -> None:
    """From now on `read` gives ``text`` for ``file``, whatever is on disk: code that runs with a fix applied."""
    _STANDING_IN[file] = text


def read(file: str) -> SourceText | None:
    """The source of ``file``, or None where there is none.

    Sources that are only in memory (notebook cells, code made at run time) are taken from ``linecache``.
    """
    if file in _STANDING_IN:
        return _from_text(_STANDING_IN[file])
    try:
        content = Path(file).read_bytes()
    except (OSError, ValueError):
        lines = linecache.getlines(file)
        return _from_text("".join(lines)) if lines else None
    return _from_bytes(content)


@lru_cache(maxsize=64)
def _from_bytes(content: bytes) -> SourceText | None:
    """Decoded as Python would (PEP 263, byte order mark); None for what is not text, such as an extension."""
    if b"\0" in content:
        return None
    content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        text = content.decode(encoding, errors="replace")
    except (SyntaxError, LookupError):  # an encoding that there is not, or that is not one of text
        text = content.decode(errors="replace")
    return SourceText(text)


@lru_cache(maxsize=64)
def _from_text(text: str) -> SourceText:
    return SourceText(text)
