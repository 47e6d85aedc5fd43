"""The top of a module: what stands above a function, and what is bound there."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from typing import Any, cast

import libcst

from breakfinder.rules.rewrites.rewrite import Site
from breakfinder.source.definitions import statements

_BUILTINS = frozenset(dir(builtins))


def above_function(site: Site) -> ast.stmt | None:
    """The function or class at the top of the module that the place is in."""
    top = site.syntax[1]
    return top if isinstance(top, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else None


def bound_at_top(names: Iterable[str], before: ast.stmt, site: Site) -> bool:
    """Whether names have their values at the top of the module, above a statement."""
    module = site.syntax[0]
    assert isinstance(module, ast.Module)
    bound: set[str] = set()
    for node in statements([part for part in module.body if part.lineno < before.lineno]):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        else:
            bound |= {
                part.id
                for part in ast.walk(node)
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
            }
    return all(name in bound or name in _BUILTINS for name in names)


def above(line: libcst.BaseStatement, definition: Any) -> libcst.FlattenSentinel[libcst.BaseStatement]:
    """A statement above a function or class, as far from both as that was from what was above it."""
    leading = definition.leading_lines
    blank = [part for part in leading if part.comment is None]
    first = next((n for n, part in enumerate(leading) if part.comment is not None), len(leading))
    gap = blank[:2] if len(blank) > 1 else [libcst.EmptyLine(indent=False)] * 2
    new = cast(Any, line).with_changes(leading_lines=leading[:first])
    return libcst.FlattenSentinel([new, definition.with_changes(leading_lines=[*gap, *leading[first:]])])
