"""What a class or a module keeps between calls, for source patterns that look beyond one function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from breakfinder.rules.pattern import bound
from breakfinder.source.dataflow import Function

_CONSTRUCTORS = ("__init__", "__post_init__")


def own(node: ast.AST | None) -> str:
    """The name of an attribute of ``self``; empty for any other node."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return node.attr
    return ""


def initial(function: Function, attribute: str) -> ast.expr | None:
    """What the class of a method sets an attribute to when an object is made, where that is one value."""
    if function.owner is None or in_constructor(function):
        return None
    values = _initial_values(function.owner).get(attribute, ())
    return values[0] if len(values) == 1 else None


def global_value(node: ast.AST | None, function: Function) -> ast.expr | None:
    """What a module sets a name to at its top, where that is one value and the name is not one of the function's."""
    if not isinstance(node, ast.Name) or node.id not in function.names.assigned:
        return None
    return None if node.id in bound(function.node) else function.names.assigned[node.id]


def value(node: ast.AST | None, function: Function) -> ast.expr | None:
    """What an attribute of ``self`` or a global name is set to at first."""
    return initial(function, own(node)) or global_value(node, function)


def in_constructor(function: Function) -> bool:
    return getattr(function.node, "name", "") in _CONSTRUCTORS


def is_first_use(node: ast.expr, function: Function) -> bool:
    """Whether a function uses an attribute of ``self`` nowhere before this node."""
    uses = (other for other in ast.walk(function.node) if isinstance(other, ast.Attribute))
    same = (other for other in uses if own(other) == own(node))
    return not any((other.lineno, other.col_offset) < (node.lineno, node.col_offset) for other in same)


@lru_cache(maxsize=256)
def _initial_values(owner: ast.ClassDef) -> dict[str, tuple[ast.expr, ...]]:
    found: dict[str, tuple[ast.expr, ...]] = {}
    for target, value in _assignments(owner):
        name = target.id if isinstance(target, ast.Name) else own(target)
        if name:
            found[name] = (*found.get(name, ()), value)
    return found


def _assignments(owner: ast.ClassDef) -> Iterator[tuple[ast.expr, ast.expr]]:
    statements: list[ast.AST] = [item for item in owner.body if isinstance(item, ast.Assign | ast.AnnAssign)]
    for item in owner.body:
        if isinstance(item, ast.FunctionDef) and item.name in _CONSTRUCTORS:
            statements += [node for node in ast.walk(item) if own_target(node)]
    for node in statements:
        if isinstance(node, ast.Assign):
            yield from ((target, node.value) for target in node.targets)
        elif isinstance(node, ast.AnnAssign) and node.value:
            yield node.target, node.value


def own_target(node: ast.AST) -> str:
    """The attribute of ``self`` that a statement assigns to; empty for any other node."""
    if isinstance(node, ast.Assign):
        return next(filter(None, map(own, node.targets)), "")
    return own(node.target) if isinstance(node, ast.AnnAssign | ast.AugAssign) else ""


@lru_cache(maxsize=256)
def calls_in(owner: ast.ClassDef, *, constructor: bool = False) -> tuple[ast.Call, ...]:
    """Every call in a class, or in its constructor."""
    parts = [part for part in owner.body if not constructor or getattr(part, "name", "") in _CONSTRUCTORS]
    return tuple(node for part in parts for node in ast.walk(part) if isinstance(node, ast.Call))
