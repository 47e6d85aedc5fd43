"""Random numbers of Python and NumPy: of torch."""

from __future__ import annotations

import ast
from typing import Any

import libcst

from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.tree import code, expression, operand, replaced, statement

_OF_PYTHON = {
    ("random", 0): "{torch}.rand(())",
    ("uniform", 2): "({a} + ({b} - {a}) * {torch}.rand(()))",
    ("randint", 2): "{torch}.randint({a}, {b} + 1, ())",
    ("randrange", 1): "{torch}.randint(0, {a}, ())",
    ("randrange", 2): "{torch}.randint({a}, {b}, ())",
    ("gauss", 2): "({a} + {b} * {torch}.randn(()))",
    ("normalvariate", 2): "({a} + {b} * {torch}.randn(()))",
}
_OF_NUMPY = {
    ("rand", 0): "{torch}.rand(())",
    ("random", 0): "{torch}.rand(())",
    ("random_sample", 0): "{torch}.rand(())",
    ("randn", 0): "{torch}.randn(())",
    ("uniform", 0): "{torch}.rand(())",
    ("uniform", 2): "({a} + ({b} - {a}) * {torch}.rand(()))",
    ("normal", 0): "{torch}.randn(())",
    ("normal", 2): "({a} + {b} * {torch}.randn(()))",
    ("randint", 1): "{torch}.randint(0, {a}, ())",
    ("randint", 2): "{torch}.randint({a}, {b}, ())",
}


class RandomToTorch(Rewrite):
    title = "Draw with torch"
    condition = "Numbers from another stream do as well."

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        changes: dict[libcst.CSTNode, Any] = {}
        todo: list[libcst.CSTNode] = [site.node]
        while todo:
            node = todo.pop()
            todo += node.children
            if isinstance(node, libcst.Call) and (change := _drawn(node, site)):
                at, new = change
                changes[at] = new
        return Changed(replaced(site.tree, changes), site.imports()) if changes else None


def _drawn(node: libcst.Call, site: Site) -> tuple[libcst.CSTNode, Any] | None:
    known = site.known.get(node)
    if not isinstance(known, ast.Call) or any(argument.keyword or argument.star for argument in node.args):
        return None
    module, _, name = site.names.dotted(known.func).rpartition(".")
    if module.partition(".")[0] not in {full.partition(".")[0] for full in site.names.imports().values()}:
        return None
    torch = site.module()
    given = [argument.value for argument in node.args]
    line = site.parents.get(node)
    if (
        (module, name) == ("random", "shuffle")
        and isinstance(line, libcst.Expr)
        and isinstance(given[0], libcst.Name)
    ):
        order = code(given[0])
        new = statement(f"{order} = {torch}.tensor({order})[{torch}.randperm(len({order}))]")
        return line, lambda old: old.with_changes(body=new.body)
    table = {"random": _OF_PYTHON, "numpy.random": _OF_NUMPY}.get(module, {})
    template = table.get((name, len(given)))
    if template is None:
        return None
    parts = {letter: operand(value) for letter, value in zip("ab", given, strict=False)}
    drawn = expression(template.replace("{torch}", torch), **parts)
    return node, lambda _: drawn
