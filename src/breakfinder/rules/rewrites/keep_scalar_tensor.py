"""item(), float() and int() of a tensor: the tensor itself."""

from __future__ import annotations

import ast

import libcst

from breakfinder.rules.pattern import call_of
from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.tree import atom, expression, replaced
from breakfinder.rules.rewrites.uses import stays_tensor
from breakfinder.source.dataflow import Function

_REDUCTIONS = frozenset(
    (
        "max",
        "min",
        "sum",
        "mean",
        "std",
        "var",
        "norm",
        "prod",
        "median",
        "any",
        "all",
        "argmax",
        "argmin",
        "amax",
        "amin",
        "nansum",
        "nanmean",
        "logsumexp",
    )
)
_WHOLE = ("round", "floor", "ceil", "trunc", "long", "int")


class KeepScalarTensor(Rewrite):
    title = "Keep the number as a tensor, with `.detach()`"
    condition = "The tensor has one element, and a tensor of no dimensions does where the number did."

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        function = site.function
        call = _outermost(site.known.get(site.node), function)
        if call is None or not stays_tensor(call, function):
            return None
        tensor, whole = _converted(call, function), False
        while (inner := _converted(tensor, function)) is not None:
            tensor = inner
        here: ast.AST | None = call
        while isinstance(here, ast.Call) and here is not tensor:
            whole = whole or bool(call_of(here, function, r"builtins\.int"))
            here = _converted(here, function)
        node, value = site.nodes.get(call), site.nodes.get(tensor) if tensor else None
        if node is None or not isinstance(value, libcst.BaseExpression) or tensor is None:
            return None
        template = "{value}.detach()"
        if not _has_no_dimensions(tensor, function):
            template += ".reshape(())"
        if whole and not _is_whole(tensor, function):
            template += ".trunc()"
        new = expression(template, value=atom(value))
        return Changed(replaced(site.tree, {node: lambda _: new}))


def _converted(node: ast.AST | None, function: Function) -> ast.expr | None:
    """The tensor that a call makes a number of; None for anything else."""
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    if isinstance(node.func, ast.Attribute) and node.func.attr == "item" and not node.args:
        return node.func.value
    if len(node.args) != 1 or isinstance(node.args[0], ast.Starred):
        return None
    return node.args[0] if call_of(node, function, r"builtins\.(float|int)") else None


def _outermost(node: ast.AST | None, function: Function) -> ast.Call | None:
    """The outermost of the conversions at a place: of ``float(t.item())`` the whole."""
    while isinstance(node, ast.expr) and _converted(node, function) is None:
        around = function.parent(node)
        if not isinstance(around, ast.Call) or _converted(around, function) is not node:
            return None
        node = around
    while isinstance(around := function.parent(node) if node else None, ast.Call):
        if _converted(around, function) is not node:
            break
        node = around
    return node if isinstance(node, ast.Call) else None


def _has_no_dimensions(node: ast.expr, function: Function) -> bool:
    """Whether a tensor is surely a single number: a reduction of the whole of another."""
    if not isinstance(node, ast.Call) or node.keywords:
        return False
    name = function.names.dotted(node.func)
    if name.startswith("torch.") and name.removeprefix("torch.") in _REDUCTIONS:
        return len(node.args) == 1
    if not isinstance(node.func, ast.Attribute) or node.args:
        return False
    if node.func.attr in _REDUCTIONS:
        return True
    unchanged = (
        "detach",
        "sqrt",
        "abs",
        "float",
        "double",
        "cpu",
        "exp",
        "log",
        "round",
        "long",
        "int",
        "square",
    )
    return node.func.attr in unchanged and _has_no_dimensions(node.func.value, function)


def _is_whole(node: ast.expr, function: Function) -> bool:
    """Whether a tensor surely holds whole numbers."""
    if function.value(node).dtype == "int":
        return True
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _WHOLE
