"""Expressions that do not depend on the call they are in."""

from __future__ import annotations

import ast
import re

import libcst

from breakfinder.rules.pattern import bound
from breakfinder.rules.rewrites.rewrite import Site

_CHANGING = re.compile(
    r"(time|random|secrets|uuid|datetime|numpy\.random|torch\.(rand|cuda|random|Generator|manual_seed|initial_seed))\b"
    r"|torch\.(rand\w*|normal|bernoulli|multinomial)$|builtins\.(open|input|print|iter|next)$"
)
_PARTS = (ast.Call, ast.Attribute, ast.Subscript, ast.keyword)


def constant_around(site: Site) -> libcst.BaseExpression | None:
    """The largest expression around the place that reads no variable of a function; None if the place does."""
    node = site.known.get(site.node)
    while isinstance(node, ast.Attribute | ast.Name):
        node = site.function.parent(node)
    if not isinstance(node, ast.Call) or not _is_constant(node, site):
        return None
    largest: ast.AST = node
    around = site.function.parent(node)
    while isinstance(around, _PARTS) and (isinstance(around, ast.keyword) or _is_constant(around, site)):
        if not isinstance(around, ast.keyword):
            largest = around
        around = site.function.parent(around)
    found = site.nodes.get(largest)
    return found if isinstance(found, libcst.BaseExpression) else None


def _is_constant(node: ast.AST, site: Site) -> bool:
    own = variables(site)
    for part in ast.walk(node):
        if isinstance(part, ast.Lambda | ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
            return False
        if isinstance(part, ast.Name) and part.id in own:
            return False
        if isinstance(part, ast.Call) and _CHANGING.match(site.names.dotted(part.func)):
            return False
    return True


def variables(site: Site) -> set[str]:
    """The names that the function and those around it bind."""
    found: set[str] = set()
    function = site.function
    while function is not None:
        found |= bound(function.node)
        if function.outer is None:
            break
        function = function.outer
    return found


def callee_name(node: libcst.CSTNode) -> str:
    """The last name of what an expression calls first of all, without underscores around it."""
    todo = [node]
    name = ""
    while todo:
        part = todo.pop()
        if isinstance(part, libcst.Call):
            called = part.func.attr if isinstance(part.func, libcst.Attribute) else part.func
            name = called.value.strip("_") if isinstance(called, libcst.Name) else name
        todo += part.children
    return name or "value"
