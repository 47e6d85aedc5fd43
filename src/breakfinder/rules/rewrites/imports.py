"""Add import statements to the text of a file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable


def with_imports(text: str, wanted: Iterable[str]) -> str:
    """The text with the import statements that it does not have yet, among its other ones.

    Raises SyntaxError for a text that does not parse.
    """
    for statement in wanted:
        tree = ast.parse(re.sub(r"\r\n?", "\n", text))
        if not _has(tree, statement):
            text = _insert(text, tree, statement)
    return text


def _has(tree: ast.Module, statement: str) -> bool:
    """Whether the top of a module imports the same, in a ``try`` or an ``if`` too."""
    (wanted,) = ast.parse(statement).body
    todo: list[ast.AST] = [*tree.body]
    while todo:
        node = todo.pop()
        if type(node) is type(wanted) and _what(node) >= _what(wanted):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            todo += ast.iter_child_nodes(node)
    return False


def _what(node: ast.AST) -> set[tuple[str, str, str | None]]:
    assert isinstance(node, ast.Import | ast.ImportFrom)
    source = node.module or "" if isinstance(node, ast.ImportFrom) else ""
    return {(source, alias.name, alias.asname) for alias in node.names}


def _insert(text: str, tree: ast.Module, statement: str) -> str:
    """After the last plain import of the first ones, else after those from modules, else at the top."""
    head = list[ast.stmt]()
    for node in tree.body:
        docstring = node is tree.body[0] and ast.get_docstring(tree, clean=False) is not None
        if not docstring and not isinstance(node, ast.Import | ast.ImportFrom):
            break
        head.append(node)
    plain = [node for node in head if isinstance(node, ast.Import)]
    others = [node for node in head if isinstance(node, ast.ImportFrom) and node.module != "__future__"]
    lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n|\Z)", text)
    newline = next(iter(re.findall(r"\r\n|\r|\n", text)), "\n")
    if plain or others:
        after = (plain or others)[-1]
        line = max(node.end_lineno or 0 for node in tree.body if node.lineno <= (after.end_lineno or 0))
        return _joined(lines, line, [statement], newline)
    if head:
        line = max(node.end_lineno or 0 for node in tree.body if node.lineno <= (head[-1].end_lineno or 0))
        blank = line < len(lines) and not lines[line].strip()
        return _joined(lines, line, ["", statement] if blank else ["", statement, ""], newline)
    line = _first_line(lines)
    return _joined(lines, line, [statement, ""], newline)


def _first_line(lines: list[str]) -> int:
    """How many lines at the top are for the system and the encoding, or a comment that heads the file."""
    count = 0
    while count < len(lines) and lines[count].startswith("#"):
        count += 1
    blank = count < len(lines) and not lines[count].strip()
    return (
        count + 1
        if count and blank
        else min(count, 2)
        if count and re.match(r"#(!|.*coding)", lines[0])
        else 0
    )


def _joined(lines: list[str], line: int, added: list[str], newline: str) -> str:
    before = lines[:line]
    if before and not before[-1].endswith(("\r", "\n")):
        before[-1] += newline
    return "".join((*before, *(text + newline for text in added), *lines[line:]))
