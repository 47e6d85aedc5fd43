"""A class defined in a function: at the top of the module."""

from __future__ import annotations

import ast

import libcst

from breakfinder.rules.rewrites.hoist import variables
from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.top import above, above_function, bound_at_top
from breakfinder.rules.rewrites.tree import replaced


class ClassToModule(Rewrite):
    title = "Define the class once, at the top of the module"
    condition = "Nothing is kept on the class from one call to the next."
    extent = "module"

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        node = site.around(site.node, (libcst.ClassDef, libcst.FunctionDef))
        known = site.known.get(node) if node is not None else None
        top = above_function(site)
        if not isinstance(node, libcst.ClassDef) or not isinstance(known, ast.ClassDef) or top is None:
            return None
        if known is top or not _is_free(known, site) or _is_bound(known.name, site):
            return None
        early = {part.id for base in (*known.bases, *known.decorator_list) for part in _names(base)}
        early |= {part.id for line in known.body if not _is_method(line) for part in _names(line)}
        own = {
            part.id
            for part in ast.walk(known)
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        }
        if not bound_at_top(early - own, top, site):
            return None
        moved = node.with_changes(leading_lines=[])
        changes = {node: lambda _: None, site.nodes[top]: lambda updated: above(moved, updated)}
        return Changed(replaced(site.tree, changes))


def _is_method(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def _names(node: ast.AST) -> list[ast.Name]:
    return [part for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)]


def _is_free(known: ast.ClassDef, site: Site) -> bool:
    """Whether a class reads no variable of the functions around it."""
    own = {part.arg for part in ast.walk(known) if isinstance(part, ast.arg)}
    own |= {
        part.id for part in ast.walk(known) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
    read = {part.id for part in _names(known)}
    return not (read - own - {known.name}) & variables(site)


def _is_bound(name: str, site: Site) -> bool:
    """Whether a module has another thing of the name."""
    module = site.syntax[0]
    assert isinstance(module, ast.Module)
    return name in site.names.classes or name in site.names.functions or name in site.names.assigned
