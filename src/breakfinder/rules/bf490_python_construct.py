"""BF490: what is left of Python's constructs that cannot be traced."""

import ast

from breakfinder.rules.families import FamilyRule
from breakfinder.rules.pattern import Match, call_of
from breakfinder.rules.rule import Example
from breakfinder.source.dataflow import Function


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
        return call_of(node, function, r"builtins\.(globals|eval|exec|dir|compile)|ast\.literal_eval")
