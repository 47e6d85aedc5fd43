"""Conditions on tensors."""

from __future__ import annotations

import ast
from dataclasses import dataclass

import libcst

from breakfinder.rules.rewrites.rewrite import Site
from breakfinder.rules.rewrites.tree import code, expression, operand
from breakfinder.source.kinds import Kind

_GIVES_BOOL = frozenset(
    (
        "any",
        "all",
        "isnan",
        "isinf",
        "isfinite",
        "isclose",
        "allclose",
        "equal",
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        "logical_and",
        "logical_or",
        "logical_not",
        "logical_xor",
        "bool",
        "is_nonzero",
        "isin",
        "signbit",
    )
)
_NOT_TENSORS = (Kind.NUMBER, Kind.TEXT, Kind.NONE, Kind.CONTAINER, Kind.MODULE)


@dataclass(frozen=True)
class Condition:
    """What a branch asks."""

    plain: libcst.BaseExpression | None
    """What it asks first, of Python's values alone: only if that holds, it asks for the tensor."""
    tensor: libcst.BaseExpression
    """A tensor of booleans."""
    negated: bool


def condition(test: libcst.BaseExpression, site: Site) -> Condition | None:
    """A condition, told apart; None if it is not one on tensors."""
    if isinstance(test, libcst.UnaryOperation) and isinstance(test.operator, libcst.Not):
        inner = condition(test.expression, site)
        return None if inner is None or inner.plain else Condition(None, inner.tensor, not inner.negated)
    operands = _operands(test)
    if len(operands) == 1:
        return None if is_plain(test, site) else Condition(None, truth(test, site), False)
    assert isinstance(test, libcst.BooleanOperation)
    plain = [operand for operand in operands if is_plain(operand, site)]
    tensors = [operand for operand in operands if not is_plain(operand, site)]
    if not tensors or operands[: len(plain)] != plain:
        return None
    if plain and not isinstance(test.operator, libcst.And):
        return None
    word = "logical_and" if isinstance(test.operator, libcst.And) else "logical_or"
    parts = [value for operand in tensors if (value := whole(operand, site)) is not None]
    if len(parts) != len(tensors):
        return None
    joined = parts[0]
    for part in parts[1:]:
        joined = expression(f"{site.module()}.{word}({{one}}, {{other}})", one=joined, other=part)
    return Condition(_all(plain), joined, False)


def whole(test: libcst.BaseExpression, site: Site) -> libcst.BaseExpression | None:
    """A condition as one tensor of booleans."""
    found = condition(test, site)
    if found is None or found.plain is not None:
        return None
    if not found.negated:
        return found.tensor
    return expression(site.module() + ".logical_not({value})", value=found.tensor)


def truth(value: libcst.BaseExpression, site: Site) -> libcst.BaseExpression:
    """A tensor as a tensor of booleans."""
    known = site.known.get(value)
    if isinstance(value, libcst.Comparison):
        return _without_item(value)
    if isinstance(value, libcst.Call):
        called = value.func.attr if isinstance(value.func, libcst.Attribute) else value.func
        if isinstance(called, libcst.Name) and called.value == "bool" and len(value.args) == 1:
            return truth(value.args[0].value, site)
        if (
            isinstance(called, libcst.Name)
            and called.value == "item"
            and isinstance(value.func, libcst.Attribute)
        ):
            return truth(value.func.value, site)
        if compared := _compared(value, site):
            return compared
        if isinstance(called, libcst.Name) and called.value in _GIVES_BOOL:
            return value
    if isinstance(known, ast.expr) and site.function.is_mask(known):
        return value
    return expression("{value} != 0", value=operand(value))


def _without_item(test: libcst.Comparison) -> libcst.BaseExpression:
    """A comparison of what ``.item()`` gives as one of tensors."""

    def tensor(side: libcst.BaseExpression) -> libcst.BaseExpression:
        item = isinstance(side, libcst.Call) and not side.args and isinstance(side.func, libcst.Attribute)
        if item and side.func.attr.value == "item":  # type: ignore[attr-defined]
            return side.func.value  # type: ignore[attr-defined,no-any-return]
        return side

    comparisons = [part.with_changes(comparator=tensor(part.comparator)) for part in test.comparisons]
    return test.with_changes(left=tensor(test.left), comparisons=comparisons)


def _compared(value: libcst.Call, site: Site) -> libcst.BaseExpression | None:
    """``torch.equal`` and ``torch.allclose``, which give a bool of Python's, as a tensor."""
    torch = site.module()
    called = code(value.func)
    if called == f"{torch}.allclose":
        close = value.with_changes(func=expression(f"{torch}.isclose"))
        return expression("{close}.all()", close=close)
    if called == f"{torch}.equal" and len(value.args) == 2:
        one, other = (operand(argument.value) for argument in value.args)
        return expression("({one} == {other}).all()", one=one, other=other)
    return None


def is_plain(test: libcst.BaseExpression, site: Site) -> bool:
    """Whether a condition is surely not on a tensor."""
    if isinstance(test, libcst.UnaryOperation) and isinstance(test.operator, libcst.Not):
        return is_plain(test.expression, site)
    if isinstance(test, libcst.BooleanOperation):
        return is_plain(test.left, site) and is_plain(test.right, site)
    if isinstance(test, libcst.Comparison):
        if any(
            isinstance(part.operator, libcst.Is | libcst.IsNot | libcst.In | libcst.NotIn)
            for part in test.comparisons
        ):
            return True
        sides = [test.left, *(part.comparator for part in test.comparisons)]
        return all(is_plain(side, site) for side in sides)
    if isinstance(test, libcst.Call) and (_compared(test, site) or _of_tensor(test, site)):
        return False
    known = site.known.get(test)
    if not isinstance(known, ast.expr):
        return False
    of_self = site.names.dotted(known).startswith("self.")
    if of_self and test is not site.node and not site.is_tensor(test):
        return True
    return isinstance(known, ast.Constant) or site.function.fact(known).kind in _NOT_TENSORS


def _of_tensor(test: libcst.Call, site: Site) -> bool:
    """Whether a call makes a number of a tensor."""
    if isinstance(test.func, libcst.Attribute):
        return test.func.attr.value == "item"
    return code(test.func) in ("bool", "float", "int") and any(
        not is_plain(argument.value, site) for argument in test.args
    )


def _operands(test: libcst.BaseExpression) -> list[libcst.BaseExpression]:
    """What ``and`` or ``or`` joins, one of them at a time."""
    if not isinstance(test, libcst.BooleanOperation):
        return [test]
    parts = list[libcst.BaseExpression]()
    for side in (test.left, test.right):
        alike = isinstance(side, libcst.BooleanOperation) and type(side.operator) is type(test.operator)
        parts += _operands(side) if alike else [side]
    return parts


def _all(parts: list[libcst.BaseExpression]) -> libcst.BaseExpression | None:
    if not parts:
        return None
    joined = parts[0]
    for part in parts[1:]:
        joined = libcst.BooleanOperation(joined, libcst.And(), part)
    return joined
