"""BF106: a tensor as text."""

import ast

from breakfinder.rules.pattern import Match, call_of, certainty, match, surest
from breakfinder.rules.rule import DETAIL, Example, Rule
from breakfinder.rules.symptom import Symptom
from breakfinder.source.dataflow import Function, Kind


class TensorText(Rule):
    code = "BF106"
    name = "tensor-as-text"
    title = "A tensor is turned into text"
    why = """
        {expression} makes text out of a tensor, for which its values are needed. Dynamo traces without
        values, so the graph ends here and a new one starts after it.
        """
    remedy = """
        Make the text outside the compiled function, or only where nothing is compiled: `if not
        torch.compiler.is_compiling(): ...`. Shapes and dtypes may be put into text freely.
        """
    gb_types = ("repr() on tensor",)
    callees = r"builtins\.(str|repr|format|ascii)"
    pattern_nodes = (ast.Call, ast.BinOp)
    fixes = ("guard_message", "guard_call")
    knobs = ("scalars",)
    examples = (
        Example(
            broken="""
                import torch

                seen = []


                def fn(x):
                    seen.append(repr(x))  # <-- break
                    return x * 2
                """,
            fixed="""
                import torch

                seen = []


                def fn(x):
                    if not torch.compiler.is_compiling():
                        seen.append(repr(x))
                    return x * 2
                """,
            note="Compiled code then keeps no text.",
        ),
    )

    @classmethod
    def matches(cls, symptom: Symptom) -> int:
        text = symptom.gb_type == "torch.* op returned non-Tensor" and "value type: str" in symptom.context
        return DETAIL if text else super().matches(symptom)

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        if isinstance(node, ast.BinOp):
            text = isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant | ast.JoinedStr)
            if not text or function.fact(node.left).kind is not Kind.TEXT:
                return None
            values = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
            return match(node, surest(certainty(value, function) for value in values))
        if call_of(node, function, r"builtins\.(str|repr|ascii|format)") and isinstance(node, ast.Call):
            return match(node, surest(certainty(value, function) for value in node.args[:1]))
        return None
