"""BF201: print() in compiled code."""

import ast

from breakfinder.rules.pattern import Match, call_of
from breakfinder.rules.rule import Example, Rule
from breakfinder.source.dataflow import Function


class Print(Rule):
    code = "BF201"
    name = "print"
    title = "`print` in compiled code"
    why = """
        `print` writes to the screen, which cannot be put into a graph: Dynamo ends the graph at
        {expression}, runs the call in Python and starts a new graph after it. Functions that call this
        one are cut as well.
        """
    remedy = """
        Remove it, or guard it: `if not torch.compiler.is_compiling(): print(...)`. The text then appears
        in eager only.

        To keep the text in compiled code, set `torch._dynamo.config.reorderable_logging_functions =
        {{print}}`: Dynamo then prints after the graph has run.
        """
    callees = r"builtins\.print"
    pattern_nodes = (ast.Call,)
    fixes = ("guard_message", "guard_call")
    knobs = (
        "reorder-logging",
        "ignore-logging",
    )
    examples = (
        Example(
            broken="""
                import torch


                def fn(x):
                    h = x.sin()
                    print("mean", h.mean())  # <-- break
                    return h.cos()
                """,
            fixed="""
                import torch


                def fn(x):
                    h = x.sin()
                    if not torch.compiler.is_compiling():
                        print("mean", h.mean())
                    return h.cos()
                """,
        ),
        Example(
            broken="""
                import torch


                def fn(x):
                    h = x.sin()
                    print("mean", h.mean())  # <-- break
                    return h.cos()
                """,
            fixed="""
                import torch


                def fn(x):
                    h = x.sin()
                    print("mean", h.mean())
                    return h.cos()
                """,
            fixed_config={"reorderable_logging_functions": {print}},
            note="Nothing is lost: the text is printed after the graph has run.",
        ),
    )

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        return call_of(node, function, r"builtins\.print")
