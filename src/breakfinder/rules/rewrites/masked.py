"""Tensors indexed by masks."""

from __future__ import annotations

from dataclasses import dataclass

import libcst

from breakfinder.rules.rewrites.rewrite import Site
from breakfinder.rules.rewrites.tree import atom, code, expression, names_in


@dataclass(frozen=True)
class Picked:
    """``tensor[mask]``."""

    tensor: libcst.BaseExpression
    mask: libcst.BaseExpression


def picked(node: libcst.CSTNode, site: Site) -> Picked | None:
    """What an expression picks from which tensor by a mask; None for any other."""
    if isinstance(node, libcst.Subscript):
        mask = plain_mask(node)
        return None if mask is None else Picked(node.value, mask)
    if not isinstance(node, libcst.Call) or any(argument.keyword or argument.star for argument in node.args):
        return None
    if not isinstance(node.func, libcst.Attribute) or node.func.attr.value != "masked_select":
        return None
    given = [argument.value for argument in node.args]
    if code(node.func.value) != site.module():
        given = [node.func.value, *given]
    return Picked(*given) if len(given) == 2 else None


def plain_mask(node: libcst.Subscript) -> libcst.BaseExpression | None:
    """The one index of a subscript, unless it is surely no mask."""
    if len(node.slice) != 1 or not isinstance(node.slice[0].slice, libcst.Index):
        return None
    index = node.slice[0].slice.value
    if isinstance(
        index, libcst.Tuple | libcst.BaseNumber | libcst.BaseString | libcst.List | libcst.Ellipsis
    ):
        return None
    return index


def expanded(found: Picked, tensor: libcst.BaseExpression, site: Site) -> libcst.BaseExpression:
    """The mask, with dimensions at its end as the tensor has more than it."""
    if code(tensor) in _compared(found.mask) or code(found.tensor) in _compared(found.mask):
        return found.mask
    if isinstance(tensor, libcst.Name) and tensor.value in names_in(found.mask):
        return found.mask
    return expression(
        "{mask}.reshape({mask}.shape + (1,) * ({tensor}.dim() - {mask}.dim()))",
        mask=atom(found.mask),
        tensor=atom(tensor),
    )


def _compared(mask: libcst.BaseExpression) -> set[str]:
    """What an elementwise condition compares: it has the same shape."""
    if isinstance(mask, libcst.Comparison):
        return {code(mask.left), *(code(part.comparator) for part in mask.comparisons)}
    if isinstance(mask, libcst.UnaryOperation):
        return _compared(mask.expression)
    if isinstance(mask, libcst.BinaryOperation):
        return _compared(mask.left) | _compared(mask.right)
    if isinstance(mask, libcst.Call) and isinstance(mask.func, libcst.Attribute):
        return {code(mask.func.value), *(code(argument.value) for argument in mask.args)}
    return set()
