"""A change of one file."""

from __future__ import annotations

import difflib
from dataclasses import dataclass


@dataclass(frozen=True)
class Edit:
    """The text of one file before and after, each with the line ends of the file."""

    file: str
    """Its path, resolved."""
    before: str
    after: str

    def line_before(self, line: int) -> int:
        """The line of the text before that a line of the text after stands for."""
        before, after = self.before.splitlines(), self.after.splitlines()
        matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
        for _, start, end, now, now_end in matcher.get_opcodes():
            if now < line <= now_end:
                return min(start + line - now, max(end, start + 1))
        return line
