"""One place in source code that looks like a problem."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from breakfinder.rules.pattern import Confidence


@dataclass(frozen=True)
class LintFinding:
    """What `lint` found at one place.

    Lines are 1-based; columns are 1-based characters, ``end_column`` exclusive.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    rule: str
    title: str
    confidence: Confidence = "high"
    qualname: str = ""
    """Of the function that it is in, as ``__qualname__`` has it."""
    expression: str = ""
    fixable: str = ""
    """``safe`` or ``review`` where a fix may take it away, else empty."""
    cell: int | None = None
    """The cell of a notebook that the lines count in, from 1."""

    def __lt__(self, other: LintFinding) -> bool:
        return self._place() < other._place()

    def _place(self) -> tuple[str, int, int, int, str]:
        return self.file, self.cell or 0, self.line, self.column, self.rule

    def as_dict(self) -> dict[str, Any]:
        """For JSON; ``LintFinding(**…)`` takes it back."""
        return asdict(self)
