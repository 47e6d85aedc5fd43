"""The code of a Jupyter notebook as one module."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from typing import Any

from breakfinder.lint.unreadable import Unreadable

_MAGIC = re.compile(r"\s*(?:[%!?]|[^#]*\?\s*$)")
"""A line that IPython, not Python, reads: ``%time``, ``!ls``, ``?name``, ``name?``."""
_ASSIGNED_MAGIC = re.compile(r"(\s*[\w., \[\]]+=\s*)[%!].*")
"""``files = !ls``"""
_CELL_OF_PYTHON = re.compile(r"\s*%%(?:time|timeit|capture|prun|python3?)\b")
"""A cell magic after which there is Python."""


@dataclass(frozen=True)
class Notebook:
    """The code cells joined, each followed by a new line; a line of the text is a line of a cell."""

    text: str
    cells: tuple[tuple[int, int], ...]
    """For each code cell its number among all cells, from 1, and the line of the text with which it begins."""


def read_notebook(content: str) -> Notebook:
    """The Python in a notebook's JSON; raises `Unreadable` for what is no notebook."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"it is no notebook: {error}", getattr(error, "lineno", 1)) from error
    cells = document.get("cells") if isinstance(document, dict) else None
    if not isinstance(cells, list):
        raise Unreadable("it is no notebook of version 4: it has no list of cells")
    parts: list[str] = []
    numbered = []
    line = 1
    for number, cell in enumerate(cells, 1):
        code = _code(cell)
        if code is not None:
            numbered.append((number, line))
            parts.append(code + "\n")
            line += code.count("\n") + 1
    return Notebook("".join(parts), tuple(numbered))


def _code(cell: Any) -> str | None:
    """The Python of a cell, with as many lines as it has; None for a cell of text."""
    if not isinstance(cell, dict) or cell.get("cell_type") != "code":
        return None
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    if not isinstance(source, str):
        return None
    return without_magics(source.replace("\r\n", "\n").replace("\r", "\n"))


def without_magics(code: str) -> str:
    """A cell's code with ``pass`` in place of each line of IPython's own; of code that is Python, the same."""
    if "\0" in code or _parses(code):
        return code
    lines = code.split("\n")
    if lines[0].lstrip().startswith("%%"):
        if not _CELL_OF_PYTHON.match(lines[0]):
            return "\n" * (len(lines) - 1)
        lines[0] = ""
    out: list[str] = []
    indent = ""
    goes_on = False
    for line in lines:
        assigned = None if goes_on else _ASSIGNED_MAGIC.fullmatch(line)
        if assigned:
            out.append(f"{assigned[1]}None")
        elif goes_on or _MAGIC.match(line):
            indent = indent if goes_on else line[: len(line) - len(line.lstrip())]
            out.append(f"{indent}pass")
        else:
            out.append(line)
        goes_on = out[-1] != line and line.endswith("\\")
    return "\n".join(out)


def _parses(code: str) -> bool:
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
