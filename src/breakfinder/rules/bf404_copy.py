"""BF404: copy.copy and copy.deepcopy."""

from breakfinder.rules.rule import SOURCE, Example, Rule
from breakfinder.rules.symptom import Symptom


class Copy(Rule):
    code = "BF404"
    name = "copy-of-tensor"
    title = "A tensor, or what holds one, is copied with `copy`"
    why = """
        {expression} copies an object through Python's `copy` module, and there is a tensor in it. Dynamo
        does not trace that: the graph ends here and a new one starts after it.
        """
    remedy = """
        Copy a tensor with `.clone()` (`.detach().clone()` where no gradient is to flow). Rebuild an
        object from its parts.
        """
    gb_types = ("Attempted to copy.deepcopy a tensor", "copy.deepcopy()")
    examples = (
        Example(
            broken="""
                import copy

                import torch


                def fn(x):
                    before = copy.deepcopy(x)  # <-- break
                    return before + x.relu_()
                """,
            fixed="""
                import torch


                def fn(x):
                    before = x.clone()
                    return before + x.relu_()
                """,
        ),
        Example(
            broken="""
                import copy

                import torch


                def fn(x):
                    before = copy.copy(x)  # <-- break
                    return before + x
                """,
            fixed="""
                import torch


                def fn(x):
                    before = x.view_as(x)
                    return before + x
                """,
            note="A shallow copy shares its data with the original, as a view does.",
        ),
    )

    @classmethod
    def matches(cls, symptom: Symptom) -> int:
        copies = symptom.location.expression.startswith(("copy.copy(", "copy.deepcopy("))
        return SOURCE if copies and symptom.kind == "graph_break" else super().matches(symptom)
