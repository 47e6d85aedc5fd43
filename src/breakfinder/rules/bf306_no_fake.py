"""BF306: an operator that cannot run on fake tensors."""

import ast
import re

from breakfinder.rules.pattern import Match, match
from breakfinder.rules.rule import DETAIL, Example, Rule
from breakfinder.rules.symptom import Symptom
from breakfinder.source.dataflow import Function


class NoFake(Rule):
    code = "BF306"
    name = "operator-without-fake"
    title = "An operator cannot be run without data"
    why = """
        Dynamo finds the shape and dtype of each result by running operators on tensors without data. The
        operator at {expression} has no implementation for that.
        """
    remedy = """
        If the operator is yours, register one: `@torch.library.register_fake("namespace::name")`, a
        function that returns an empty tensor of the right shape and dtype. For somebody else's operator
        it can be registered from your own code.
        """
    gb_types = (
        "Custom op missing fake impl during tracing",
        "Operator does not support running with fake tensors",
        "NotImplementedError/UnsupportedFakeTensorException when running FX node",
        "Encountered non-PT2-compliant op",
    )
    pattern_nodes = (ast.Call,)
    fixes = ("fake_like_input",)
    examples = (
        Example(
            broken="""
                import torch


                @torch.library.custom_op("breakfinder_example::shift", mutates_args=())
                def shift(x: torch.Tensor) -> torch.Tensor:
                    return x + 1


                def fn(x):
                    return shift(x * 2) * 2  # <-- error
                """,
            fixed="""
                import torch


                @torch.library.custom_op("breakfinder_example::shift", mutates_args=())
                def shift(x: torch.Tensor) -> torch.Tensor:
                    return x + 1


                @shift.register_fake
                def _(x):
                    return torch.empty_like(x)


                def fn(x):
                    return shift(x * 2) * 2
                """,
            kind="error",
        ),
    )

    @classmethod
    def matches(cls, symptom: Symptom) -> int:
        return DETAIL if re.search("no fake impl registered", symptom.text) else super().matches(symptom)

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        called = node.func if isinstance(node, ast.Call) else None
        defined = function.names.functions.get(called.id) if isinstance(called, ast.Name) else None
        if defined is None or not any(
            _makes_operator(decorator, function) for decorator in defined.decorator_list
        ):
            return None
        return match(node, None if _has_fake(defined.name, function) else "medium")


def _makes_operator(decorator: ast.expr, function: Function) -> bool:
    made = decorator.func if isinstance(decorator, ast.Call) else decorator
    return function.names.dotted(made) == "torch.library.custom_op"


def _has_fake(name: str, function: Function) -> bool:
    """Whether a function of the module is the fake implementation of an operator; by the operator's text, of any."""
    decorators = (part for other in function.names.functions.values() for part in other.decorator_list)
    calls = (part.func if isinstance(part, ast.Call) else part for part in decorators)
    return any(
        isinstance(part, ast.Attribute)
        and part.attr in ("register_fake", "impl_abstract")
        and function.names.dotted(part.value) in (name, "torch.library")
        for part in calls
    )
