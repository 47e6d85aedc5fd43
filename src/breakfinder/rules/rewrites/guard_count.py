"""A count that is kept outside the function, moved behind a check for compiling."""

from __future__ import annotations

import ast

import libcst

from breakfinder.rules.rewrites.guard import behind_check
from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site


class GuardCount(Rewrite):
    title = "Count only in eager, behind `torch.compiler.is_compiling()`"
    condition = "The count is not needed where the code is compiled."

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        line = site.around(site.node, (libcst.BaseSmallStatement, libcst.BaseCompoundStatement))
        node = site.known.get(line) if line is not None else None
        if line is None or not isinstance(node, ast.AugAssign) or site.function.guarded(node):
            return None
        kept = isinstance(node.target, ast.Attribute | ast.Subscript) or _is_global(node.target, site)
        return behind_check(site, line) if kept and not _is_read(node, site) else None


def _is_global(target: ast.expr, site: Site) -> bool:
    return isinstance(target, ast.Name) and any(
        target.id in node.names for node in ast.walk(site.function.node) if isinstance(node, ast.Global)
    )


def _is_read(node: ast.AugAssign, site: Site) -> bool:
    """Whether the function also reads what is counted."""
    counted = ast.unparse(node.target)
    return any(
        isinstance(part, ast.Attribute | ast.Subscript | ast.Name)
        and isinstance(part.ctx, ast.Load)
        and ast.unparse(part) == counted
        for part in ast.walk(site.function.node)
    )
