"""What an expression gives, from what is known of the variables in it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from breakfinder.source import calls
from breakfinder.source.annotations import constant
from breakfinder.source.kinds import (
    CONFIG,
    CONTAINER,
    NUMBER,
    OTHER,
    TENSOR,
    TEXT,
    UNKNOWN,
    Kind,
    Value,
    container_of,
    join,
    join_all,
    tuple_of,
)
from breakfinder.source.names import Names
from breakfinder.source.torch_values import TENSOR_ATTRIBUTES

_DEEPEST = 40
"""Expressions that nest deeper are not followed."""
_HABITS = frozenset(
    (
        "last_hidden_state",
        "logits",
        "pooler_output",
        "input_ids",
        "image_embeds",
        "text_embeds",
        "pixel_values",
    )
)
_CONSTANTS = frozenset(
    f"{module}.{name}" for module in ("math", "torch", "numpy") for name in ("pi", "inf", "nan", "e")
)


class Expressions:
    """Evaluates the expressions of one function."""

    def __init__(self, names: Names, loads: Mapping[ast.AST, Value], attributes: Mapping[str, Value]) -> None:
        """``loads``: what is known of variables (and attributes) where they are read; ``attributes``: of
        ``self``'s attributes at the start."""
        self.names = names
        self.attributes = attributes
        self._loads = loads
        self._known: dict[ast.AST, Value] = {}
        self._depth = 0

    def value(self, node: ast.expr) -> Value:
        """What is known of the value of an expression."""
        known = self._known.get(node)
        if known is not None:
            return known
        evaluate = self._BY_TYPE.get(type(node))
        if evaluate is None or self._depth > _DEEPEST:
            return UNKNOWN
        self._depth += 1
        try:
            value = evaluate(self, node)
        finally:
            self._depth -= 1
        self._known[node] = value
        return value

    def forget(self) -> None:
        """Evaluate all anew: variables have other values than before (a second time round a loop)."""
        self._known.clear()

    def _name(self, node: ast.Name) -> Value:
        found = self._loads.get(node)
        if found is not None:
            return found
        value = self.names.assigned.get(node.id)
        if isinstance(value, ast.Constant) and self.names.dotted(node) == node.id:
            return constant(value)
        return NUMBER if self.names.dotted(node) in _CONSTANTS else UNKNOWN

    def _joined_text(self, node: ast.expr) -> Value:
        return TEXT

    def _sequence(self, node: ast.List | ast.Tuple) -> Value:
        if any(isinstance(item, ast.Starred) for item in node.elts):
            return CONTAINER
        return tuple_of(*map(self.value, node.elts))

    def _set(self, node: ast.Set) -> Value:
        return container_of(join_all(map(self.value, node.elts)))

    def _dict(self, node: ast.Dict) -> Value:
        return container_of(join_all(map(self.value, node.values)))

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
        return container_of(self.value(node.elt))

    def _dict_comprehension(self, node: ast.DictComp) -> Value:
        return container_of(self.value(node.value))

    def _other(self, node: ast.expr) -> Value:
        return OTHER

    def _named_expression(self, node: ast.NamedExpr) -> Value:
        return self.value(node.value)

    def _either(self, node: ast.IfExp) -> Value:
        return join(self.value(node.body), self.value(node.orelse))

    def _bool(self, node: ast.BoolOp) -> Value:
        return join_all(map(self.value, node.values))

    def _unary(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return NUMBER
        return self.value(node.operand).given()

    def _compare(self, node: ast.Compare) -> Value:
        if isinstance(node.ops[0], ast.Is | ast.IsNot | ast.In | ast.NotIn):
            return NUMBER
        return compared([self.value(node.left), *map(self.value, node.comparators)])

    def _binary(self, node: ast.BinOp) -> Value:
        return combined(self.value(node.left), self.value(node.right), node.op)

    def _subscript(self, node: ast.Subscript) -> Value:
        found = self._loads.get(node)
        if found is not None:
            return found
        value = self.value(node.value)
        if value.kind in (Kind.TENSOR, Kind.ARRAY):
            return value.given()
        if value.kind is Kind.TEXT or value is CONFIG:
            return value
        if self.names.dotted(node.value).rpartition(".")[2] == "ACT2FN":
            return Value(Kind.MODULE, name="torch.nn.GELU")
        if value.kind is Kind.CONTAINER or (value.kind is Kind.MODULE and value.item):
            return _part(value, node.slice)
        return UNKNOWN

    def _attribute(self, node: ast.Attribute) -> Value:
        found = self._loads.get(node)
        if found is not None:
            return found
        value = self.value(node.value)
        if value.kind is Kind.TENSOR:
            found = TENSOR_ATTRIBUTES.get(node.attr, UNKNOWN)
            return found._replace(sure=value.sure) if found.kind is Kind.TENSOR else found
        if value.name == "self":
            return self.attributes.get(node.attr) or _of_any_module(node.attr)
        return _of_value(value, node.attr) or self._by_name(node)

    def _by_name(self, node: ast.Attribute) -> Value:
        name = self.names.dotted(node)
        if name in _CONSTANTS:
            return NUMBER
        if name.startswith(("torch.", "numpy.")):
            return OTHER
        return Value(Kind.TENSOR, sure=False) if node.attr in _HABITS else UNKNOWN

    def _call(self, node: ast.Call) -> Value:
        return calls.result(node, self)

    _BY_TYPE: ClassVar[dict[type[ast.AST], Callable[[Any, Any], Value]]] = {
        ast.Name: _name,
        ast.Constant: lambda self, node: constant(node),
        ast.JoinedStr: _joined_text,
        ast.List: _sequence,
        ast.Tuple: _sequence,
        ast.Set: _set,
        ast.Dict: _dict,
        ast.ListComp: _comprehension,
        ast.SetComp: _comprehension,
        ast.GeneratorExp: _comprehension,
        ast.DictComp: _dict_comprehension,
        ast.Lambda: _other,
        ast.NamedExpr: _named_expression,
        ast.IfExp: _either,
        ast.BoolOp: _bool,
        ast.UnaryOp: _unary,
        ast.Compare: _compare,
        ast.BinOp: _binary,
        ast.Subscript: _subscript,
        ast.Attribute: _attribute,
        ast.Call: _call,
    }


def compared(values: list[Value]) -> Value:
    """What ``==`` or ``<`` gives; with a string, None or a container a tensor compares as plain objects do."""
    kinds = {value.kind for value in values}
    if Kind.TENSOR in kinds:
        if kinds & {Kind.NONE, Kind.TEXT, Kind.CONTAINER}:
            return NUMBER
        sure = any(value.kind is Kind.TENSOR and value.fact.sure for value in values)
        return Value(Kind.TENSOR, sure, dtype="bool")
    if Kind.ARRAY in kinds:
        return Value(Kind.ARRAY)
    return UNKNOWN if Kind.UNKNOWN in kinds else NUMBER


def combined(left: Value, right: Value, operator: ast.operator) -> Value:
    """What an arithmetic or bit operator gives."""
    kinds = {left.kind, right.kind}
    if left.kind is Kind.TEXT and isinstance(operator, ast.Mod):
        return TEXT
    if kinds == {Kind.TENSOR, Kind.CONTAINER}:
        return UNKNOWN
    if Kind.TENSOR in kinds:
        sure = any(value.kind is Kind.TENSOR and value.sure for value in (left, right))
        masks = all(value.dtype == "bool" for value in (left, right))
        logical = isinstance(operator, ast.BitAnd | ast.BitOr | ast.BitXor)
        return Value(Kind.TENSOR, sure, dtype="bool" if masks and logical else "")
    if Kind.CONTAINER in kinds:
        if kinds == {Kind.CONTAINER}:
            return container_of(join(left.element(), right.element()))
        return container_of((left if left.kind is Kind.CONTAINER else right).element())
    if Kind.ARRAY in kinds:
        return Value(Kind.ARRAY)
    if Kind.TEXT in kinds:
        return TEXT
    if Kind.UNKNOWN in kinds or Kind.NONE in kinds or Kind.MODULE in kinds:
        return UNKNOWN
    return NUMBER if kinds == {Kind.NUMBER} else OTHER


def _part(value: Value, index: ast.expr) -> Value:
    if isinstance(index, ast.Slice):
        if value.items is not None:
            bounds = [_integer(bound) if bound else None for bound in (index.lower, index.upper)]
            plain = index.step is None and all(
                number is not None or bound is None
                for number, bound in zip(bounds, (index.lower, index.upper), strict=True)
            )
            return tuple_of(*value.items[bounds[0] : bounds[1]]) if plain else container_of(value.element())
        return value
    number = _integer(index)
    return value.element() if number is None else value.at(number)


def _integer(node: ast.expr) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _integer(node.operand)
        return None if inner is None else -inner
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _of_any_module(attribute: str) -> Value:
    """An attribute of ``self`` that no assignment is known of."""
    if attribute == "config":
        return CONFIG
    if attribute == "training":
        return NUMBER
    return OTHER if attribute in ("device", "dtype") else UNKNOWN


def _of_value(value: Value, attribute: str) -> Value | None:
    if value is CONFIG or value.name == CONFIG.name or attribute == "config":
        return CONFIG
    if value.kind is Kind.MODULE:
        if attribute == "weight":
            return TENSOR
        if attribute == "bias":
            return TENSOR._replace(optional=True)
        return NUMBER if attribute == "training" else None
    if value.kind is Kind.CONTAINER and value.items and len(value.items) == 2:
        return {"values": value.items[0], "indices": value.items[1]}.get(attribute)
    if value.kind is Kind.ARRAY:
        return {"shape": container_of(NUMBER), "ndim": NUMBER, "size": NUMBER, "T": value}.get(attribute)
    return None
