"""A start for ``[tool.breakfinder]``, from what a repository holds."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

from breakfinder.config import parse_toml
from breakfinder.errors import UsageError
from breakfinder.report.write import write_bytes
from breakfinder.survey import Candidate, Survey

MOST = 40
"""Candidates that are written."""
_HEAD = """[tool.breakfinder]
# Each table below is one target of `breakfinder check`, which runs them all.  Its keys are the options of `check`:
# scenarios = ["forward", "train"], timeout = 120, model-kwargs = { width = 64 }, ...
"""
_NOTHING = """
# Nothing was found to check.  A target is written like this:
# [tool.breakfinder.targets.net]
# target = "path/to/file.py:Net"
"""


def starter(found: Survey) -> str:
    """The tables; a candidate that cannot be checked as it is stands in a comment that says what is missing."""
    names = Counter(candidate.name for candidate in found.candidates)
    blocks = [
        _block(candidate, _unique(candidate) if names[candidate.name] > 1 else candidate.name)
        for candidate in found.candidates[:MOST]
    ]
    if more := len(found.candidates) - MOST:
        blocks += [f"# And {more} more that are not written here.\n"] if more > 0 else []
    return "\n".join([_HEAD, *blocks]) if blocks else _HEAD + _NOTHING


def _unique(candidate: Candidate) -> str:
    return re.sub(r"[^\w]+", "-", candidate.target.replace(".py:", "-")).strip("-")


def _block(candidate: Candidate, name: str) -> str:
    key = name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _string(name)
    lines = [f"[tool.breakfinder.targets.{key}]", f"target = {_string(candidate.target)}"]
    if candidate.ready:
        return "\n".join(lines) + "\n"
    missing = []
    if candidate.missing_inputs:
        missing.append("example inputs (define example_inputs beside it, or name a function below)")
        lines.append('inputs = "FILE.py:FUNCTION"')
    if candidate.unsure_inputs:
        missing.append("whether the file's example_inputs are for it (else name a function below)")
        lines.append('inputs = "FILE.py:FUNCTION"')
    if candidate.missing_arguments:
        missing.append(f"arguments of its constructor ({', '.join(candidate.missing_arguments)})")
        values = ", ".join(f"{argument} = ..." for argument in candidate.missing_arguments)
        lines.append(f"model-kwargs = {{ {values} }}")
    lines.insert(0, f"Missing, line {candidate.line}: {' and '.join(missing)}.")
    return "".join(f"# {line}\n" for line in lines)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def with_starter(path: Path, text: str) -> bytes:
    """The bytes of a pyproject.toml with the tables at its end, all that it holds left as it is.

    Raises UsageError if it has a ``[tool.breakfinder]`` table, is no TOML, or can take no further table.
    """
    try:
        old = path.read_bytes() if path.exists() else b""
        before = parse_toml(old.decode("utf-8-sig"), path)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}", "correct it first") from error
    tools = before.get("tool", {})
    if isinstance(tools, dict) and "breakfinder" in tools:
        raise UsageError(f"{path} has a [tool.breakfinder] table already", "edit it; nothing was changed")
    newline = "\r\n" if b"\r\n" in old else "\n"
    gap = "" if not old.strip() else "\n" if old.endswith(b"\n") else "\n\n"
    new = old + (gap + text).replace("\n", newline).encode()
    try:
        parse_toml(new.decode("utf-8-sig"), path)
    except UsageError as error:
        raise UsageError(
            f"{path} can take no further table: tool is written inline", "write [tool]"
        ) from error
    return new


def write_starter(path: Path, text: str) -> None:
    """Write it, all or nothing.  Raises UsageError as `with_starter` does, and if it cannot be written."""
    data = with_starter(path, text)
    try:
        write_bytes(path, data, keep_mode=True)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}", "see --dry-run") from error
