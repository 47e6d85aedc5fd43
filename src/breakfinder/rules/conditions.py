"""Where Python asks whether a value is true."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from breakfinder.source.dataflow import Function

NODES = (ast.If, ast.While, ast.IfExp, ast.comprehension, ast.Assert, ast.BoolOp, ast.UnaryOp)
"""The nodes of which `asked` may know something."""


def asked(node: ast.AST, function: Function) -> Iterator[ast.expr]:
    """The values of which a node asks whether they are true, in order; none for parts of a condition."""
    return (value for value in _asked(node, function) if not function.guarded(value))


def _asked(node: ast.AST, function: Function) -> Iterator[ast.expr]:
    if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert):
        yield from _leaves(node.test)
    elif isinstance(node, ast.comprehension):
        for test in node.ifs:
            yield from _leaves(test)
    elif isinstance(node, ast.BoolOp) and not is_condition(node, function):
        # The last operand is the result, and is not asked.
        for value in node.values[:-1]:
            yield from _leaves(value)
    elif isinstance(node, ast.UnaryOp) and not is_condition(node, function):
        yield from _leaves(node) if isinstance(node.op, ast.Not) else ()


def is_condition(node: ast.expr, function: Function) -> bool:
    """Whether an expression is a condition, or an operand of one or of ``and``, ``or`` and ``not``."""
    around = function.parent(node)
    if isinstance(around, ast.UnaryOp):
        return isinstance(around.op, ast.Not)
    if isinstance(around, ast.comprehension):
        return node in around.ifs
    tests = ast.If | ast.While | ast.IfExp | ast.Assert
    return isinstance(around, ast.BoolOp) or (isinstance(around, tests) and around.test is node)


def decides(node: ast.expr, function: Function) -> bool:
    """Whether a condition is computed from a value."""
    around = function.parent(node)
    while isinstance(around, ast.expr) and not is_condition(node, function):
        node, around = around, function.parent(around)
    return is_condition(node, function)


def always_runs(node: ast.expr | ast.stmt, function: Function) -> bool:
    """Whether an expression is evaluated whenever its statement is: not an operand that may be passed over."""
    around = function.parent(node)
    while isinstance(node, ast.expr) and isinstance(around, ast.expr):
        if isinstance(around, ast.BoolOp) and node is not around.values[0]:
            return False
        if isinstance(around, ast.Lambda) or (isinstance(around, ast.IfExp) and node is not around.test):
            return False
        node, around = around, function.parent(around)
    return True


def _leaves(test: ast.expr) -> Iterator[ast.expr]:
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _leaves(value)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _leaves(test.operand)
    else:
        yield test
