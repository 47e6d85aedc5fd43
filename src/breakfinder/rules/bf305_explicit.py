"""BF305: a break that somebody asked for."""

from breakfinder.rules.rule import Example, Rule


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
