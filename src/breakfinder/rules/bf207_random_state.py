"""BF207: the state of a torch random generator."""

import ast

from breakfinder.rules.pattern import Match, call_of, certainty, match, receiver_of
from breakfinder.rules.rule import DETAIL, Example, Rule
from breakfinder.rules.symptom import Symptom
from breakfinder.source.dataflow import Function, Kind

_CALLS = (
    r"torch\.(random\.|cuda\.|cuda\.random\.)?(manual_seed|manual_seed_all|get_rng_state|set_rng_state)"
    r"|torch\.Generator"
)


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
    pattern_nodes = (ast.Call,)
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

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        if found := call_of(node, function, _CALLS):
            return found
        if not isinstance(node, ast.Call):
            return None
        if tensor := receiver_of(node, "random_"):
            return match(node, certainty(tensor, function))
        generator = next((given.value for given in node.keywords if given.arg == "generator"), None)
        if generator is None or not function.called(node).startswith("torch."):
            return None
        return None if function.fact(generator).kind is Kind.NONE else Match(node, "medium")
