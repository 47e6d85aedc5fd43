"""The difference of two texts, as ``git apply`` takes it."""

from __future__ import annotations

import difflib

_NO_NEWLINE = "\n\\ No newline at end of file\n"


def unified_diff(name: str, before: str, after: str) -> str:
    """A unified diff of one file, empty if the texts are equal; ``name`` is its path in the repository.

    Lines end at ``\\n`` alone, as for git: form feeds and Unicode's separators, which Python's ``splitlines``
    takes for ends of lines, are part of a line.
    """
    lines = difflib.unified_diff(_lines(before), _lines(after), f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else line + _NO_NEWLINE for line in lines)


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + lines[-1:] * bool(lines[-1])
