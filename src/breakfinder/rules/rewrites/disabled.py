"""Which function of the module is disabled, and called at a place."""

from __future__ import annotations

import ast

import libcst

from breakfinder.rules.rewrites.rewrite import Site

_DISABLE = ("torch.compiler.disable", "torch._dynamo.disable", "torch._disable_dynamo")


def disabled(site: Site) -> libcst.Decorator | None:
    """The decorator of the function that is called at the place; None if it is not this module's.

    A function is told by its name alone; a call of a module goes to a ``forward``.
    """
    called = site.known.get(site.node)
    if not isinstance(called, ast.Call):
        return None
    name = called.func.attr if isinstance(called.func, ast.Attribute) else getattr(called.func, "id", "")
    found = {
        definition: decorator
        for definition in ast.walk(site.syntax[0])
        if isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef)
        for decorator in definition.decorator_list
        if _is_disable(decorator, site)
    }
    for wanted in (name, "forward", "__call__"):
        fitting = [decorator for definition, decorator in found.items() if definition.name == wanted]
        if len(fitting) == 1:
            node = site.nodes.get(fitting[0])
            decorator = site.parents.get(node) if node is not None else None
            return decorator if isinstance(decorator, libcst.Decorator) else None
    return None


def _is_disable(node: ast.expr, site: Site) -> bool:
    return site.names.dotted(node.func if isinstance(node, ast.Call) else node) in _DISABLE
