"""print, logging and warnings moved behind a check for compiling."""

from __future__ import annotations

from breakfinder.rules.rewrites.guard import guarded, only_message
from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site


class GuardMessage(Rewrite):
    title = "Show the message only in eager, behind `torch.compiler.is_compiling()`"
    applicability = "safe"

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        return guarded(site, lambda call: only_message(call, site.function))
