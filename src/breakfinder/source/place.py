"""One frame → the place in its file."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from breakfinder.report.model import Location
from breakfinder.source import nodes, syntax
from breakfinder.source.identity import digest, index_among_equal, normalised
from breakfinder.source.ownership import module_path, owner, shown_path
from breakfinder.source.syntax import Syntax
from breakfinder.source.text import Position, SourceText, read
from breakfinder.trace import StackEntry

CONTEXT = 3
"""Lines of the snippet before and after the place."""
MOST_LINES = 24
MOST_CHARACTERS = 20_000
"""Of a snippet; an expression and a statement have a fifth of it."""

_RESUME = re.compile(r"torch_dynamo_resume_in_(?P<name>.+)_at_(?P<line>\d+)")
_INLINED = ("<listcomp>", "<setcomp>", "<dictcomp>")
"""Comprehensions that run in the frame around them since Python 3.12 (a generator never does)."""


def resumed_function(name: str) -> tuple[str, int] | None:
    """The function that a resume function resumes and the line where it does; None for any other name."""
    match = _RESUME.fullmatch(name)
    if match is None:
        return None
    inner = resumed_function(match["name"])
    return (inner[0] if inner else match["name"]), int(match["line"])


def function_name(entry: StackEntry) -> str:
    """The name of a frame's function; for a resume function, of the one that it resumes."""
    resumed = resumed_function(entry.name)
    return resumed[0] if resumed else entry.name


def qualified_name_at(entry: StackEntry) -> str:
    """The qualified name of a frame's function where its source tells it, else the name alone."""
    text = read(entry.file)
    return _qualified_name(text, entry) if text is not None else function_name(entry)


@lru_cache(maxsize=4096)
def _qualified_name(text: SourceText, entry: StackEntry) -> str:
    tree, name = syntax.parse(text), function_name(entry)
    if isinstance(tree, str):
        return name
    path = tree.path_to(*(_recorded(entry) or text.extent(entry.line)))
    scopes = _with_frame(_scopes_of_frame(path, entry), name)
    return nodes.qualified_name(scopes) if scopes and nodes.scope_name(scopes[-1]) == name else name


def place_at(entry: StackEntry, root: Path | None) -> Location:
    """The place where a frame is.

    Where columns were recorded, the range is exactly what was recorded and the expression the smallest that
    covers it.  Where none were, the expression is the widest that starts on the line (`Syntax.path_to_line`).
    Without source or where it does not parse, ``note`` says so and the place is the line.
    """
    text = read(entry.file)
    if text is None:
        return _unread(entry, f"There is no source for {shown_path(entry.file, root)}.", root)
    if entry.line > len(text.lines):
        note = f"The file has only {len(text.lines)} lines now: it has changed since it was imported."
        return _unread(entry, note, root)
    tree = syntax.parse(text)
    if isinstance(tree, str):
        return _unparsed(entry, text, f"The file cannot be parsed ({tree}).", root)
    recorded = _recorded(entry)
    found = tree.path_to(*recorded) if recorded else tree.path_to_line(entry.line)
    path = nodes.to_expression(found)
    node = path[-1]
    if recorded is not None and isinstance(node, ast.If | ast.While | ast.Assert):
        # Of such a statement only the test is run; its jump has the position of the whole header.
        path, recorded = [*path, node.test], nodes.span(node.test)
        node = node.test
    if isinstance(node, ast.Module):
        return _unparsed(entry, text, "There is no statement here: the file may have changed.", root)
    start, end = recorded or _on_line(tree, node, entry.line)
    if not isinstance(node, ast.expr):
        end = max(start, min(end, tree.extent(node)[1]))
    location = _location(entry.file, tree, path, (start, end), _scopes_of_frame(path, entry), root)
    return location.model_copy(update={"note": _doubts(entry, path, recorded is not None)})


def place_of_function(file: str, first_line: int, name: str, root: Path | None) -> Location:
    """The place of the name in a function's ``def``; ``qualname`` is the function's own."""
    text = read(file)
    tree = syntax.parse(text) if text is not None else ""
    path = tree.function(first_line, name) if isinstance(tree, Syntax) else None
    if path is None or not isinstance(tree, Syntax):
        return place_at(StackEntry(file, first_line, name), root)
    extent = tree.name_of(path[-1])
    location = _location(file, tree, path, extent, [*nodes.scopes(path), path[-1]], root)
    return location.model_copy(update={"expression": _capped(tree.text.cut(*extent))})


