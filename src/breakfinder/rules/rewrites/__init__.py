"""Source fixes: one module per kind of change, each with one `Rewrite`.

Rules name them (`Rule.fixes`), so that nothing here, nor libcst, is imported before a fix is wanted.
"""

from __future__ import annotations

import importlib
from functools import cache

from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site, rewrite

__all__ = ["Changed", "Rewrite", "Site", "by_name", "rewrite"]


@cache
def by_name(name: str) -> type[Rewrite]:
    """The rewrite in the module of this name.  Raises ImportError or ValueError unless there is just one."""
    module = importlib.import_module(f"breakfinder.rules.rewrites.{name}")
    (found,) = [
        item
        for item in vars(module).values()
        if isinstance(item, type) and issubclass(item, Rewrite) and item.__module__ == module.__name__
    ]
    return found
