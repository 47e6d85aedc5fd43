"""A context manager that cannot be entered, taken away from around its body."""

from __future__ import annotations

from typing import Any

import libcst

from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.tree import Replacement, replaced


class LeaveContext(Rewrite):
    title = "Run the body without the context manager"
    condition = "Nothing in the body depends on it, or the caller enters it."

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        node = site.around(site.node, (libcst.With, libcst.FunctionDef))
        if not isinstance(node, libcst.With) or node.asynchronous:
            return None
        item = site.around(site.node, (libcst.WithItem, libcst.IndentedBlock, libcst.SimpleStatementSuite))
        if site.node is node and len(node.items) == 1:
            item = node.items[0]
        if not isinstance(item, libcst.WithItem) or item.asname is not None:
            return None
        if len(node.items) > 1:
            return Changed(
                replaced(site.tree, {node: lambda old: old.with_changes(items=_items(old, node, item))})
            )
        return Changed(replaced(site.tree, {node: lambda old: _lines(old.body), **_rest(node, site)}))


def _items(new: libcst.With, old: libcst.With, item: libcst.WithItem) -> list[libcst.WithItem]:
    """The items without one, which are as they were in the old statement."""
    rest = [part for part, before in zip(new.items, old.items, strict=True) if before is not item]
    return [*rest[:-1], rest[-1].with_changes(comma=libcst.MaybeSentinel.DEFAULT)]


def _rest(node: libcst.With, site: Site) -> dict[libcst.CSTNode, Replacement]:
    """What moves the comments after the last statement of the body to before what follows it."""
    block = site.parents.get(node)
    said = node.body.footer if isinstance(node.body, libcst.IndentedBlock) else ()
    if not said or not isinstance(block, libcst.IndentedBlock):
        return {}
    after = block.body[block.body.index(node) + 1 :]
    if after:
        return {after[0]: lambda old: old.with_changes(leading_lines=[*said, *old.leading_lines])}
    return {block: lambda old: old.with_changes(footer=[*said, *old.footer])}


def _lines(body: libcst.BaseSuite) -> list[Any]:
    if isinstance(body, libcst.IndentedBlock):
        return [*body.body]
    assert isinstance(body, libcst.SimpleStatementSuite)
    return [libcst.SimpleStatementLine(body.body, trailing_whitespace=body.trailing_whitespace)]
