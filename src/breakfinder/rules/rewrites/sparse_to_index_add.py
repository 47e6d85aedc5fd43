"""A product with a sparse matrix made on the spot: a sum over its entries."""

from __future__ import annotations

import ast
from typing import Any

import libcst

from breakfinder.rules.pattern import call_of
from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.tree import assignment, code, expression, fresh, names_in, replaced
from breakfinder.rules.rewrites.uses import loads

_MADE = r"torch\.sparse_coo_tensor"


class SparseToIndexAdd(Rewrite):
    title = "Add up the products of the entries, with `index_add`"
    condition = "The matrix has two dimensions, its indices are in range, and it is used in no other way."

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        made = _made(site)
        if made is None:
            return None
        uses, line = _uses(made, site)
        entries = [site.nodes.get(argument) for argument in made.args]
        if not uses or len(entries) != 3 or None in entries or made.keywords:
            return None
        changes: dict[libcst.CSTNode, Any] = {}
        for call, dense in uses:
            node = site.nodes[call]
            statement = site.around(node, (libcst.BaseSmallStatement, libcst.BaseStatement))
            if not isinstance(statement, libcst.BaseSmallStatement) or statement in changes:
                return None
            name = fresh("dense", names_in(site.tree))
            new = _product(site, entries, name)
            value = site.nodes[dense]
            changes[node] = lambda _, new=new: new
            changes[statement] = lambda old, name=name, value=value: [assignment(name, value), old]
        if line is not None:
            changes[line] = lambda _: None
        return Changed(replaced(site.tree, changes), site.imports())


def _made(site: Site) -> ast.Call | None:
    """The call that makes the matrix that the place is about."""
    here = site.known.get(site.node)
    if here is None:
        return None
    for part in ast.walk(here):
        if isinstance(part, ast.Call) and call_of(part, site.function, _MADE):
            return part
    read = {part.id for part in ast.walk(here) if isinstance(part, ast.Name)}
    found = [
        node.value
        for node in ast.walk(site.function.node)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id in read
        and isinstance(node.value, ast.Call)
        and call_of(node.value, site.function, _MADE)
    ]
    return found[0] if len(found) == 1 else None


def _uses(made: ast.Call, site: Site) -> tuple[list[tuple[ast.expr, ast.expr]], libcst.CSTNode | None]:
    """The products that the matrix is the left factor of, with the right ones, and the line that only makes it."""
    around = site.function.parent(made)
    if (
        isinstance(around, ast.Assign)
        and len(around.targets) == 1
        and isinstance(around.targets[0], ast.Name)
    ):
        factors: list[ast.expr] = [*loads(around.targets[0].id, site.function)]
        line = site.nodes.get(around)
    else:
        factors, line = [made], None
    products = [_product_of(factor, site) for factor in factors]
    found = [product for product in products if product is not None]
    return (found, line) if len(found) == len(factors) else ([], None)


def _product_of(factor: ast.expr, site: Site) -> tuple[ast.expr, ast.expr] | None:
    around = site.function.parent(factor)
    if isinstance(around, ast.BinOp) and isinstance(around.op, ast.MatMult) and around.left is factor:
        return around, around.right
    if isinstance(around, ast.Attribute) and around.attr in ("mm", "matmul"):
        call = site.function.parent(around)
        fits = isinstance(call, ast.Call) and call.func is around and len(call.args) == 1
        return (call, call.args[0]) if fits and isinstance(call, ast.Call) else None
    if isinstance(around, ast.Call) and call_of(around, site.function, r"torch\.(sparse\.)?(mm|matmul)"):
        return (around, around.args[1]) if len(around.args) == 2 and around.args[0] is factor else None
    return None


def _product(site: Site, entries: list[libcst.CSTNode | None], dense: str) -> libcst.BaseExpression:
    indices, values, size = (code(entry) for entry in entries if entry is not None)
    shape = entries[2]
    rows = code(shape.elements[0].value) if isinstance(shape, libcst.Tuple) else f"{size}[0]"
    indices, values = (text if text.isidentifier() else f"({text})" for text in (indices, values))
    return expression(
        f"{dense}.new_zeros({rows}, {dense}.shape[1])"
        f".index_add(0, {indices}[0], {dense}[{indices}[1]] * {values}[:, None])"
    )
