"""What stays the same of a piece of code when it is moved or laid out anew."""

from __future__ import annotations

import ast
import copy
from hashlib import blake2b

from breakfinder.source.nodes import DEFINITIONS, Path, nodes_in_scope, scope_name, scopes

_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases", "decorator_list")


def digest(*parts: str) -> str:
    """16 hexadecimal digits that stand for these texts."""
    return blake2b("\0".join(parts).encode(errors="replace"), digest_size=8).hexdigest()


def normalised(node: ast.AST, code: str) -> str:
    """The text that stands for a node, whose source is ``code``: layout, comments, quotes and needless
    parentheses left out.  Of a statement it is the header; of a definition the name alone."""
    if isinstance(node, DEFINITIONS):
        return f"{'class' if isinstance(node, ast.ClassDef) else 'def'} {node.name}"
    shallow = copy.copy(node)
    if not isinstance(node, ast.expr):
        for block in _BLOCKS:
            if hasattr(node, block):
                setattr(shallow, block, [])
    try:
        return ast.unparse(shallow)
    except RecursionError:
        return " ".join(code.split())


def index_among_equal(path: Path) -> int:
    """How many nodes before the last one of a path are the same code, in functions of the same name."""
    tree, node = path[0], path[-1]
    assert isinstance(tree, ast.Module)
    index = 0
    for other in nodes_in_scope(tree, [scope_name(scope) for scope in scopes(path)]):
        if other is node:
            break
        index += _equal(other, node)
    return index


def _equal(left: ast.AST, right: ast.AST) -> bool:
    """Whether two nodes are the same code; of statements, whether their headers are."""
    todo: list[tuple[object, object]] = [(left, right)]
    while todo:
        one, other = todo.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, ast.AST):
            todo += [(getattr(one, name, None), getattr(other, name, None)) for name in _compared(one)]
        elif isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            todo += zip(one, other, strict=True)
        elif one != other:
            return False
    return True


def _compared(node: ast.AST) -> tuple[str, ...]:
    if isinstance(node, DEFINITIONS):
        return ("name",)
    if isinstance(node, ast.expr):
        return node._fields
    return tuple(name for name in node._fields if name not in _BLOCKS)
