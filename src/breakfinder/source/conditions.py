"""What a condition says: whether it is decided while compiling, and what is known where it holds."""

from __future__ import annotations

import ast
from typing import Protocol

from breakfinder.source.environment import Environment
from breakfinder.source.kinds import (
    ARRAY,
    CONTAINER,
    MODULE,
    NONE,
    NUMBER,
    TENSOR,
    TEXT,
    UNKNOWN,
    Kind,
    Value,
)
from breakfinder.source.names import Names

_DEEPEST = 40
_COMPILING = frozenset(("is_torchdynamo_compiling", "is_compiling", "is_dynamo_compiling"))
_NOT_COMPILING = frozenset(
    (
        "is_scripting",
        "is_exporting",
        "is_torchdynamo_exporting",
        "is_in_onnx_export",
        "is_jit_tracing",
        "TYPE_CHECKING",
    )
)
_OF_TYPE: dict[str, Value] = {
    "torch.Tensor": TENSOR,
    "torch.nn.Parameter": TENSOR,
    "torch.nn.Module": MODULE,
    "numpy.ndarray": ARRAY,
    "builtins.str": TEXT,
    **{f"builtins.{name}": NUMBER for name in ("int", "float", "bool", "complex")},
    **{f"builtins.{name}": CONTAINER for name in ("list", "tuple", "dict", "set")},
}


def decided(test: ast.expr, names: Names, depth: int = 0) -> bool | None:
    """The value that a condition has whenever the code is compiled by Dynamo, None where that is open."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if depth > _DEEPEST:
        return None
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = decided(test.operand, names, depth + 1)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        values = [decided(value, names, depth + 1) for value in test.values]
        settling = isinstance(test.op, ast.Or)
        if settling in values:
            return settling
        return None if None in values else not settling
    called = isinstance(test, ast.Call)
    name = names.dotted(test.func if isinstance(test, ast.Call) else test)
    head, _, last = name.rpartition(".")
    if last in _COMPILING and called:
        return True
    if last == "is_tracing" and called:  # transformers' own is also true while compiling
        return not head.startswith("torch")
    return False if last in _NOT_COMPILING and (called or last == "TYPE_CHECKING") else None


def path_of(node: ast.expr) -> str:
    """The name of a variable, or of an attribute of one (``self.mask``), as it is written; empty for all else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.NamedExpr):
        return node.target.id
    attributes: list[str] = []
    while isinstance(node, ast.Attribute) and len(attributes) < 4:
        attributes.append(node.attr)
        node = node.value
    return ".".join((node.id, *reversed(attributes))) if isinstance(node, ast.Name) else ""


class Scope(Protocol):
    """Where a condition stands."""

    names: Names

    def value(self, node: ast.expr) -> Value: ...


def narrow(test: ast.expr, holds: bool, known: Environment, scope: Scope, depth: int = 0) -> None:
    """Put into ``known`` what follows from a condition that holds, or does not."""
    if depth > _DEEPEST:
        return
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        narrow(test.operand, not holds, known, scope, depth + 1)
    elif isinstance(test, ast.BoolOp):
        if holds is isinstance(test.op, ast.And):
            for value in test.values:
                narrow(value, holds, known, scope, depth + 1)
    elif isinstance(test, ast.Compare):
        if (
            len(test.ops) == 1
            and _is_none(test.comparators[0])
            and isinstance(test.ops[0], ast.Is | ast.IsNot)
        ):
            _narrow_none(test.left, holds is isinstance(test.ops[0], ast.Is), known, scope)
    elif isinstance(test, ast.Call):
        _narrow_type(test, holds, known, scope)
    elif holds:
        _narrow_none(test, False, known, scope)


def narrows(test: ast.expr) -> bool:
    """Whether `narrow` could have anything to say."""
    return isinstance(
        test, ast.UnaryOp | ast.BoolOp | ast.Compare | ast.Call | ast.Name | ast.Attribute | ast.NamedExpr
    )


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _narrow_none(node: ast.expr, is_none: bool, known: Environment, scope: Scope) -> None:
    path = path_of(node)
    if not path:
        return
    if is_none:
        known[path] = NONE
        return
    value = known.get(path) or scope.value(node)
    if value.kind is Kind.NONE:
        known[path] = UNKNOWN
    elif value.optional:
        known[path] = value.given()


def _narrow_type(test: ast.Call, holds: bool, known: Environment, scope: Scope) -> None:
    name = scope.names.dotted(test.func)
    if name == "torch.is_tensor" and test.args:
        kinds = [TENSOR]
    elif name == "builtins.isinstance" and len(test.args) == 2:
        among = test.args[1].elts if isinstance(test.args[1], ast.Tuple) else [test.args[1]]
        kinds = [_OF_TYPE.get(scope.names.dotted(one), UNKNOWN) for one in among]
    else:
        return
    path = path_of(test.args[0])
    if not path:
        return
    before = known.get(path) or scope.value(test.args[0])
    if not holds:
        if any(kind.kind is before.kind for kind in kinds):
            known[path] = NONE if before.optional and before.sure else UNKNOWN
    elif not all(kind.kind is before.kind for kind in kinds):
        known[path] = kinds[0] if all(kind == kinds[0] for kind in kinds) else UNKNOWN
    elif before.kind is not Kind.UNKNOWN:
        known[path] = before._replace(sure=True, optional=False)
