"""BF204: random numbers from Python or NumPy."""

import ast
import re

from breakfinder.rules import conditions
from breakfinder.rules.pattern import Match, call_of
from breakfinder.rules.rule import SOURCE, Example, Rule
from breakfinder.rules.symptom import Symptom
from breakfinder.source.dataflow import Function

# What these draw becomes part of the graph, where no decision hangs on it.
_TRACED = r"random\.(uniform|randint|randrange)"
_NUMPY = r"numpy\.random\.(rand|randn|random|uniform|normal|randint|random_sample)"


class Random(Rule):
    code = "BF204"
    name = "python-random"
    title = "Random numbers come from Python, not from torch"
    why = """
        {expression} takes random numbers from Python's or NumPy's own generator. Their state lives
        outside the graph, so Dynamo ends the graph here, lets Python draw, and starts a new graph after
        it.
        """
    remedy = """
        Draw with torch: `torch.rand(())`, `torch.randint`, `torch.randperm`. The numbers come from
        another stream then, so results are not those of before. Where a number decides what to compute,
        choose with `torch.where`.

        To keep the stream, draw before the compiled function is called and pass the result in as a
        tensor.
        """
    gb_types = (
        "random.Random() with improper arguments",
        "attempted to trace torch._numpy.random function with config.use_numpy_random_stream=True",
    )
    callees = r"(random|<unknown module>\.Random|numpy\.random)\..*"
    pattern_nodes = (ast.Call,)
    fixes = ("random_to_torch",)
    examples = (
        Example(
            broken="""
                import random

                import torch


                def fn(x):
                    if random.random() < 0.5:  # <-- break
                        return x
                    return x.tanh()
                """,
            fixed="""
                import torch


                def fn(x):
                    drop = torch.rand(()) < 0.5
                    return torch.where(drop, x, x.tanh())
                """,
            equal=False,
            note="Both sides are computed, and the numbers come from torch's stream.",
        ),
        Example(
            broken="""
                import random

                import torch


                def fn(x):
                    order = list(range(4))
                    random.shuffle(order)  # <-- break
                    return x[order]
                """,
            fixed="""
                import torch


                def fn(x):
                    return x[torch.randperm(4)]
                """,
            equal=False,
            note="The order comes from torch's stream.",
            versions=">=2.13,<2.14",
        ),
        Example(
            broken="""
                import numpy as np
                import torch


                def fn(x):
                    return x * np.random.rand()  # <-- break
                """,
            fixed="""
                import torch


                def fn(x):
                    return x * torch.rand(())
                """,
            equal=False,
            note="The factor comes from torch's stream.",
        ),
    )

    @classmethod
    def matches(cls, symptom: Symptom) -> int:
        dependent = symptom.gb_type in ("Data-dependent branching", "Data dependent operator")
        drawn = re.search(r"(?<!torch\.)\brandom\.\w+\(", symptom.location.expression)
        return SOURCE if dependent and drawn else super().matches(symptom)

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        if not isinstance(node, ast.Call):
            return None
        if call_of(node, function, _TRACED):
            return Match(node) if conditions.decides(node, function) else None
        if call_of(node, function, _NUMPY):
            return None if _gives_array(node, function) else Match(node)
        return call_of(node, function, r"random\.[a-z]\w*|numpy\.random\.choice")


def _gives_array(call: ast.Call, function: Function) -> bool:
    """Whether NumPy is asked for more than one number; an array of them can be traced."""
    if function.called(call).endswith((".rand", ".randn")):
        return bool(call.args)
    at = 0 if function.called(call).endswith((".random", ".random_sample")) else 2
    return len(call.args) > at or any(given.arg in ("size", None) for given in call.keywords)
