"""BF305: a break that somebody asked for."""

import ast

from breakfinder.rules.pattern import Match, call_of
from breakfinder.rules.rule import Example, Rule
from breakfinder.source.dataflow import Function


class Explicit(Rule):
    code = "BF305"
    name = "explicit-break"
    title = "The source asks for a graph break"
    why = """
        {expression} is a call that does nothing but end the graph. In a loop the whole function is
        skipped.
        """
    remedy = """
        Remove the call, unless the break is wanted; then take it into the baseline.
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
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        return call_of(node, function, r"torch\._dynamo\.(graph_break|skip_frame|step_unsupported)")