def _location(
    file: str,
    tree: Syntax,
    path: nodes.Path,
    extent: tuple[Position, Position],
    scopes: list[ast.AST],
    root: Path | None,
) -> Location:
    start, end = extent
    node, statement = path[-1], nodes.statement_of(path)
    qualname, code = nodes.qualified_name(scopes), tree.code(node)
    same_before = str(index_among_equal(path))
    return Location(
        file=shown_path(file, root),
        line=start[0],
        column=tree.text.column(start),
        end_line=end[0],
        end_column=tree.text.column(end),
        qualname=qualname,
        owner=owner(file),
        expression=_capped(code),
        statement=_capped(tree.code(statement)) if statement is not None else "",
        fingerprint=digest(module_path(file, root), qualname, normalised(node, code), same_before),
        **_snippet(tree.text, start[0], end[0]),
    )


def _unread(entry: StackEntry, note: str, root: Path | None) -> Location:
    """What is known of a place without its source."""
    name = function_name(entry)
    return Location(
        file=shown_path(entry.file, root),
        line=entry.line,
        end_line=entry.line,
        qualname=name,
        owner=owner(entry.file),
        note=note,
        fingerprint=digest(module_path(entry.file, root), name, ""),
    )


def _unparsed(entry: StackEntry, text: SourceText, note: str, root: Path | None) -> Location:
    """A place in a file that has lines but no syntax tree."""
    start, end = _recorded(entry) or text.extent(entry.line)
    name = function_name(entry)
    expression = text.cut(start, end)
    return Location(
        file=shown_path(entry.file, root),
        line=start[0],
        column=text.column(start),
        end_line=end[0],
        end_column=text.column(end),
        qualname=name,
        owner=owner(entry.file),
        expression=_capped(expression),
        statement=_capped(text.line(entry.line).strip()),
        note=note,
        fingerprint=digest(module_path(entry.file, root), name, " ".join(expression.split())),
        **_snippet(text, start[0], end[0]),
    )


def _recorded(entry: StackEntry) -> tuple[Position, Position] | None:
    """The range that the interpreter recorded, None where it has none or an empty one."""
    if entry.column is None or entry.end_column is None:
        return None
    start, end = (entry.line, entry.column), (entry.end_line or entry.line, entry.end_column)
    return (start, end) if start < end else None


def _on_line(tree: Syntax, node: ast.AST, line: int) -> tuple[Position, Position]:
    """The range of a node that was chosen for its line; all of the line if the node starts elsewhere."""
    start, end = tree.extent(node)
    return (start, end) if start[0] == line else tree.text.extent(line)


def _scopes_of_frame(path: nodes.Path, entry: StackEntry) -> list[ast.AST]:
    """The scopes around a place; a frame can also be at the whole of its own code, as of a comprehension."""
    scopes, name = nodes.scopes(path), function_name(entry)
    made_here = nodes.scope_name(path[-1]) == name and not (scopes and nodes.scope_name(scopes[-1]) == name)
    return [*scopes, path[-1]] if made_here else scopes


def _with_frame(scopes: list[ast.AST], name: str) -> list[ast.AST]:
    """The scopes up to that of a frame of this name: since Python 3.12 most comprehensions have no frame."""
    while scopes and nodes.scope_name(scopes[-1]) in _INLINED and nodes.scope_name(scopes[-1]) != name:
        scopes = scopes[:-1]
    return scopes


def _doubts(entry: StackEntry, path: nodes.Path, exact: bool) -> str:
    name = function_name(entry)
    scopes = _with_frame(_scopes_of_frame(path, entry), name)
    if name != (nodes.scope_name(scopes[-1]) if scopes else "<module>"):
        return (
            f"Expected in {name}, which is not at this line: the file may have changed since it was imported."
        )
    return (
        "" if exact else "No columns were recorded: the widest expression that starts on the line is shown."
    )


def _capped(code: str) -> str:
    limit = MOST_CHARACTERS // 5
    return code if len(code) <= limit else code[: limit - 1] + "…"


def _snippet(text: SourceText, first: int, last: int) -> dict[str, Any]:
    """The ``snippet`` and ``snippet_line`` of a place: fewer lines, or a part of one, where they are long."""
    start = max(1, first - CONTEXT)
    end = min(len(text.lines), last + CONTEXT, start + MOST_LINES - 1)
    lines = text.lines[start - 1 : end]
    if sum(map(len, lines)) > MOST_CHARACTERS:
        start, lines = first, [text.line(first)[:MOST_CHARACTERS]]
    return {"snippet": "\n".join(lines), "snippet_line": start}
