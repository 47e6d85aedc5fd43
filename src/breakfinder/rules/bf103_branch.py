"""BF103: Python control flow depends on a tensor's value."""

import ast

from breakfinder.rules.pattern import Match, certainty, match
from breakfinder.rules.rule import SOURCE, Example, Rule
from breakfinder.rules.symptom import Symptom
from breakfinder.source.dataflow import Function, Kind


class Branch(Rule):
    code = "BF103"
    name = "branch-on-tensor"
    title = "Control flow depends on a tensor's value"
    why = """
        Which way Python goes at {expression} depends on the value of a tensor, and Dynamo traces without
        values. It ends the graph here, lets Python decide, and compiles the way that was taken as a graph
        of its own.

        `if`, `while`, `and`, `or`, `not`, and `assert` with a message that is not a plain string all do
        this.
        """
    remedy = """
        Compute both sides and choose with `torch.where(condition, a, b)`, if both are cheap, have the
        same shape and dtype, and need no random numbers. In training, a NaN or an infinity in the side
        that is not taken can still reach the gradient.

        If a side is expensive use `torch.cond`. Where the number of rounds of a `while` is known or
        bounded, count in Python. An assertion becomes `torch._assert_async(condition, "message")`.
        """
    gb_types = (
        "Data-dependent branching",
        "Data-dependent branching with non-constant __bool__",
        "Data-dependent assertion failed (cannot compile partial graph)",
    )
    pattern_nodes = (
        ast.If,
        ast.While,
        ast.IfExp,
        ast.comprehension,
        ast.Assert,
        ast.BoolOp,
        ast.UnaryOp,
        ast.Call,
    )
    examples = (
        Example(
            broken="""
                import torch


                def fn(x):
                    h = x * 2
                    if h.mean() > 0:  # <-- break
                        h = h + 1
                    else:
                        h = h - 1
                    return h.tanh()
                """,
            fixed="""
                import torch


                def fn(x):
                    h = x * 2
                    h = torch.where(h.mean() > 0, h + 1, h - 1)
                    return h.tanh()
                """,
            more="[(torch.randn(4, 8) + 9,), (torch.randn(4, 8) - 9,)]",
        ),
        Example(
            broken="""
                import torch


                def fn(x):
                    steps = torch.zeros(())
                    while steps < 3:  # <-- break
                        x = x.tanh()
                        steps = steps + 1
                    return x
                """,
            fixed="""
                import torch


                def fn(x):
                    for _ in range(3):
                        x = x.tanh()
                    return x
                """,
        ),
        Example(
            broken="""
                import torch


                def fn(x):
                    assert x.abs().max() < 100, f"values out of range, shape {x.shape}"  # <-- break
                    return x.exp()
                """,
            fixed="""
                import torch


                def fn(x):
                    torch._assert_async(x.abs().max() < 100, "values out of range")
                    return x.exp()
                """,
            note="A failure is a RuntimeError then, not an AssertionError, and its text holds no values.",
        ),
        Example(
            broken="""
                import torch


                def fn(x):
                    flat = not x.std() > 0  # <-- break
                    return x + 1 if flat else x / x.std()
                """,
            fixed="""
                import torch


                def fn(x):
                    spread = x.std()
                    return torch.where(spread > 0, x / spread, x + 1)
                """,
        ),
    )

    @classmethod
    def matches(cls, symptom: Symptom) -> int:
        dependent = symptom.gb_type == "Data dependent operator"
        return (
            SOURCE
            if dependent and symptom.location.expression.startswith("not ")
            else super().matches(symptom)
        )

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            return _first_tested(node.test, function)
        if isinstance(node, ast.comprehension):
            return next(filter(None, (_first_tested(test, function) for test in node.ifs)), None)
        if isinstance(node, ast.Assert):
            # A failing assertion with a plain message is put into the graph.
            plain = node.msg is None or isinstance(node.msg, ast.Constant)
            found = None if plain else _first_tested(node.test, function)
            return Match(node, found.confidence) if found else None
        if isinstance(node, ast.Call) and function.called(node) in ("builtins.any", "builtins.all"):
            return _any_element(node, function)
        if not isinstance(node, ast.BoolOp | ast.UnaryOp) or _is_tested(node, function):
            return None
        if isinstance(node, ast.UnaryOp):
            found = _first_tested(node, function)
        else:
            # The last operand is the result, and is not asked for its truth.
            found = next(filter(None, (_first_tested(value, function) for value in node.values[:-1])), None)
        return Match(node, found.confidence) if found else None


def _first_tested(test: ast.expr, function: Function) -> Match | None:
    """The first tensor of which a condition asks whether it is true."""
    if isinstance(test, ast.BoolOp):
        return next(filter(None, (_first_tested(value, function) for value in test.values)), None)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _first_tested(test.operand, function)
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.In | ast.NotIn):
        among = function.fact(test.comparators[0]).kind
        return match(test, certainty(test.left, function)) if among is Kind.CONTAINER else None
    return match(test, certainty(test, function))


def _any_element(call: ast.Call, function: Function) -> Match | None:
    """Where `any` or `all` is given tensors one by one."""
    (elements,) = call.args if len(call.args) == 1 else (None,)
    if isinstance(elements, ast.GeneratorExp | ast.ListComp):
        return match(call, certainty(elements.elt, function))
    if isinstance(elements, ast.List | ast.Tuple):
        return next((Match(call, found) for e in elements.elts if (found := certainty(e, function))), None)
    return None


def _is_tested(node: ast.expr, function: Function) -> bool:
    """Whether an expression is (part of) a condition, at which its tensors are found."""
    around = function.parent(node)
    if isinstance(around, ast.UnaryOp):
        return isinstance(around.op, ast.Not)
    if isinstance(around, ast.comprehension):
        return node in around.ifs
    tested = isinstance(around, ast.If | ast.While | ast.IfExp | ast.Assert) and around.test is node
    return tested or isinstance(around, ast.BoolOp)
