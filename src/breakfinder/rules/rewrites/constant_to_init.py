"""A call of which nothing depends on the input: made once, in __init__."""

from __future__ import annotations

from typing import Any

import libcst

from breakfinder.rules.kept import in_constructor
from breakfinder.rules.rewrites.constructor import attributes, with_lines_in_init
from breakfinder.rules.rewrites.hoist import callee_name, constant_around
from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.tree import expression, fresh, replaced, statement


class ConstantToInit(Rewrite):
    title = "Ask once, in `__init__`"
    condition = "The answer does not change after the model is made."
    extent = "class"

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        node = constant_around(site)
        if node is None or site.function.owner is None or in_constructor(site.function):
            return None
        first = next(iter(site.function.node.args.args), None)
        if first is None or first.arg != "self":
            return None
        name = fresh(_name(node, site), attributes(site.function.owner))
        line = statement(f"self.{name} = {{value}}", value=node)
        attribute = expression(f"self.{name}")
        changes: dict[libcst.CSTNode, Any] = {node: lambda _: attribute}
        init = with_lines_in_init(site, site.function.owner, [line])
        return None if init is None else Changed(replaced(site.tree, {**changes, **init}))


def _target(node: libcst.CSTNode, site: Site) -> str:
    around = site.parents.get(node)
    if isinstance(around, libcst.Assign) and isinstance(around.targets[0].target, libcst.Name):
        return around.targets[0].target.value
    return ""


def _name(node: libcst.CSTNode, site: Site) -> str:
    return _target(node, site) or callee_name(node)
