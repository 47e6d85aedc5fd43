"""The nodes of a syntax tree as this package sees them: each has a position, and each name a scope.

All walks over them are loops: source that nests deeper than Python's stack is no problem once it is parsed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise

from breakfinder.source.text import Position

Path = list[ast.AST]
"""Nodes from the module to the smallest that was asked for, each a child (`children`) of the one before."""

Statement = ast.stmt | ast.excepthandler | ast.match_case
"""What has a line to itself: statements and the clauses of ``try`` and ``match``."""

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_COMPREHENSIONS: dict[type[ast.AST], str] = {
    ast.ListComp: "<listcomp>",
    ast.SetComp: "<setcomp>",
    ast.DictComp: "<dictcomp>",
    ast.GeneratorExp: "<genexpr>",
}
_WITHOUT_POSITION = (ast.comprehension, ast.arguments, ast.withitem)
_PARTS_ONLY = (ast.Slice, ast.Starred, ast.FormattedValue)


def children(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes directly in a node; those without a position (``ast.arguments``) are replaced by theirs."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _WITHOUT_POSITION):
            yield from children(child)
        elif hasattr(child, "lineno") or isinstance(child, ast.match_case):
            yield child


def span(node: ast.AST) -> tuple[Position, Position]:
    """Where a node starts, decorators included, and ends."""
    if isinstance(node, ast.match_case):  # its keyword has no position, but begins a line
        return (node.pattern.lineno, 0), span(node.body[-1])[1]
    start = (node.lineno, node.col_offset)  # type: ignore[attr-defined]
    if isinstance(node, DEFINITIONS) and node.decorator_list:
        first = node.decorator_list[0]
        start = min(start, (first.lineno, first.col_offset))
    return start, (node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]


def is_expression(node: ast.AST, parent: ast.AST) -> bool:
    """Whether a node is an expression that could stand alone: not a slice, nor a piece of an f-string."""
    if not isinstance(node, ast.expr) or isinstance(node, _PARTS_ONLY):
        return False
    return not isinstance(
        parent, ast.JoinedStr if isinstance(node, ast.Constant) else ast.FormattedValue
    ) or (isinstance(parent, ast.FormattedValue) and node is parent.value)


def statement_of(path: Sequence[ast.AST]) -> Statement | None:
    """The innermost statement of a path."""
    return next((node for node in reversed(path) if isinstance(node, Statement)), None)


def to_expression(path: Path) -> Path:
    """The path up to its smallest expression that could stand alone; up to the statement if it has none."""
    for length in range(len(path), 1, -1):
        node = path[length - 1]
        if isinstance(node, Statement) or is_expression(node, path[length - 2]):
            return path[:length]
    return path[:1]


def header_expressions(statement: Statement) -> Iterator[ast.expr]:
    """The expressions of a statement that are not in the statements inside it, outer ones first."""
    todo: list[tuple[ast.AST, ast.AST]] = [(statement, statement)]
    while todo:
        node, parent = todo.pop()
        if isinstance(node, ast.expr) and is_expression(node, parent):
            yield node
        todo += [(child, node) for child in reversed([*children(node)]) if not isinstance(child, Statement)]


def scope_name(node: ast.AST) -> str:
    """The name of the code object that a node makes, empty if it makes none."""
    if isinstance(node, DEFINITIONS):
        return node.name
    return "<lambda>" if isinstance(node, ast.Lambda) else _COMPREHENSIONS.get(type(node), "")


def enters(node: ast.AST, child: ast.AST) -> bool:
    """Whether a child is in the scope that the node makes.

    Decorators, defaults, annotations and bases are in the scope around, and so is what the first ``for`` of
    a comprehension runs over.
    """
    if isinstance(node, DEFINITIONS):
        return isinstance(child, ast.stmt)
    if isinstance(node, ast.Lambda):
        return child is node.body
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return child is not node.generators[0].iter
    return False


def scopes(path: Sequence[ast.AST]) -> list[ast.AST]:
    """The functions, lambdas, comprehensions and classes around the last node of a path, outermost first."""
    return [node for node, child in pairwise(path) if enters(node, child)]


def qualified_name(scopes: Sequence[ast.AST]) -> str:
    """The name of the innermost scope, as ``__qualname__`` has it; empty for the module."""
    parts: list[str] = []
    for node in scopes:
        parts += [scope_name(node)] if isinstance(node, ast.ClassDef) else [scope_name(node), "<locals>"]
    return ".".join(parts).removesuffix(".<locals>")


def nodes_in_scope(tree: ast.Module, names: Sequence[str]) -> Iterator[ast.AST]:
    """The nodes directly in the scopes of these names, in the order of the source.

    There may be several such scopes: lambdas, the getter and the setter of a property.
    """
    todo: list[tuple[ast.AST, int]] = [(tree, 0)]
    while todo:
        node, depth = todo.pop()
        if depth == len(names):
            yield node
        name = scope_name(node)
        for child in reversed([*children(node)]):
            if not (name and enters(node, child)):
                todo.append((child, depth))
            elif depth < len(names) and name == names[depth]:
                todo.append((child, depth + 1))
