"""Why a file cannot be looked at."""

from __future__ import annotations


class Unreadable(Exception):
    """``reason`` in a few words; ``line``, from 1, shows it."""

    def __init__(self, reason: str, line: int = 1) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
