"""tqdm around what a loop runs over."""

from __future__ import annotations

import ast

import libcst

from breakfinder.rules.pattern import argument, call_of
from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.tree import expression, replaced

_BARS = r"tqdm\.(auto\.|std\.|notebook\.|rich\.)?(tqdm|trange)|rich\.progress\.track"


class ProgressAway(Rewrite):
    title = "Loop without the progress bar"
    condition = "Nobody watches the progress of this loop."

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        node, known = site.node, site.known.get(site.node)
        if not isinstance(known, ast.Call) or not call_of(known, site.function, _BARS):
            return None
        around = site.parents.get(node)
        if not isinstance(around, libcst.For | libcst.CompFor):
            return None
        over = argument(known, 0, "iterable") or argument(known, 0, "sequence")
        given = site.nodes.get(over) if over is not None else None
        if not isinstance(given, libcst.BaseExpression):
            return None
        if site.names.dotted(known.func).endswith("trange"):
            given = expression("range({count})", count=given)
        new = given
        return Changed(replaced(site.tree, {node: lambda _: new}))
