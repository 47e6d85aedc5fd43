"""BF305: a break that somebody asked for."""

import ast
import re

from breakfinder.rules.pattern import Match, call_of
from breakfinder.rules.rule import Example, Rule
from breakfinder.rules.symptom import Symptom
from breakfinder.source.dataflow import Function

ASKED = "is a call that does nothing but end the graph"
REMOVE = "Remove the call, unless the break is wanted there"
INSIDE = "calls code that ends the graph on purpose, as the step of an optimizer does"
LEAVE_OUTSIDE = (
    "Leave the call outside of the compiled function, and compile the rest; "
    "an optimizer's step can be compiled by itself"
)


class Explicit(Rule):
    code = "BF305"
    name = "explicit-break"
    title = "The source asks for a graph break"
    why = """
        {expression} {what_it_is}. In a loop the whole function is skipped.
        """
    remedy = """
        {what_to_do}. A test with `fullgraph=True` keeps such a break from coming back unseen.
        """
    gb_types = (
        "Call to `torch._dynamo.graph_break()`",
        "Call to `torch._dynamo.skip_frame()`",
        "Call to `torch._dynamo.step_unsupported()`",
        "torch._dynamo.step_unsupported() with empty checkpoint",
        "cannot resume from torch._dynamo.step_unsupported()",
        "ComptimeContext graph break",
        "Forced graph break on leaf function",
    )
    pattern_nodes = (ast.Call,)
    fixes = ("remove_call",)
    examples = (
        Example(
            broken="""
                import torch


                def fn(x):
                    h = x.sin()
                    torch._dynamo.graph_break()  # <-- break
                    return h.cos()
                """,
            fixed="""
                import torch


                def fn(x):
                    h = x.sin()
                    return h.cos()
                """,
        ),
    )

    @classmethod
    def placeholders(cls, symptom: Symptom) -> dict[str, str]:
        asked = re.search(r"graph_break|skip_frame|step_unsupported", symptom.location.statement)
        what_it_is, what_to_do = (ASKED, REMOVE) if asked else (INSIDE, LEAVE_OUTSIDE)
        return {**super().placeholders(symptom), "what_it_is": what_it_is, "what_to_do": what_to_do}

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        return call_of(node, function, r"torch\._dynamo\.(graph_break|skip_frame|step_unsupported)")
