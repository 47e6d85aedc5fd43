"""BF404: copy.copy and copy.deepcopy."""

import ast

from breakfinder.rules.pattern import Match, call_of, certainty, match
from breakfinder.rules.rule import SOURCE, Example, Rule
from breakfinder.rules.symptom import Symptom
from breakfinder.source.dataflow import Function, Kind


class Copy(Rule):
    code = "BF404"
    name = "copy-of-tensor"
    title = "A tensor, or what holds one, is copied with `copy`"
    why = """
        {expression} copies an object through Python's `copy` module, and there is a tensor in it. Dynamo
        does not trace that: the graph ends here and a new one starts after it.
        """
    remedy = """
        Copy a tensor with `.clone()` (`.detach().clone()` where no gradient is to flow). Rebuild an
        object from its parts.
        """
    gb_types = ("Attempted to copy.deepcopy a tensor", "copy.deepcopy()")
    pattern_nodes = (ast.Call,)
    fixes = ("copy_to_clone",)
    examples = (
        Example(
            broken="""
                import copy

                import torch


                def fn(x):
                    before = copy.deepcopy(x)  # <-- break
                    return before + x.relu_()
                """,
            fixed="""
                import torch


                def fn(x):
                    before = x.clone()
                    return before + x.relu_()
                """,
        ),
        Example(
            broken="""
                import copy

                import torch


                def fn(x):
                    before = copy.copy(x)  # <-- break
                    return before + x
                """,
            fixed="""
                import torch


                def fn(x):
                    before = x.view_as(x)
                    return before + x
                """,
            note="A shallow copy shares its data with the original, as a view does.",
        ),
    )

    @classmethod
    def matches(cls, symptom: Symptom) -> int:
        copies = symptom.location.expression.startswith(("copy.copy(", "copy.deepcopy("))
        return SOURCE if copies and symptom.kind == "graph_break" else super().matches(symptom)

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        deep = call_of(node, function, r"copy\.deepcopy")
        if (
            not (deep or call_of(node, function, r"copy\.copy"))
            or not isinstance(node, ast.Call)
            or not node.args
        ):
            return None
        copied = node.args[0]
        kind = function.fact(copied).kind
        if kind in (Kind.UNKNOWN, Kind.MODULE, Kind.OTHER):
            return Match(node, "medium" if deep and kind is not Kind.OTHER else "low")
        if kind is Kind.CONTAINER:
            # Dynamo makes a deep copy of a container, but no shallow one.
            return None if deep else match(node, certainty(copied, function, kind))
        return match(node, certainty(copied, function))
