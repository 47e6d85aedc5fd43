"""A number that a module counts up: a buffer."""

from __future__ import annotations

import ast
from typing import Any

import libcst

from breakfinder.rules import kept
from breakfinder.rules.rewrites.constructor import init_of
from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.straight import augmented
from breakfinder.rules.rewrites.tree import replaced, statement


class CounterToBuffer(Rewrite):
    title = "Keep the count in a buffer"
    condition = "A tensor does wherever the count is used, and the number itself is not needed outside."
    extent = "class"

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        owner = site.function.owner
        init = init_of(owner) if owner is not None else None
        name = _counter(site)
        if init is None or not name:
            return None
        first = [
            node
            for node in ast.walk(init)
            if isinstance(node, ast.Assign | ast.AnnAssign) and kept.own_target(node) == name
        ]
        if len(first) != 1 or not isinstance(first[0].value, ast.Constant):
            return None
        value = first[0].value.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        torch = site.module()
        new = statement(f'self.register_buffer("{name}", {torch}.tensor({value!r}), persistent=False)')
        assert isinstance(new, libcst.SimpleStatementLine)
        changes: dict[libcst.CSTNode, Any] = {
            site.nodes[first[0]]: lambda old: old.with_changes(body=new.body)
        }
        for node in ast.walk(site.function.node):
            if isinstance(node, ast.AugAssign) and kept.own(node.target) == name:
                changes[site.nodes[node]] = _out_of_place
        return Changed(replaced(site.tree, changes), site.imports())


def _out_of_place(line: libcst.SimpleStatementLine) -> libcst.SimpleStatementLine:
    """``self.n = self.n + 1`` for ``self.n += 1``.

    Where a buffer is changed in place and then used, AOTAutograd's backward pass computes from it once more,
    after the change: gradients are wrong (measured on torch 2.13, with ``aot_eager`` and inductor).
    """
    (small,) = line.body
    assert isinstance(small, libcst.AugAssign)
    return line.with_changes(body=[libcst.Assign([libcst.AssignTarget(small.target)], augmented(small))])


def _counter(site: Site) -> str:
    """The attribute at the place, or else the only one, that the function counts up and uses in arithmetic."""
    counted = {
        kept.own(node.target)
        for node in ast.walk(site.function.node)
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Sub)
    } - {""}
    counted |= {
        kept.own_target(node)
        for node in ast.walk(site.function.node)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.BinOp)
        and kept.own(node.value.left) == kept.own_target(node) != ""
    }
    here = site.known.get(site.node)
    named = {kept.own(part) for part in ast.walk(here)} & counted if here is not None else set()
    found = named if len(named) == 1 else counted
    return next(iter(found)) if len(found) == 1 else ""
