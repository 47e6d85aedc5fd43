"""BF103: Python control flow depends on a tensor's value."""

import ast

from breakfinder.rules import conditions
from breakfinder.rules.pattern import Match, call_of, certainty, match, surest
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
    pattern_nodes = (*conditions.NODES, ast.Call)
    fixes = ("where", "carry_done", "assert_async", "logical", "cond")
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
        if isinstance(node, ast.Assert) and (node.msg is None or isinstance(node.msg, ast.Constant)):
            # A failing assertion with a plain message is put into the graph.
            return None
        if call_of(node, function, r"builtins\.(any|all)") and isinstance(node, ast.Call):
            return match(node, surest(certainty(value, function) for value in _elements(node)))
        for value in conditions.asked(node, function):
            if found := certainty(_compared(value, function), function):
                # An operand of its own is told from the whole only by a condition of a statement.
                whole = isinstance(node, ast.Assert | ast.BoolOp | ast.UnaryOp)
                sure = found == "high" and conditions.always_runs(value, function)
                return match(node if whole else value, "high" if sure else "medium")
        return None


def _compared(value: ast.expr, function: Function) -> ast.expr:
    """Of ``value in (1, 2)`` the value, which is compared with one after the other."""
    if isinstance(value, ast.Compare) and isinstance(value.ops[0], ast.In | ast.NotIn):
        among = function.fact(value.comparators[0]).kind
        return value.left if among is Kind.CONTAINER else value
    return value


def _elements(call: ast.Call) -> list[ast.expr]:
    """What `any` or `all` is given one by one, as far as it is written there."""
    (elements,) = call.args if len(call.args) == 1 else (None,)
    if isinstance(elements, ast.GeneratorExp | ast.ListComp):
        return [elements.elt]
    return elements.elts if isinstance(elements, ast.List | ast.Tuple) else []
