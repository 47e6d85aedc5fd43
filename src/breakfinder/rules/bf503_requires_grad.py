"""BF503: requires_grad is changed inside the compiled function."""

import ast
import re

from breakfinder.rules.pattern import Match, argument, certainty, match, receiver_of
from breakfinder.rules.rule import Example, Rule
from breakfinder.source.dataflow import Function


class RequiresGrad(Rule):
    code = "BF503"
    name = "requires-grad-changed"
    title = "`requires_grad` is set in compiled code"
    why = """
        {expression} makes a tensor require a gradient in the middle of the graph, which would make a new
        leaf there. Dynamo ends the graph here, and a new one starts after it.
        """
    remedy = """
        Set `requires_grad` before the compiled function is called, on its inputs. If parameters carry the
        gradient anyway, the call can go.
        """
    gb_types = (
        "requires_grad_() intermediate leaked as output",
        "returning intermediate with requires_grad_()",
        "Unsupported Tensor.requires_grad_() call",
        "setattr() on Tensor.requires_grad",
        "Attempted to use tensor creation function with requires_grad=True",
    )
    pattern_nodes = (ast.Call, ast.Attribute)
    fixes = ("remove_call", "constant_to_module")
    examples = (
        Example(
            broken="""
                import torch


                def fn(x):
                    x.requires_grad_()  # <-- break
                    return x * 2
                """,
            fixed="""
                import torch


                def fn(x):
                    return x * 2
                """,
            fixed_inputs="(torch.randn(4, 8).requires_grad_(),)",
            note="The caller makes the input require a gradient.",
        ),
        Example(
            broken="""
                import torch


                def fn(x):
                    scale = torch.ones(8, requires_grad=True)  # <-- break
                    return x * scale
                """,
            fixed="""
                import torch

                SCALE = torch.ones(8, requires_grad=True)


                def fn(x):
                    return x * SCALE
                """,
        ),
    )

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        if isinstance(node, ast.Attribute):
            written = node.attr == "requires_grad" and isinstance(node.ctx, ast.Store)
            return Match(node) if written else None
        if not isinstance(node, ast.Call):
            return None
        if tensor := receiver_of(node, "requires_grad_"):
            off = (asked := argument(node, 0, "requires_grad")) is not None and not _is_true(asked)
            return None if off else match(node, certainty(tensor, function))
        makes = re.fullmatch(
            r"torch\.(tensor|empty|full|ones|zeros|rand|randn|randint|arange|linspace|eye)(_like)?",
            function.called(node),
        )
        asked = next((given.value for given in node.keywords if given.arg == "requires_grad"), None)
        return Match(node) if makes and asked is not None and _is_true(asked) else None


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True
