"""torch.jit.script around a module that is compiled anyway."""

from __future__ import annotations

import ast

import libcst

from breakfinder.rules import kept
from breakfinder.rules.rewrites.constructor import init_of
from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.tree import replaced

_MAKERS = ("torch.jit.script", "torch.jit.freeze", "torch.jit.optimize_for_inference")


class Unscript(Rewrite):
    title = "Keep the module itself, without TorchScript"
    condition = "Nothing but calling it is done with the scripted module."
    extent = "class"

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        owner, known = site.function.owner, site.known.get(site.node)
        init = init_of(owner) if owner is not None else None
        if init is None or known is None:
            return None
        used = {kept.own(part) for part in ast.walk(known)} - {""}
        for node in ast.walk(init):
            if not isinstance(node, ast.Assign) or kept.own_target(node) not in used:
                continue
            made = node.value
            if isinstance(made, ast.Call) and site.names.dotted(made.func) in _MAKERS and len(made.args) == 1:
                call, inner = site.nodes[made], site.nodes.get(made.args[0])
                if isinstance(inner, libcst.BaseExpression):
                    return Changed(replaced(site.tree, {call: lambda old: old.args[0].value}))
        return None
