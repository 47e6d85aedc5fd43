"""A dictionary that keeps what was computed: computed anew each time."""

from __future__ import annotations

import ast
from typing import Any

import libcst

from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.tree import assignment, fresh, names_in, replaced, same


class CacheToValue(Rewrite):
    title = "Compute the value each time: a graph needs no cache"
    condition = "What is kept depends on nothing but the key, and nothing else reads the cache."

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        for node in site.known:
            if isinstance(node, libcst.If) and (found := _cache(node)):
                cache, key, value, store = found
                if not _is_at(site, node, cache):
                    continue
                name = fresh(_name(cache), names_in(site.tree))
                changes: dict[libcst.CSTNode, Any] = {
                    node: lambda _, store=store, name=name, value=value: [
                        store.with_changes(body=assignment(name, value).body)
                    ]
                }
                for other in site.known:
                    if isinstance(other, libcst.Subscript) and same(other.value, cache) and _key(other, key):
                        changes.setdefault(other, lambda _, name=name: libcst.Name(name))
                return Changed(replaced(site.tree, changes))
        return None


def _cache(
    node: libcst.If,
) -> (
    tuple[libcst.BaseExpression, libcst.BaseExpression, libcst.BaseExpression, libcst.SimpleStatementLine]
    | None
):
    """Of ``if key not in cache: cache[key] = value`` the cache, the key, the value and the line that stores it."""
    test = node.test
    if node.orelse is not None or not isinstance(test, libcst.Comparison) or len(test.comparisons) != 1:
        return None
    if not isinstance(test.comparisons[0].operator, libcst.NotIn) or len(node.body.body) != 1:
        return None
    line: Any = node.body.body[0]
    if isinstance(node.body, libcst.SimpleStatementSuite):
        line = libcst.SimpleStatementLine([line])
    small = line.body[0] if isinstance(line, libcst.SimpleStatementLine) and len(line.body) == 1 else None
    if not isinstance(small, libcst.Assign) or len(small.targets) != 1:
        return None
    target, cache, key = small.targets[0].target, test.comparisons[0].comparator, test.left
    if not isinstance(target, libcst.Subscript) or not same(target.value, cache) or not _key(target, key):
        return None
    assert isinstance(line, libcst.SimpleStatementLine)
    return cache, key, small.value, line


def _key(node: libcst.Subscript, key: libcst.BaseExpression) -> bool:
    only = node.slice[0].slice if len(node.slice) == 1 else None
    return isinstance(only, libcst.Index) and same(only.value, key)


def _is_at(site: Site, node: libcst.If, cache: libcst.BaseExpression) -> bool:
    """Whether the place is in the ``if``, or reads the cache, or is the function as a whole."""
    here, around = site.known.get(site.node), site.known[node]
    if isinstance(here, ast.FunctionDef) or here in [*ast.walk(around)]:
        return True
    parts: list[libcst.CSTNode] = [site.node]
    while parts:
        part = parts.pop()
        if isinstance(part, libcst.BaseExpression) and same(part, cache):
            return True
        parts += part.children
    return False


def _name(cache: libcst.BaseExpression) -> str:
    named = cache.attr if isinstance(cache, libcst.Attribute) else cache
    return named.value.strip("_").lower() or "value" if isinstance(named, libcst.Name) else "value"
