"""Tensor.data, read or written."""

from __future__ import annotations

from typing import Any

import libcst

from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.tree import expression, replaced


class DataToDetach(Rewrite):
    title = "Write `.detach()` in place of `.data`, and a new value in place of new data"
    condition = "The variable is the only thing that refers to the tensor, and no gradient flows through it."

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        line = site.around(site.node, (libcst.BaseSmallStatement, libcst.BaseCompoundStatement))
        if line is None or isinstance(line, libcst.BaseCompoundStatement):
            return None
        changes: dict[libcst.CSTNode, Any] = {}
        for node in _parts(line):
            if not isinstance(node, libcst.Attribute) or node.attr.value != "data":
                continue
            if isinstance(site.parents.get(node), libcst.AssignTarget | libcst.AugAssign):
                if isinstance(node.value, libcst.Name):
                    changes[node] = lambda old: old.value
            elif site.is_tensor(node.value):
                changes[node] = lambda old: expression("{tensor}.detach()", tensor=old.value)
        return Changed(replaced(site.tree, changes)) if changes else None


def _parts(node: libcst.CSTNode) -> list[libcst.CSTNode]:
    found, todo = list[libcst.CSTNode](), [node]
    while todo:
        part = todo.pop()
        found.append(part)
        todo += part.children
    return found
