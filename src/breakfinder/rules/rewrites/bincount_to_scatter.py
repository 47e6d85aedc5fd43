"""torch.bincount with a known number of bins."""

from __future__ import annotations

import ast

import libcst

from breakfinder.rules.pattern import argument
from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.tree import atom, expression, replaced


class BincountToScatter(Rewrite):
    title = "Count with `scatter_add` into a known number of bins"
    condition = "No value is as large as `minlength`."

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        node, known = site.node, site.known.get(site.node)
        if not isinstance(node, libcst.Call) or not isinstance(known, ast.Call):
            return None
        method = isinstance(known.func, ast.Attribute) and known.func.attr == "bincount"
        free = site.names.dotted(known.func) == "torch.bincount"
        if not (method or free) or (free and not known.args):
            return None
        shift = 1 if free else 0
        values = known.args[0] if free else known.func.value  # type: ignore[attr-defined]
        bins, weights = argument(known, 1 + shift, "minlength"), argument(known, shift, "weights")
        if bins is None:
            return None
        torch = site.module()
        tensor, count = site.nodes.get(values), site.nodes.get(bins)
        if not isinstance(tensor, libcst.BaseExpression) or not isinstance(count, libcst.BaseExpression):
            return None
        if weights is None:
            added = expression(f"{torch}.ones_like({{tensor}})", tensor=tensor)
            kind = f"{torch}.int64"
        else:
            given = site.nodes.get(weights)
            if not isinstance(given, libcst.Name | libcst.Attribute):
                return None
            added, kind = given, "{added}.dtype"
        new = expression(
            f"{torch}.zeros({{count}}, dtype={kind}, device={{tensor}}.device).scatter_add(0, {{tensor}}, {{added}})",
            count=count,
            tensor=atom(tensor),
            added=added,
        )
        return Changed(replaced(site.tree, {node: lambda _: new}), site.imports())
