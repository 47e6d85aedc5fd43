"""Any call of which nothing is used, moved behind a check for compiling."""

from __future__ import annotations

from breakfinder.rules.rewrites.guard import guarded
from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site


class GuardCall(Rewrite):
    title = "Make the call only in eager, behind `torch.compiler.is_compiling()`"
    condition = "What the call does is not needed where the code is compiled."

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        return guarded(site, lambda call: True)
