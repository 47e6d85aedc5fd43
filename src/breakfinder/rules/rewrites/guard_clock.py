"""Times that are taken and kept, moved behind a check for compiling."""

from __future__ import annotations

import ast
from typing import Any

import libcst

from breakfinder.rules.pattern import call_of
from breakfinder.rules.rewrites.guard import guard
from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.tree import replaced
from breakfinder.rules.rewrites.uses import loads

_CLOCK = r"time\.\w+|datetime\.(datetime|date)\.(now|today|utcnow)"


class GuardClock(Rewrite):
    title = "Take the time only in eager, behind `torch.compiler.is_compiling()`"
    condition = "The times are not needed where the code is compiled."

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        lines = _timing(site)
        if not lines:
            return None
        changes: dict[libcst.CSTNode, Any] = {line: guard(site) for line in lines}
        return Changed(replaced(site.tree, changes), site.imports())


def _timing(site: Site) -> list[libcst.CSTNode]:
    """The statements that ask for the time or use the answers; none if anything else uses them."""
    function = site.function
    todo: list[ast.AST] = [
        node
        for node in ast.walk(function.node)
        if isinstance(node, ast.Call) and call_of(node, function, _CLOCK) and not function.guarded(node)
    ]
    lines: dict[libcst.CSTNode, None] = {}
    while todo:
        concrete = site.nodes.get(todo.pop())
        line = site.around(concrete, (libcst.BaseSmallStatement, libcst.BaseStatement)) if concrete else None
        if not isinstance(line, libcst.Assign | libcst.AnnAssign | libcst.AugAssign | libcst.Expr):
            return []
        if line in lines:
            continue
        lines[line] = None
        for part in ast.walk(site.known[line]):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                todo += loads(part.id, function)
    here = site.around(site.node, (libcst.BaseSmallStatement, libcst.BaseStatement))
    return [*lines] if here in lines else []
