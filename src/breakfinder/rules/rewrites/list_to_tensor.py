"""tolist(): the tensor itself."""

from __future__ import annotations

import ast

import libcst

from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.tree import atom, expression, replaced
from breakfinder.rules.rewrites.uses import loads, stays_tensor
from breakfinder.source.dataflow import Function


class ListToTensor(Rewrite):
    title = "Index the tensor itself in place of the list, with `.detach()`"
    condition = "Tensors of no dimensions do where the numbers did."

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        known = site.known.get(site.node)
        if not isinstance(site.node, libcst.Call) or not isinstance(site.node.func, libcst.Attribute):
            return None
        if site.node.func.attr.value != "tolist" or site.node.args or not isinstance(known, ast.Call):
            return None
        if not _items_stay(known, site.function):
            return None
        new = expression("{tensor}.detach()", tensor=atom(site.node.func.value))
        return Changed(replaced(site.tree, {site.node: lambda _: new}))


def _items_stay(node: ast.expr, function: Function) -> bool:
    """Whether the list is only indexed, looped over or unpacked, and its items can be tensors."""
    around = function.parent(node)
    if isinstance(around, ast.Subscript) and around.value is node:
        return isinstance(around.ctx, ast.Load) and stays_tensor(around, function)
    if isinstance(around, ast.For) and around.iter is node and isinstance(around.target, ast.Name):
        return all(stays_tensor(load, function) for load in loads(around.target.id, function))
    if isinstance(around, ast.Assign) and len(around.targets) == 1:
        target = around.targets[0]
        if isinstance(target, ast.Name):
            return all(_items_stay(load, function) for load in loads(target.id, function))
        if isinstance(target, ast.Tuple | ast.List):
            names = [item.id for item in target.elts if isinstance(item, ast.Name)]
            whole = len(names) == len(target.elts)
            return whole and all(
                stays_tensor(load, function) for name in names for load in loads(name, function)
            )
    return False
