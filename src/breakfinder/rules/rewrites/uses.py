"""What becomes of a value in a function."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from breakfinder.source.dataflow import Function
from breakfinder.source.definitions import FunctionNode

_NUMBERS_ONLY = (
    r"builtins\.(range|print|str|repr|format|bool|isinstance|hash|round|divmod|slice)|math\.\w+|logging\..*"
    r"|warnings\..*|torch\.(zeros|ones|empty|rand|randn|randint|arange|linspace|eye|full|split|chunk|topk|tensor)"
)
_NUMBERS_ONLY_METHODS = frozenset(
    (
        "view",
        "reshape",
        "expand",
        "repeat",
        "split",
        "chunk",
        "topk",
        "narrow",
        "new_zeros",
        "new_ones",
        "new_empty",
        "new_full",
        "tile",
        "roll",
        "unfold",
        "transpose",
        "permute",
        "unsqueeze",
        "squeeze",
        "flatten",
        "format",
        "size",
        "select",
        "repeat_interleave",
    )
)


def stays_tensor(node: ast.expr, function: Function) -> bool:
    """Whether a number could be a tensor as well in all that is done with it, as far as can be seen.

    It could not where Python asks whether it is true or for its size, where it becomes text, an index or a shape,
    and where it leaves the function.
    """
    seen: set[str] = set()
    todo = [node]
    while todo:
        here = todo.pop()
        around = function.parent(here)
        if isinstance(around, ast.keyword):
            around = function.parent(around)
        if isinstance(around, ast.BinOp | ast.UnaryOp | ast.Compare | ast.IfExp):
            if isinstance(around, ast.UnaryOp) and isinstance(around.op, ast.Not):
                return False
            if isinstance(around, ast.Compare) and isinstance(
                around.ops[0], ast.In | ast.NotIn | ast.Is | ast.IsNot
            ):
                return False
            if isinstance(around, ast.IfExp) and around.test is here:
                continue
            # From here on it is a tensor if the other operand is one, and that changes nothing.
            if not _with_tensor(around, here, function):
                todo.append(around)
        elif isinstance(around, ast.Assign | ast.AnnAssign | ast.NamedExpr | ast.AugAssign):
            targets = around.targets if isinstance(around, ast.Assign) else [around.target]
            for target in targets:
                if not isinstance(target, ast.Name):
                    if isinstance(target, ast.Tuple | ast.List):
                        return False
                    continue
                if isinstance(around, ast.AugAssign) and function.is_tensor(ast.Name(target.id, ast.Load())):
                    continue
                if target.id not in seen:
                    seen.add(target.id)
                    todo += loads(target.id, function)
            if isinstance(around, ast.NamedExpr):
                todo.append(around)
        elif isinstance(around, ast.Call):
            if here is around.func or _wants_number(around, function):
                return False
        elif isinstance(around, ast.If) and here is around.test:
            continue  # a branch on it is another problem, with fixes of its own
        elif isinstance(around, ast.Expr | ast.List | ast.Tuple | ast.Dict | ast.Set | ast.arguments):
            continue
        else:
            return False
    return True


def loads(name: str, function: Function) -> Iterator[ast.Name]:
    """Where a function reads a variable."""
    for node in ast.walk(function.node):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            if function.parent(node) is None:
                continue
            yield node


def bound_before(name: str, node: ast.stmt, function: FunctionNode | ast.Lambda) -> bool:
    """Whether a function has given a variable a value above a statement, on some way at least."""
    arguments = function.args
    given = (
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    )
    if any(argument is not None and argument.arg == name for argument in given):
        return True
    return any(
        isinstance(part, ast.Name)
        and part.id == name
        and isinstance(part.ctx, ast.Store)
        and (part.lineno, part.col_offset) < (node.lineno, node.col_offset)
        for part in ast.walk(function)
    )


def _with_tensor(around: ast.expr, here: ast.expr, function: Function) -> bool:
    if not isinstance(around, ast.BinOp):
        return False
    other = around.right if around.left is here else around.left
    return function.is_tensor(other)


def _wants_number(call: ast.Call, function: Function) -> bool:
    name = function.names.dotted(call.func)
    if re.fullmatch(_NUMBERS_ONLY, name):
        return True
    return isinstance(call.func, ast.Attribute) and call.func.attr in _NUMBERS_ONLY_METHODS
