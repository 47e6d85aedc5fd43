"""BF490: what is left of Python's constructs that cannot be traced."""

import ast

from breakfinder.rules import kept
from breakfinder.rules.families import FamilyRule
from breakfinder.rules.pattern import Match, call_of, match, receiver_of
from breakfinder.rules.rule import Example
from breakfinder.source.dataflow import Function, Kind


class PythonConstruct(FamilyRule):
    code = "BF490"
    name = "untraced-construct"
    pattern_nodes = (ast.Call,)
    examples = (
        Example(
            broken="""
                import torch


                def fn(x):
                    names = globals()  # <-- break
                    return x * len(names["SCALES"])


                SCALES = [1, 2, 3]
                """,
            fixed="""
                import torch


                def fn(x):
                    return x * len(SCALES)


                SCALES = [1, 2, 3]
                """,
        ),
    )

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        hooked = receiver_of(
            node, r"register_(forward|forward_pre|full_backward|full_backward_pre|backward)_hook"
        )
        if hooked is not None and not kept.in_constructor(function):
            return match(node, "high" if function.fact(hooked).kind is Kind.MODULE else "medium")
        return call_of(node, function, r"builtins\.(globals|eval|exec|dir|compile)|ast\.literal_eval")
