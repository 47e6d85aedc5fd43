"""Elements picked by a mask, changed and put back: all of them computed, and chosen with torch.where."""

from __future__ import annotations

import ast
from typing import Any, cast

import libcst

from breakfinder.rules.rewrites.masked import Picked, expanded, picked, plain_mask
from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.straight import augmented
from breakfinder.rules.rewrites.tree import assignment, expression, replaced, same, statement
from breakfinder.rules.rewrites.uses import loads

_MAKERS = ("zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "full_like", "clone")


class MaskWhere(Rewrite):
    title = "Compute all rows and choose with `torch.where`"
    condition = "What is computed of a row depends on no other row."

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        found = picked(site.node, site)
        if found is None:
            return None
        if stored := _store(site.node, site):
            return _changed(site, found, [stored])
        return _changed(site, found, _stores_of(found, site))


def _changed(site: Site, found: Picked, stores: list[libcst.Assign | libcst.AugAssign]) -> Changed | None:
    """Every store under the mask as a choice, and what is picked by it as the whole."""
    if not stores:
        return None
    whole = {node: (lambda _, to=part: to) for node, part in _picks(found, stores, site)}
    changes: dict[libcst.CSTNode, Any] = {**whole}
    for store in stores:
        changes[store] = _choice(store, found, site)
    return Changed(replaced(site.tree, changes), site.imports())


def _choice(store: libcst.Assign | libcst.AugAssign, found: Picked, site: Site) -> Any:
    def change(line: libcst.SimpleStatementLine) -> libcst.SimpleStatementLine:
        small = cast(Any, line.body[0])
        target: Any = small.targets[0].target if isinstance(small, libcst.Assign) else small.target
        tensor = target.value
        value = small.value
        if isinstance(small, libcst.AugAssign):
            value = augmented(small.with_changes(target=tensor))
        written = store.targets[0].target if isinstance(store, libcst.Assign) else store.target
        choice = expression(
            site.module() + ".where({mask}, {value}, {tensor})",
            mask=expanded(found, cast(Any, written).value, site),
            value=value,
            tensor=tensor,
        )
        if isinstance(tensor, libcst.Name) and _is_new(tensor.value, site):
            new = assignment(tensor.value, choice)
        else:
            new = cast(Any, statement("{tensor}.copy_({choice})", tensor=tensor, choice=choice))
        return line.with_changes(body=new.body)

    return change


def _is_new(name: str, site: Site) -> bool:
    """Whether a variable holds a tensor that the function made, which nothing else shares."""
    values = [
        node.value
        for node in ast.walk(site.function.node)
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    ]
    return bool(values) and all(
        isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _MAKERS
        for value in values
    )


def _store(node: libcst.CSTNode, site: Site) -> libcst.Assign | libcst.AugAssign | None:
    """The statement that writes to the elements at the place."""
    around = site.parents.get(node)
    if isinstance(around, libcst.AugAssign) and around.target is node:
        return around
    if isinstance(around, libcst.AssignTarget):
        whole = site.parents.get(around)
        return whole if isinstance(whole, libcst.Assign) and len(whole.targets) == 1 else None
    return None


def _stores_of(found: Picked, site: Site) -> list[libcst.Assign | libcst.AugAssign]:
    """The statements that write under the same mask and use what was picked, directly or by a variable."""
    names = _variable(site)
    stores: list[libcst.Assign | libcst.AugAssign] = []
    for node in site.known:
        if not isinstance(node, libcst.Subscript) or (store := _store(node, site)) is None:
            continue
        mask = plain_mask(node)
        if mask is None or not same(mask, found.mask):
            continue
        inside = set(ast.walk(site.known[store]))
        uses = [load for name in names for load in loads(name, site.function)]
        if site.known.get(site.node) in inside or any(load in inside for load in uses):
            stores.append(store)
    if names and any(not _only_in(name, stores, site) for name in names):
        return []
    return stores


def _variable(site: Site) -> list[str]:
    """The variable that what is picked at the place is kept in, and those made of it alone."""
    small = site.around(site.node, libcst.Assign)
    if not isinstance(small, libcst.Assign) or len(small.targets) != 1:
        return []
    target = small.targets[0].target
    return [target.value] if isinstance(target, libcst.Name) else []


def _only_in(name: str, stores: list[libcst.Assign | libcst.AugAssign], site: Site) -> bool:
    inside = {part for store in stores for part in ast.walk(site.known[store])}
    return all(load in inside for load in loads(name, site.function))


def _picks(
    found: Picked, stores: list[libcst.Assign | libcst.AugAssign], site: Site
) -> list[tuple[libcst.CSTNode, libcst.BaseExpression]]:
    """What is picked by the mask, each with the whole that it is picked from."""
    targets = {
        store.target if isinstance(store, libcst.AugAssign) else store.targets[0].target for store in stores
    }
    picks = []
    for node in site.known:
        other = picked(node, site)
        if other is not None and node not in targets and same(other.mask, found.mask):
            picks.append((node, other.tensor))
    return picks
