"""BF310: compiling raises, where eager does not."""

from breakfinder.rules.rule import FAMILY, NO_MATCH, Example, Rule
from breakfinder.rules.symptom import Symptom


class TracingFails(Rule):
    code = "BF310"
    name = "tracing-fails"
    title = "Compiling raises, where eager does not"
    severity = "error"
    why = """
        Tracing raised at {expression}, and so the compiled function raises, where eager does not.

        Dynamo finds the shape and dtype of each result by running operators on tensors without data.
        Mostly it is there that it fails. torch says: {said}
        """
    remedy = """
        If the message names a custom operator, its fake implementation disagrees with the real one. If
        the operator is torch's own, check the shapes, dtypes and devices that reach it.
        """
    gb_types = (
        "RuntimeError when making fake tensor call",
        "TypeError when making fake tensor call",
        "Fake tensor propagation exception",
        "RuntimeError when trying to get real value from fx.Node",
        "Tensor device mismatch",
        "TorchRuntimeError",
    )
    fixes = ("tensor_of_tensor",)
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
        # Whatever compiling raises and no other rule knows; the type of exception says little.
        return super().matches(symptom) or (FAMILY - 1 if symptom.kind == "error" else NO_MATCH)
