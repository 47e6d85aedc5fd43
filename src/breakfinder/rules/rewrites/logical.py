"""not, and, or of tensors: torch.logical_not and its like."""

from __future__ import annotations

import libcst

from breakfinder.rules.rewrites.condition import whole
from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.tree import replaced

_ASKING = (libcst.If, libcst.While, libcst.IfExp, libcst.Assert, libcst.CompIf)


class Logical(Rewrite):
    title = "Combine conditions as tensors, with `torch.logical_and` and its like"
    condition = "Each part is one truth value, and computing all of them does no harm."

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        found: libcst.BaseExpression | None = None
        node: libcst.CSTNode | None = site.node
        while isinstance(node, libcst.BaseExpression):
            if isinstance(node, libcst.BooleanOperation) or (
                isinstance(node, libcst.UnaryOperation) and isinstance(node.operator, libcst.Not)
            ):
                found = node
            node = site.parents.get(node)
        if found is None or isinstance(site.parents.get(found), _ASKING):
            return None
        new = whole(found, site)
        return None if new is None else Changed(replaced(site.tree, {found: lambda _: new}), site.imports())
