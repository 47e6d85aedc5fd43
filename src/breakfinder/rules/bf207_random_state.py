"""BF207: the state of a torch random generator."""

from breakfinder.rules.rule import DETAIL, Example, Rule
from breakfinder.rules.symptom import Symptom


class RandomState(Rule):
    code = "BF207"
    name = "random-state"
    title = "A random generator is made or seeded in compiled code"
    why = """
        {expression} makes, seeds or uses a random generator of its own. Its state is not part of the
        graph, so Dynamo ends the graph here, runs the call in Python and starts a new graph after it.
        """
    remedy = """
        Make and seed generators outside the compiled function. Inside, draw from the default generator,
        or pass in numbers that were drawn before.
        """
    gb_types = (
        "torch.Generator method",
        "Tensor.random_ op",
        "Tensor.uniform_ op called with `from` keyword",
    )
    callees = r"torch\.(cuda\.)?random\..*"
    examples = (
        Example(
            broken="""
                import torch


                def fn(x):
                    torch.manual_seed(3)  # <-- break
                    return x + torch.rand(4, 8)
                """,
            fixed="""
                import torch

                NOISE = torch.rand(4, 8, generator=torch.Generator().manual_seed(3))


                def fn(x):
                    return x + NOISE
                """,
            note="The default generator is no longer reset at each call.",
        ),
        Example(
            broken="""
                import torch


                def fn(x, generator):
                    return x + torch.rand(4, 8, generator=generator)  # <-- break
                """,
            fixed="""
                import torch


                def fn(x, generator):
                    return x + torch.rand(4, 8)
                """,
            inputs="(torch.randn(4, 8), torch.Generator().manual_seed(3))",
            equal=False,
            note="The numbers come from the default generator.",
        ),
    )

    @classmethod
    def matches(cls, symptom: Symptom) -> int:
        made = symptom.gb_type.startswith("An opaque object was created")
        passed = symptom.gb_type == "Failed to convert args/kwargs to proxy"
        generator = "Generator" in symptom.context
        return DETAIL if generator and (made or passed) else super().matches(symptom)
