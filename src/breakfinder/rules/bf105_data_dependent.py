"""BF105: an operator that gives a Python value which depends on data."""

import ast

from breakfinder.rules.pattern import Match, call_of, certainty, match, receiver_of
from breakfinder.rules.rule import Example, Rule
from breakfinder.source.dataflow import Function, Kind


class DataDependent(Rule):
    code = "BF105"
    name = "data-dependent-value"
    title = "An operator gives a Python value that depends on data"
    why = """
        {expression} gives Python a value that depends on the values of tensors, which Dynamo does not
        have while it traces. The graph ends here and a new one starts after it.

        `torch.equal`, `torch.allclose` and sorting a list of tensors do this.
        """
    remedy = """
        Use a form that gives a tensor: `(a == b).all()` in place of `torch.equal(a, b)`,
        `torch.isclose(a, b).all()` in place of `torch.allclose(a, b)`, and `torch.where` in place of the
        `if` that follows. A whole loop over data can be put into an operator of its own with
        `torch.library.custom_op`.
        """
    gb_types = ("Data dependent operator", "sort with non-constant keys", "min/max with non-constant key")
    pattern_nodes = (ast.Call,)
    fixes = ("guard_message", "where", "assert_async")
    knobs = (
        "scalars",
        "shapes",
    )
    examples = (
        Example(
            broken="""
                import torch


                def fn(x, y):
                    return x * 2 if torch.equal(x, y) else x + y  # <-- break
                """,
            fixed="""
                import torch


                def fn(x, y):
                    return torch.where((x == y).all(), x * 2, x + y)
                """,
            inputs="(torch.randn(4, 8), torch.randn(4, 8))",
        ),
    )

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        if not isinstance(node, ast.Call):
            return None
        if function.called(node) in ("torch.equal", "torch.allclose"):
            return Match(node)
        if call_of(node, function, r"builtins\.sorted") and len(node.args) == 1 and not node.keywords:
            element = function.value(node.args[0]).element()
            return Match(node) if element.kind is Kind.TENSOR and element.fact.sure else None
        tensor = receiver_of(node, "equal|allclose")
        return match(node, certainty(tensor, function)) if tensor else None
