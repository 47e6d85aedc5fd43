"""A call of which nothing depends on the model or its input: made once, when the module is imported."""

from __future__ import annotations

import ast

import libcst

from breakfinder.rules.rewrites.hoist import callee_name, constant_around
from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.top import above, above_function, bound_at_top
from breakfinder.rules.rewrites.tree import assignment, fresh, names_in, replaced


class ConstantToModule(Rewrite):
    title = "Call it once, at the top of the module"
    condition = "It gives the same as long as the program runs."
    extent = "module"

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        node = constant_around(site)
        if node is None:
            return None
        known = site.known[node]
        names = {part.id for part in ast.walk(known) if isinstance(part, ast.Name)}
        top = above_function(site)
        if top is None or not bound_at_top(names, top, site):
            return None
        name = fresh("_" + callee_name(node).upper(), names_in(site.tree))
        statement = site.nodes[top]
        line = assignment(name, node)
        return Changed(
            replaced(
                site.tree,
                {
                    node: lambda _: libcst.Name(name),
                    statement: lambda updated: above(line, updated),
                },
            )
        )
