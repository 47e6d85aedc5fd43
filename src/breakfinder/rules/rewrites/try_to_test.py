"""try around an operator that fails for some shapes: a test of the shapes."""

from __future__ import annotations

from typing import Any

import libcst

from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.tree import atom, code, expression, replaced

_CAUGHT = (
    "RuntimeError",
    "Exception",
    "BaseException",
    "(RuntimeError, ValueError)",
    "(ValueError, RuntimeError)",
)
_ELEMENTWISE = (
    libcst.Add,
    libcst.Subtract,
    libcst.Multiply,
    libcst.Divide,
    libcst.FloorDivide,
    libcst.Modulo,
    libcst.Power,
)


class TryToTest(Rewrite):
    title = "Test whether the shapes fit, in place of `try`"
    condition = "Nothing but the shapes makes it fail."

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        node = site.around(site.node, (libcst.Try, libcst.FunctionDef))
        if not isinstance(node, libcst.Try) or node.orelse or node.finalbody or len(node.handlers) != 1:
            return None
        handler = node.handlers[0]
        if handler.name is not None or (handler.type is not None and code(handler.type) not in _CAUGHT):
            return None
        if len(node.body.body) != 1 or not isinstance(node.body.body[0], libcst.SimpleStatementLine):
            return None
        sides = _sides(site.node, site)
        if sides is None:
            return None
        one, other = sides
        test = expression(
            "all(a == b or 1 in (a, b) for a, b in zip({one}.shape[::-1], {other}.shape[::-1]))",
            one=atom(one),
            other=atom(other),
        )

        def change(tried: libcst.Try) -> list[Any]:
            otherwise = libcst.Else(
                body=tried.handlers[0].body, leading_lines=tried.handlers[0].leading_lines
            )
            return [libcst.If(test, tried.body, otherwise)]

        return Changed(replaced(site.tree, {node: change}))


def _sides(node: libcst.CSTNode, site: Site) -> tuple[libcst.BaseExpression, libcst.BaseExpression] | None:
    """The operands of the elementwise operator at the place, both plain enough to be read twice."""
    if isinstance(node, libcst.BinaryOperation) and isinstance(node.operator, _ELEMENTWISE):
        sides = node.left, node.right
    elif isinstance(node, libcst.Call) and code(node.func) in (
        f"{site.module()}.{name}" for name in ("add", "sub", "mul", "div", "maximum", "minimum")
    ):
        if len(node.args) != 2 or any(argument.keyword or argument.star for argument in node.args):
            return None
        sides = node.args[0].value, node.args[1].value
    else:
        return None
    plain = all(isinstance(side, libcst.Name | libcst.Attribute) for side in sides)
    return sides if plain else None
