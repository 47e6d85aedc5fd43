"""A statement put behind a check for compiling."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

import libcst

from breakfinder.rules import kept
from breakfinder.rules.pattern import call_of
from breakfinder.rules.rewrites.rewrite import Changed, Site
from breakfinder.rules.rewrites.tree import Replacement, block, replaced, statement
from breakfinder.source.dataflow import Function, Kind

_METHODS = (
    *("debug", "info", "warning", "error", "exception", "critical", "log", "warn"),
    *("debug_once", "info_once", "warning_once", "error_once", "warning_advice"),
)
_LOGGERS = r"logging\.getLogger|([\w.]+\.)?logging\.get_logger"
_PURE = (
    r"builtins\.(len|str|repr|float|int|bool|min|max|abs|round|type|id|tuple|list|format|sum)"
    r"|torch\.(mean|std|var|sum|max|min|amax|amin|norm|abs|isnan|isinf|isfinite|any|all|sqrt|log|exp|equal|allclose)"
)
_TENSOR_METHODS = frozenset(
    (
        "mean",
        "std",
        "var",
        "sum",
        "max",
        "min",
        "amax",
        "amin",
        "norm",
        "abs",
        "isnan",
        "isinf",
        "isfinite",
        "any",
        "all",
        "sqrt",
        "log",
        "exp",
        "float",
        "double",
        "detach",
        "cpu",
        "numpy",
        "item",
        "tolist",
        "size",
        "dim",
        "numel",
    )
)
_TEXT_METHODS = ("format", "join", "upper", "lower", "strip", "ljust", "rjust")


def guarded(site: Site, fits: Callable[[ast.Call], bool]) -> Changed | None:
    """The call that is the statement at the place behind a check for compiling, if it fits."""
    line = site.around(site.node, (libcst.Expr, libcst.BaseCompoundStatement))
    call = site.known.get(line.value) if isinstance(line, libcst.Expr) else None
    if line is None or not isinstance(call, ast.Call) or not fits(call):
        return None
    return behind_check(site, line) if not site.function.guarded(call) else None


def behind_check(site: Site, line: libcst.CSTNode) -> Changed:
    """A small statement behind a check for compiling."""
    return Changed(replaced(site.tree, {line: guard(site)}), site.imports())


def guard(site: Site) -> Replacement:
    """What puts a small statement behind a check for compiling."""
    torch = site.module()

    def change(alone: libcst.SimpleStatementLine) -> list[libcst.BaseCompoundStatement]:
        check = statement(f"if not {torch}.compiler.is_compiling():\n    pass")
        assert isinstance(check, libcst.If)
        return [check.with_changes(body=block([alone]))]

    return change


def only_message(call: ast.Call, function: Function) -> bool:
    """Whether a call surely does nothing but show a message, and computing the message does nothing else."""
    if call_of(call, function, r"builtins\.print"):
        if any(given.arg == "file" and not _standard(given.value, function) for given in call.keywords):
            return False
    elif not (
        call_of(call, function, r"warnings\.warn|logging\.(" + "|".join(_METHODS) + ")")
        or _of_logger(call, function)
    ):
        return False
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return all(_without_effect(part, function) for argument in given for part in ast.walk(argument))


def _standard(node: ast.expr, function: Function) -> bool:
    return function.names.dotted(node) in ("sys.stdout", "sys.stderr")


def _of_logger(call: ast.Call, function: Function) -> bool:
    """Whether a method is called on a logger that the module made."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _METHODS:
        return False
    made = kept.global_value(call.func.value, function)
    return isinstance(made, ast.Call) and re.fullmatch(_LOGGERS, function.names.dotted(made.func)) is not None


def _without_effect(node: ast.AST, function: Function) -> bool:
    if isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
        return False
    if not isinstance(node, ast.Call) or call_of(node, function, _PURE):
        return True
    if not isinstance(node.func, ast.Attribute):
        return False
    method, kind = node.func.attr, function.fact(node.func.value).kind
    return (kind is Kind.TENSOR and method in _TENSOR_METHODS) or (
        kind is Kind.TEXT and method in _TEXT_METHODS
    )
