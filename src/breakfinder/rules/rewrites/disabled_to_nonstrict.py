"""torch.compiler.disable: nonstrict_trace."""

from __future__ import annotations

import libcst

from breakfinder.rules.rewrites.disabled import disabled
from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.tree import expression, replaced


class DisabledToNonstrict(Rewrite):
    title = "Trace the function without looking into it, with `nonstrict_trace`"
    condition = "The function only computes with tensors that it is given."
    extent = "module"

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        decorator = disabled(site)
        definition = site.parents.get(decorator) if decorator is not None else None
        if decorator is None or definition is None:
            return None
        if not isinstance(site.parents.get(definition), libcst.Module):
            return None  # of a function at the top only, not of a method
        new = expression(f"{site.module()}._dynamo.nonstrict_trace")
        return Changed(
            replaced(site.tree, {decorator: lambda old: old.with_changes(decorator=new)}), site.imports()
        )
