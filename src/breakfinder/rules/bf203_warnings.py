"""BF203: warnings.warn() in compiled code."""

import ast

from breakfinder.rules.pattern import Match, call_of
from breakfinder.rules.rule import Example, Rule
from breakfinder.source.dataflow import Function


class Warn(Rule):
    code = "BF203"
    name = "warnings"
    title = "`warnings.warn` in compiled code"
    why = """
        `warnings.warn` is written in C, and what it does cannot be put into a graph: Dynamo ends the
        graph at {expression}, runs the call in Python and starts a new graph after it.
        """
    remedy = """
        Guard it: `if not torch.compiler.is_compiling(): warnings.warn(...)`. The warning then appears in
        eager only. A warning about how the model was set up belongs into `__init__`.

        To keep it in compiled code, set `torch._dynamo.config.reorderable_logging_functions =
        {{warnings.warn}}`.
        """
    callees = r"_?warnings\.warn\w*"
    pattern_nodes = (ast.Call,)
    fixes = ("guard_message", "guard_call")
    knobs = (
        "reorder-logging",
        "ignore-logging",
    )
    examples = (
        Example(
            broken="""
                import warnings

                import torch


                def fn(x, mask=None):
                    if mask is None:
                        warnings.warn("no mask was given")  # <-- break
                        mask = torch.ones(x.shape[0], 1)
                    return x * mask
                """,
            fixed="""
                import warnings

                import torch


                def fn(x, mask=None):
                    if mask is None:
                        if not torch.compiler.is_compiling():
                            warnings.warn("no mask was given")
                        mask = torch.ones(x.shape[0], 1)
                    return x * mask
                """,
        ),
    )

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        return call_of(node, function, r"warnings\.(warn|warn_explicit)")
