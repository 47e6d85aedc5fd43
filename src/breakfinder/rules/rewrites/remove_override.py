"""A jvp or vmap of an autograd.Function that compiled code does not call."""

from __future__ import annotations

import ast

import libcst

from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.tree import replaced

_UNUSED = ("jvp", "vjp", "vmap")


class RemoveOverride(Rewrite):
    title = "Take the custom `jvp` of the function away"
    condition = "Nobody asks for its forward-mode derivative."
    extent = "module"

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        call = site.known.get(site.node)
        applied = call.func if isinstance(call, ast.Call) else None
        if not isinstance(applied, ast.Attribute) or applied.attr != "apply":
            return None
        owner = site.names.classes.get(site.names.dotted(applied.value))
        if owner is None:
            return None
        methods = [part for part in owner.body if isinstance(part, ast.FunctionDef) and part.name in _UNUSED]
        nodes = [site.nodes[part] for part in methods]
        if not nodes or len(nodes) == len(owner.body):
            return None
        assert all(isinstance(node, libcst.FunctionDef) for node in nodes)
        return Changed(replaced(site.tree, {node: (lambda _: None) for node in nodes}))
