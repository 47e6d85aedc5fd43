"""Finding → the edits that may take it away."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from breakfinder.fixes.edit import Edit
from breakfinder.report.model import Finding
from breakfinder.rules import by_code, rewrites

_NEVER_CHANGED = ("torch", "python")
"""Owners whose code is not the user's to patch, nor a model's."""


@dataclass(frozen=True)
class Proposal:
    """One way to take a finding away."""

    rewrite: type[rewrites.Rewrite]
    edit: Edit
    """From the file as it was at the start to what it would be, earlier steps included."""


def propose(finding: Finding, edits: Mapping[str, Edit], root: Path) -> Iterator[Proposal]:
    """The proposals of the finding's rule that apply at its place, in the rule's order.

    ``edits`` are those made before, which the finding's position counts in.
    """
    location = finding.location
    if not location.file or location.owner in _NEVER_CHANGED:
        return
    file = str((root / location.file).resolve())
    before = edits[file].before if file in edits else _read(file)
    if before is None:
        return
    now = edits[file].after if file in edits else before
    start, end = (location.line, location.column), (location.end_line, location.end_column)
    for name in by_code(finding.rule).fixes:
        fix = rewrites.by_name(name)
        if fix.applicability == "manual":
            continue
        after = rewrites.rewrite(now, fix, start, end)
        if after is not None and after != now:
            yield Proposal(fix, Edit(file, before, after))


def _read(file: str) -> str | None:
    """The text of a source file with its own line ends; None if it cannot be read or is not text."""
    try:
        content = Path(file).read_bytes()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        return content.decode(encoding)
    except (OSError, SyntaxError, UnicodeDecodeError, LookupError):
        return None
