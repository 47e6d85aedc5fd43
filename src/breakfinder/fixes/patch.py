"""Edits as a patch, and as changes of the files."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterable
from pathlib import Path

from breakfinder.errors import UsageError
from breakfinder.fixes.edit import Edit
from breakfinder.report.write import write_bytes
from breakfinder.source.diff import unified_diff


def patch(edits: Iterable[Edit], root: Path) -> str:
    """All edits as one patch, with paths relative to ``root`` where the files lie below it."""
    return "".join(unified_diff(shown(edit.file, root), edit.before, edit.after) for edit in edits)


def shown(file: str, root: Path) -> str:
    """A file's path as a patch names it."""
    path = Path(file)
    base = root.resolve()
    return path.relative_to(base).as_posix() if path.is_relative_to(base) else path.as_posix().lstrip("/")


def write(edits: Iterable[Edit]) -> list[str]:
    """Write the files as they are after the edits, all or none; gives their paths.

    Each keeps its encoding, permissions and line ends.  Raises UsageError if one of them no longer is as it
    was read; nothing is written then.
    """
    ready: list[tuple[Path, bytes]] = []
    for edit in edits:
        path = Path(edit.file)
        content = path.read_bytes()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        if content.decode(encoding, errors="replace") != edit.before:
            raise UsageError(f"{path} has changed since it was analysed", "run the command again")
        ready.append((path, edit.after.encode(encoding)))
    for path, content in ready:
        write_bytes(path, content, keep_mode=True)
    return [str(path) for path, _ in ready]
