"""A branch on a tensor: torch.cond."""

from __future__ import annotations

import ast
from typing import Any, cast

import libcst

from breakfinder.rules.rewrites.condition import condition
from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.tree import Statement, fresh, names_in, replaced, statement
from breakfinder.rules.rewrites.uses import bound_before, loads

_LEAVING = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Raise)


class Cond(Rewrite):
    title = "Let the graph choose which side runs, with `torch.cond`"
    condition = "Both sides give tensors of the same shapes and dtypes, and change nothing else."

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        node = site.around(site.node, (libcst.If, libcst.BaseSmallStatement, libcst.FunctionDef))
        known = site.known.get(node) if node is not None else None
        if not isinstance(node, libcst.If) or not isinstance(known, ast.If):
            return None
        if isinstance(site.parents.get(node), libcst.If) or isinstance(node.orelse, libcst.If):
            return None
        asked = condition(node.test, site)
        if asked is None or asked.plain is not None or not _in_test(site, known):
            return None
        names = _results(known, site)
        if not names:
            return None
        lines = _lines(node, known, names, asked.tensor, asked.negated, site)
        return Changed(replaced(site.tree, {node: lambda _: lines}), site.imports())


def _in_test(site: Site, known: ast.If) -> bool:
    return site.known.get(site.node) in [*ast.walk(known.test)]


def _bound(statements: list[ast.stmt]) -> list[str] | None:
    """The variables that some statements bind; None if they do more than that."""
    names: list[str] = []
    for line in statements:
        for part in ast.walk(line):
            if isinstance(part, _LEAVING) or (
                isinstance(part, ast.Attribute | ast.Subscript) and isinstance(part.ctx, ast.Store)
            ):
                return None
            if isinstance(part, ast.Expr) and not isinstance(part.value, ast.Constant):
                return None
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                names.append(part.id)
    return list(dict.fromkeys(names))


def _results(known: ast.If, site: Site) -> list[str]:
    """The variables that the branches give new values and that are read later."""
    one, other = _bound(known.body), _bound(known.orelse)
    if one is None or other is None:
        return []
    function, inside = site.function, set(ast.walk(known))
    in_loop = function.in_loop(known)
    names = []
    for name in dict.fromkeys((*one, *other)):
        later = any(
            load not in inside and (in_loop or load.lineno > (known.end_lineno or 0))
            for load in loads(name, function)
        )
        if not later:
            continue
        if not (name in one and name in other) and not bound_before(name, known, function.node):
            return []
        names.append(name)
    return names


def _lines(
    node: libcst.If,
    known: ast.If,
    names: list[str],
    test: libcst.BaseExpression,
    negated: bool,
    site: Site,
) -> list[Statement]:
    taken = names_in(site.tree)
    read = {
        part.id for part in ast.walk(known) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
    }
    given = [
        name
        for name in names
        if bound_before(name, known, site.function.node) and (name in read or not _binds_always(name, known))
    ]
    sides = []
    for word, body, statements in (
        ("if", node.body, known.body),
        ("else", node.orelse.body if isinstance(node.orelse, libcst.Else) else None, known.orelse),
    ):
        name = fresh(f"{word}_taken" if word == "if" else "otherwise", taken)
        taken.add(name)
        bound = _bound(statements) or []
        results = ", ".join(result if result in bound else f"{result}.clone()" for result in names)
        definition: Any = statement(f"def {name}({', '.join(given)}):\n    return {results}")
        own = _statements(body)
        block = definition.body.with_changes(body=[*own, *definition.body.body])
        sides.append((name, definition.with_changes(body=block)))
    (first, one), (second, other) = sides
    if negated:
        first, second = second, first
    operands = f"({', '.join(given)}{',' if len(given) == 1 else ''})"
    call = statement(
        f"{', '.join(names)} = {site.module()}.cond({{test}}, {first}, {second}, {operands})", test=test
    )
    gap = [libcst.EmptyLine(indent=False)]
    return [one, other.with_changes(leading_lines=gap), call.with_changes(leading_lines=gap)]


def _binds_always(name: str, known: ast.If) -> bool:
    return all(name in (_bound(side) or []) for side in (known.body, known.orelse))


def _statements(body: libcst.BaseSuite | None) -> list[Statement]:
    if body is None:
        return []
    if isinstance(body, libcst.SimpleStatementSuite):
        return [libcst.SimpleStatementLine(body.body)]
    lines = [cast(Statement, line) for line in body.body]
    return [line for line in lines if not _is_pass(line)]


def _is_pass(line: Statement) -> bool:
    return isinstance(line, libcst.SimpleStatementLine) and isinstance(line.body[0], libcst.Pass)
