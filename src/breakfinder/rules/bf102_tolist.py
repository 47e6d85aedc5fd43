"""BF102: Tensor.tolist()."""

import ast

from breakfinder.rules.pattern import Match, receiver_of
from breakfinder.rules.rule import SOURCE, Example, Rule
from breakfinder.rules.symptom import Symptom
from breakfinder.source.dataflow import Function, Kind


class ToList(Rule):
    code = "BF102"
    name = "tolist"
    title = "`Tensor.tolist()` in compiled code"
    why = """
        {expression} turns every element of a tensor into a Python number. Dynamo traces without values,
        so the graph ends here and a new one starts after it.
        """
    remedy = """
        Index the tensor itself in place of the list. If the list holds sizes (for `torch.split`, say),
        pass the sizes into the function as Python integers.

        For a tensor of integers `torch._dynamo.config.capture_scalar_outputs = True` makes the elements
        symbols in the graph; `fullgraph=True` switches this on as well. For other tensors it does not.
        """
    gb_types = ("Tensor.tolist() with non-integer tensor",)
    pattern_nodes = (ast.Call,)
    fixes = ("guard_message", "list_to_tensor")
    knobs = (
        "scalars",
        "shapes",
    )
    examples = (
        Example(
            broken="""
                import torch


                def fn(x):
                    weights = x.sum(0).tolist()  # <-- break
                    return x * weights[0] + weights[1]
                """,
            fixed="""
                import torch


                def fn(x):
                    weights = x.sum(0).detach()
                    return x * weights[0] + weights[1]
                """,
        ),
        Example(
            broken="""
                import torch


                def fn(x, sizes):
                    parts = torch.split(x, sizes.tolist())  # <-- break
                    return torch.stack([part.sum() for part in parts])
                """,
            fixed="""
                import torch


                def fn(x, sizes):
                    parts = torch.split(x, sizes.tolist())
                    return torch.stack([part.sum() for part in parts])
                """,
            fixed_config={"capture_scalar_outputs": True},
            inputs="(torch.randn(8), torch.tensor([3, 5]))",
        ),
    )

    @classmethod
    def matches(cls, symptom: Symptom) -> int:
        dependent = symptom.gb_type == "Data dependent operator"
        return SOURCE if dependent and ".tolist(" in symptom.location.expression else super().matches(symptom)

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        if not isinstance(node, ast.Call) or not (array := receiver_of(node, "tolist")):
            return None
        # Nothing but tensors and arrays has such a method.
        arrays = (Kind.TENSOR, Kind.ARRAY, Kind.UNKNOWN)
        return Match(node) if function.fact(array).kind in arrays else None
