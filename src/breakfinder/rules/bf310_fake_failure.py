"""BF310: compiling raises, where eager does not."""

from breakfinder.rules.rule import BREAK_TYPE, Example, Rule
from breakfinder.rules.symptom import Symptom


class FakeFailure(Rule):
    code = "BF310"
    name = "tracing-fails"
    title = "Compiling raises, where eager does not"
    severity = "error"
    why = """
        Dynamo finds the shape and dtype of each result by running operators on tensors without data. At
        {expression} that raised, and the compiled function raises too, where eager does not.
        """
    remedy = """
        torch's message names the operator and what it was given. If the operator is a custom one, its
        fake implementation disagrees with the real one. If it is torch's own, check the shapes, dtypes
        and devices that reach it.
        """
    gb_types = (
        "RuntimeError when making fake tensor call",
        "TypeError when making fake tensor call",
        "Fake tensor propagation exception",
        "RuntimeError when trying to get real value from fx.Node",
        "Tensor device mismatch",
        "TorchRuntimeError",
    )
    examples = (
        Example(
            broken="""
                import torch


                @torch.library.custom_op("breakfinder_example::pair", mutates_args=())
                def pair(x: torch.Tensor) -> torch.Tensor:
                    return torch.cat([x, x])


                @pair.register_fake
                def _(x):
                    return x.new_empty(2 * x.shape[0], x.shape[2])


                def fn(x):
                    return pair(x) * 2  # <-- error
                """,
            fixed="""
                import torch


                @torch.library.custom_op("breakfinder_example::pair", mutates_args=())
                def pair(x: torch.Tensor) -> torch.Tensor:
                    return torch.cat([x, x])


                @pair.register_fake
                def _(x):
                    return x.new_empty(2 * x.shape[0], x.shape[1])


                def fn(x):
                    return pair(x) * 2
                """,
            kind="error",
        ),
    )

    @classmethod
    def matches(cls, symptom: Symptom) -> int:
        raised = symptom.kind == "error" and "from user code:" in symptom.text
        # The least of the rules that match by break type: the type of exception says little.
        return super().matches(symptom) or (BREAK_TYPE - 1 if raised else 0)
