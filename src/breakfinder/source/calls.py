"""What a call gives."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Protocol

from breakfinder.source.annotations import annotated
from breakfinder.source.kinds import (
    ARRAY,
    CONFIG,
    CONTAINER,
    INDICES,
    LIKELY_TENSOR,
    MODULE,
    NONE,
    NUMBER,
    OTHER,
    SUPER,
    TENSOR,
    TENSORS,
    TEXT,
    UNKNOWN,
    Kind,
    Value,
    container_of,
    join_all,
    tuple_of,
)
from breakfinder.source.names import Names
from breakfinder.source.torch_values import (
    CONTAINERS_OF_MODULES,
    CONTAINERS_OF_PARAMETERS,
    EXTREMES,
    KEEPING_OPS,
    TELLING_METHODS,
    function_result,
    is_module_class,
    method_result,
    module_result,
)


class Evaluator(Protocol):
    names: Names

    def value(self, node: ast.expr) -> Value: ...


_NUMBERS = re.compile(
    r"builtins\.(len|int|float|bool|complex|isinstance|issubclass|hasattr|callable|id|hash|ord|any|all)"
)
_TEXTS = re.compile(r"builtins\.(str|repr|format|chr|bin|hex|ascii|input)")
_SAME_ITEMS = re.compile(r"builtins\.(list|tuple|sorted|reversed|iter|set|frozenset|filter)")
_NUMBER_MODULES = re.compile(r"(math|time|random|statistics)\.\w+")
_NO_ARRAYS = re.compile(
    r"numpy\.(errstate|iinfo|finfo|dtype|printoptions|random\.(seed|default_rng|RandomState|get_state|set_state))"
)
_NUMPY_NUMBERS = re.compile(r"numpy\.(ndim|size|issubdtype|allclose|array_equal|isscalar|can_cast)")
_EINOPS = re.compile(r"einops\.(rearrange|repeat|reduce|einsum)")
_COPIES = frozenset(("copy.copy", "copy.deepcopy"))
_DTYPES = {
    "torch.bool": "bool",
    **dict.fromkeys(
        ("torch.long", "torch.int", "torch.int64", "torch.int32", "torch.uint8", "torch.int16"), "int"
    ),
    **dict.fromkeys(
        ("torch.float", "torch.float32", "torch.float16", "torch.bfloat16", "torch.half"), "float"
    ),
    "builtins.bool": "bool",
    "builtins.int": "int",
    "builtins.float": "float",
}
_CONTAINER_METHODS: dict[str, Callable[[Value], Value]] = {
    "append": lambda value: NONE,
    "extend": lambda value: NONE,
    "insert": lambda value: NONE,
    "update": lambda value: NONE,
    "clear": lambda value: NONE,
    "reverse": lambda value: NONE,
    "sort": lambda value: NONE,
    "copy": lambda value: value,
    "numel": lambda value: NUMBER,
    "index": lambda value: NUMBER,
    "count": lambda value: NUMBER,
    "keys": lambda value: CONTAINER,
    "values": lambda value: container_of(value.element()),
    "items": lambda value: container_of(tuple_of(UNKNOWN, value.element())),
    "pop": lambda value: value.element(),
    "get": lambda value: (
        value.element() if value.element() is UNKNOWN else value.element()._replace(optional=True)
    ),
}


def result(call: ast.Call, scope: Evaluator) -> Value:
    """What is known of the value of a call."""
    name = scope.names.dotted(call.func)
    if name.startswith("builtins."):
        return _of_builtin(name, call, scope)
    if name.startswith("torch."):
        return _of_torch(name, call, scope)
    if name.startswith("numpy."):
        if _NO_ARRAYS.fullmatch(name):
            return OTHER
        return NUMBER if _NUMPY_NUMBERS.fullmatch(name) else ARRAY
    if _NUMBER_MODULES.fullmatch(name):
        return (
            UNKNOWN
            if name in ("random.choice", "random.sample", "random.shuffle", "random.Random")
            else NUMBER
        )
    if call.args and (name in _COPIES or _EINOPS.fullmatch(name)):
        return scope.value(call.args[0])
    if isinstance(call.func, ast.Attribute):
        return _of_method(call.func, call, scope)
    if isinstance(call.func, ast.Name) and name == call.func.id:
        if name in scope.names.functions:
            said = annotated(scope.names.functions[name].returns, scope.names)
            return scope.names.returned(name) if said is UNKNOWN else said
        if name in scope.names.classes:
            value = annotated(call.func, scope.names)
            return value if value.kind is Kind.MODULE else UNKNOWN
    return _of_value(scope.value(call.func), scope.names)


def _of_builtin(name: str, call: ast.Call, scope: Evaluator) -> Value:
    if _NUMBERS.fullmatch(name):
        return NUMBER
    if _TEXTS.fullmatch(name):
        return TEXT
    first = scope.value(call.args[0]) if call.args else UNKNOWN
    if _SAME_ITEMS.fullmatch(name):
        if first.items is not None and name in ("builtins.list", "builtins.tuple"):
            return first
        return container_of(first.element()) if call.args else CONTAINER
    last = name[9:]
    if last in ("abs", "round", "pow"):
        return first.given() if first.kind in (Kind.TENSOR, Kind.NUMBER, Kind.ARRAY) else UNKNOWN
    if last in ("max", "min"):
        return join_all(map(scope.value, call.args)) if len(call.args) > 1 else first.element()
    if last == "sum":
        element = first.element()
        return element if element.kind in (Kind.TENSOR, Kind.NUMBER, Kind.ARRAY) else UNKNOWN
    if last == "range":
        return container_of(NUMBER)
    if last == "enumerate":
        return container_of(tuple_of(NUMBER, first.element()))
    if last == "zip":
        return container_of(tuple_of(*(scope.value(argument).element() for argument in call.args)))
    if last == "super":
        return SUPER
    if last == "getattr" and first.name == CONFIG.name:
        return CONFIG
    if last in ("print", "setattr", "delattr"):
        return NONE
    if last in ("dict", "vars", "dir", "map"):
        return CONTAINER
    return OTHER if last in ("type", "open", "object", "slice") else UNKNOWN


def _of_torch(name: str, call: ast.Call, scope: Evaluator) -> Value:
    if is_module_class(name):
        return _made_module(name, call, scope)
    last = name.rpartition(".")[2]
    if name == f"torch.{last}":
        if last in EXTREMES:
            return _extreme(last, call, scope, call.args[1:2])
        if last == "where" and len(call.args) + len(call.keywords) < 2:
            return TENSORS
        if last in ("unique", "unique_consecutive"):
            return _unique(call, call.args[1:])
        if last in KEEPING_OPS and call.args:
            return TENSOR._replace(dtype=scope.value(call.args[0]).dtype)
    value = function_result(name)
    if value.kind is Kind.TENSOR and (dtype := _keyword(call, "dtype")) is not None:
        return value._replace(dtype=_DTYPES.get(scope.names.dotted(dtype), ""))
    if value.kind is Kind.TENSOR and _is_true(_keyword(call, "return_indices")):
        return tuple_of(TENSOR, INDICES)
    return value


def _made_module(name: str, call: ast.Call, scope: Evaluator) -> Value:
    if name in CONTAINERS_OF_PARAMETERS:
        return container_of(TENSOR)
    if name in CONTAINERS_OF_MODULES:
        members = scope.value(call.args[0]).element() if call.args else UNKNOWN
        return Value(Kind.MODULE, name=name, item=members if members.kind is Kind.MODULE else MODULE)
    if name == "torch.nn.Sequential":
        last = (
            scope.value(call.args[-1])
            if call.args and not isinstance(call.args[-1], ast.Starred)
            else UNKNOWN
        )
        return (
            last
            if last.kind is Kind.MODULE and module_result(last.name).sure
            else Value(Kind.MODULE, name=name)
        )
    return Value(Kind.MODULE, name=name)


def _of_method(function: ast.Attribute, call: ast.Call, scope: Evaluator) -> Value:
    receiver = scope.value(function.value)
    name = function.attr
    if receiver.kind is Kind.TENSOR:
        return _of_tensor(receiver, name, call, scope)
    if receiver.kind is Kind.CONTAINER:
        return _CONTAINER_METHODS[name](receiver) if name in _CONTAINER_METHODS else UNKNOWN
    if receiver.kind is Kind.ARRAY:
        return {"item": NUMBER, "tolist": CONTAINER}.get(name, ARRAY)
    if receiver.kind is Kind.TEXT:
        return CONTAINER if name in ("split", "rsplit", "partition") else TEXT
    if receiver.name == CONFIG.name:
        return CONFIG
    if receiver.kind is Kind.MODULE:
        if name in ("to", "eval", "train", "cuda", "cpu", "half", "float", "requires_grad_"):
            return receiver
        return _of_value(receiver, scope.names) if name in ("forward", "__call__") else UNKNOWN
    if receiver.kind is Kind.OTHER:
        return _of_value(scope.value(function), scope.names)
    if name in TELLING_METHODS or name.rstrip("_") in TELLING_METHODS:
        return _of_tensor(TENSOR, name, call, scope)
    if name == "item" and not call.args:
        return NUMBER
    return _of_value(scope.value(function), scope.names)


def _of_tensor(receiver: Value, name: str, call: ast.Call, scope: Evaluator) -> Value:
    if name in EXTREMES:
        return _certain(_extreme(name, call, scope, call.args[:1]), receiver)
    if name in ("size", "stride"):
        return NUMBER if call.args or call.keywords else method_result(name)
    if name in ("unique", "unique_consecutive"):
        return _unique(call, call.args)
    if name == "type" and call.args:
        return receiver.given()
    if name in ("to", "type_as"):
        return Value(Kind.TENSOR, receiver.sure, dtype=_dtype_after(receiver, call, scope.names))
    if name in KEEPING_OPS:
        return Value(Kind.TENSOR, receiver.sure, dtype=receiver.dtype)
    return _certain(method_result(name), receiver)


def _dtype_after(receiver: Value, call: ast.Call, names: Names) -> str:
    """The dtype of a tensor after ``to``: that of before if only a device is given."""
    given = _keyword(call, "dtype") or (call.args[1] if len(call.args) > 1 else None)
    target = given or (call.args[0] if call.args else None)
    if target is None:
        return receiver.dtype if _keyword(call, "device") else ""
    name = names.dotted(target)
    device = given is None and (isinstance(target, ast.Constant) or name.rpartition(".")[2] == "device")
    return receiver.dtype if device else _DTYPES.get(name, "")


def _certain(value: Value, receiver: Value) -> Value:
    """A result that is as sure as what it is a method of is a tensor."""
    if receiver.sure or value.kind is Kind.UNKNOWN:
        return value
    if value.items is not None:
        return value._replace(items=tuple(_certain(item, receiver) for item in value.items), sure=False)
    return value._replace(sure=False, item=_certain(value.item, receiver) if value.item else None)


def _extreme(name: str, call: ast.Call, scope: Evaluator, second: list[ast.expr]) -> Value:
    """``max`` and the like: of all, of two tensors, or along a dimension."""
    along = _keyword(call, "dim") or (second[0] if second else None)
    if along is None or scope.value(along).kind is Kind.TENSOR:
        return TENSOR
    return tuple_of(TENSOR, INDICES)


def _unique(call: ast.Call, flags: list[ast.expr]) -> Value:
    extra = [keyword for keyword in call.keywords if (keyword.arg or "return_").startswith("return_")]
    if extra:
        return tuple_of(TENSOR, INDICES) if len(extra) == 1 and extra[0].arg else TENSORS
    return LIKELY_TENSOR if len(flags) > 1 else TENSOR


def _of_value(value: Value, names: Names) -> Value:
    """What calling a value gives."""
    if value.kind is Kind.MODULE:
        return _of_own_module(value.name, names) if value.name in names.classes else module_result(value.name)
    if value.kind is Kind.OTHER and value.item is not None:  # a method or function whose result is known
        return value.item
    return names.returned(value.name) if value.kind is Kind.OTHER and "." in value.name else UNKNOWN


def _of_own_module(name: str, names: Names) -> Value:
    """What a module gives whose class is in the same file."""
    value = names.returned(f"{name}.forward")
    return LIKELY_TENSOR if value.kind is Kind.UNKNOWN else value


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True
