"""A reduction over elements picked by a mask: over all, the others made neutral."""

from __future__ import annotations

from typing import Any

import libcst

from breakfinder.rules.rewrites.masked import Picked, expanded, picked
from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.tree import atom, code, expression, replaced

_NEUTRAL = {
    "sum": "0",
    "prod": "1",
    "max": 'float("-inf")',
    "amax": 'float("-inf")',
    "min": 'float("inf")',
    "amin": 'float("inf")',
    "any": "False",
    "all": "True",
    "nansum": "0",
}


class MaskReduce(Rewrite):
    title = "Reduce over all elements, with those outside the mask made neutral"
    condition = "At least one element is picked, unless the sum of none is asked for."

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        found = picked(site.node, site)
        call, name = _reduction(site.node, site)
        if found is None or call is None:
            return None
        new = _mean(found, site) if name == "mean" else _filled(found, name, site)
        return Changed(replaced(site.tree, {call: lambda _: new}), site.imports())


def _reduction(node: libcst.CSTNode, site: Site) -> tuple[libcst.Call | None, str]:
    """The call that reduces the whole of what is at the place, and how."""
    around = site.parents.get(node)
    if isinstance(around, libcst.Attribute) and around.value is node:
        call, name = site.parents.get(around), around.attr.value
        fits = isinstance(call, libcst.Call) and call.func is around and not call.args
    elif isinstance(around, libcst.Arg):
        call = site.parents.get(around)
        function = code(call.func) if isinstance(call, libcst.Call) else ""
        name = function.removeprefix(f"{site.module()}.")
        fits = isinstance(call, libcst.Call) and len(call.args) == 1 and name != function
    else:
        return None, ""
    if not fits or not isinstance(call, libcst.Call) or (name not in _NEUTRAL and name != "mean"):
        return None, ""
    return call, name


def _filled(found: Picked, name: str, site: Site) -> Any:
    return expression(
        f"{site.module()}.where({{mask}}, {{tensor}}, {_NEUTRAL[name]}).{name}()",
        mask=expanded(found, found.tensor, site),
        tensor=found.tensor,
    )


def _mean(found: Picked, site: Site) -> Any:
    mask = expanded(found, found.tensor, site)
    total = expression(
        f"{site.module()}.where({{mask}}, {{tensor}}, 0).sum()", mask=mask, tensor=found.tensor
    )
    if mask is found.mask:
        return expression("({total} / {mask}.sum())", total=total, mask=atom(mask))
    count = expression("{mask}.expand_as({tensor}).sum()", mask=mask, tensor=found.tensor)
    return expression("({total} / {count})", total=total, count=count)
