"""BF306: an operator that cannot run on fake tensors."""

import re

from breakfinder.rules.rule import DETAIL, Example, Rule
from breakfinder.rules.symptom import Symptom


class NoFake(Rule):
    code = "BF306"
    name = "operator-without-fake"
    title = "An operator cannot be run without data"
    why = """
        Dynamo finds the shape and dtype of each result by running operators on tensors without data. The
        operator at {expression} has no implementation for that.
        """
    remedy = """
        If the operator is yours, register one: `@torch.library.register_fake("namespace::name")`, a
        function that returns an empty tensor of the right shape and dtype. For somebody else's operator
        it can be registered from your own code.
        """
    gb_types = (
        "Custom op missing fake impl during tracing",
        "Operator does not support running with fake tensors",
        "NotImplementedError/UnsupportedFakeTensorException when running FX node",
        "Encountered non-PT2-compliant op",
    )
    examples = (
        Example(
            broken="""
                import torch


                @torch.library.custom_op("breakfinder_example::shift", mutates_args=())
                def shift(x: torch.Tensor) -> torch.Tensor:
                    return x + 1


                def fn(x):
                    return shift(x * 2) * 2  # <-- error
                """,
            fixed="""
                import torch


                @torch.library.custom_op("breakfinder_example::shift", mutates_args=())
                def shift(x: torch.Tensor) -> torch.Tensor:
                    return x + 1


                @shift.register_fake
                def _(x):
                    return torch.empty_like(x)


                def fn(x):
                    return shift(x * 2) * 2
                """,
            kind="error",
        ),
    )

    @classmethod
    def matches(cls, symptom: Symptom) -> int:
        return DETAIL if re.search("no fake impl registered", symptom.text) else super().matches(symptom)
