"""Errors that are for the user: one line that says what is wrong and where, and what to do next."""

from __future__ import annotations


class UsageError(Exception):
    """Something that the user gave cannot be used; the command exits with 2.

    ``message`` says what is wrong and where; ``hint`` what to do next.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
