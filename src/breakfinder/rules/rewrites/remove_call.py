"""A call of which nothing is used, taken away."""

from __future__ import annotations

import libcst

from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.tree import replaced


class RemoveCall(Rewrite):
    title = "Take the call away"
    condition = "Nothing that the call does is needed."

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        line = site.around(site.node, (libcst.Expr, libcst.BaseCompoundStatement, libcst.BaseSmallStatement))
        if not isinstance(line, libcst.Expr) or not isinstance(line.value, libcst.Call):
            return None
        return Changed(replaced(site.tree, {line: lambda _: None}))
