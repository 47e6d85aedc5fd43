"""A change of one file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Edit:
    """The text of one file before and after, each with the line ends of the file."""

    file: str
    """Its path, resolved."""
    before: str
    after: str
