"""torch.compiler.disable taken away from a function that is called."""

from __future__ import annotations

from breakfinder.rules.rewrites.disabled import disabled
from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.tree import replaced


class EnterDisabled(Rewrite):
    title = "Take `torch.compiler.disable` away from the function"
    condition = "It was not disabled because compiling it gives wrong results."
    extent = "module"

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        decorator = disabled(site)
        if decorator is None:
            return None
        return Changed(replaced(site.tree, {decorator: lambda _: None}))
