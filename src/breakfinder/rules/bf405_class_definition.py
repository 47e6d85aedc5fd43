"""BF405: a class statement in compiled code."""

import ast

from breakfinder.rules.pattern import Match
from breakfinder.rules.rule import Example, Rule
from breakfinder.source.dataflow import Function


class ClassDefinition(Rule):
    code = "BF405"
    name = "class-definition"
    title = "A class is defined in compiled code"
    why = """
        The `class` statement at {expression} makes a new class each time that the function runs. Dynamo
        does not trace that: the graph ends here and a new one starts after it.
        """
    remedy = """
        Move the class to the top of the module.
        """
    gb_types = ("LOAD_BUILD_CLASS bytecode not supported", "Invalid call to __build_class__")
    pattern_nodes = (ast.ClassDef,)
    fixes = ("class_to_module",)
    knobs = ("classes",)
    examples = (
        Example(
            broken="""
                import torch


                def fn(x):
                    class Settings:  # <-- break
                        scale = 2

                    return x * Settings.scale
                """,
            fixed="""
                import torch


                class Settings:
                    scale = 2


                def fn(x):
                    return x * Settings.scale
                """,
        ),
    )

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        return Match(node) if isinstance(node, ast.ClassDef) else None
