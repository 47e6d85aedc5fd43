"""copy.copy and copy.deepcopy of a tensor."""

from __future__ import annotations

import ast

import libcst

from breakfinder.rules.pattern import call_of
from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.tree import atom, expression, replaced


class CopyToClone(Rewrite):
    title = "Copy the tensor with `.clone()`, or share its data with `.view_as()`"
    condition = "It is a tensor, and what Python keeps on it is not needed in the copy."

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        node, known = site.node, site.known.get(site.node)
        if not isinstance(node, libcst.Call) or not isinstance(known, ast.Call) or len(node.args) != 1:
            return None
        copied = atom(node.args[0].value)
        if call_of(known, site.function, r"copy\.deepcopy"):
            new = expression("{copied}.clone()", copied=copied)
        elif call_of(known, site.function, r"copy\.copy") and isinstance(copied, libcst.Name):
            new = expression("{copied}.view_as({copied})", copied=copied)
        else:
            return None
        return Changed(replaced(site.tree, {node: lambda _: new}))
