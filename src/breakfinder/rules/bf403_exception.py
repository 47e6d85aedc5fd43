"""BF403: exceptions and try."""

import ast

from breakfinder.report.model import Location
from breakfinder.rules.pattern import Match, call_of
from breakfinder.rules.rule import SOURCE, Example, Rule
from breakfinder.rules.symptom import Symptom
from breakfinder.source.dataflow import Function

_ASSERTIONS = (
    "Data-dependent branching",
    "Data-dependent assertion failed (cannot compile partial graph)",
)


class Exceptions(Rule):
    code = "BF403"
    name = "exception"
    title = "Code relies on exceptions that Dynamo cannot follow"
    why = """
        At {expression} the code relies on an exception. Dynamo follows exceptions that Python code raises
        and catches while it is traced, but not tracebacks, and before torch 2.14 not one that an operator
        raises: an operator that fails while it is traced ends the compilation, and the `except` that
        would catch it in eager is never reached.
        """
    remedy = """
        Test for the case before the call, on shapes or dtypes, in place of catching the failure after it.
        """
    gb_types = (
        "Observed exception",
        "Observed exception (EXCEPT_HANDLER)",
        "Caught non-Exception value",
        "Exception with bad expected type",
        "Exception with non-type expectation",
        "Failed to raise exception",
        "Keyword args passed to exception constructor",
        "Set Exception object `__traceback__` attribute to not-`None`",
        "Unsupported attribute assignment on Exception object",
        "traceback.tb_lasti not supported",
    )
    pattern_nodes = (ast.Call,)
    fixes = ("try_to_test", "guard_call")
    examples = (
        Example(
            broken="""
                import torch


                def fn(x, skip):
                    try:
                        h = x + skip  # <-- error
                    except RuntimeError:
                        h = x + skip.mean()
                    return h.relu()
                """,
            fixed="""
                import torch


                def fn(x, skip):
                    if x.shape == skip.shape:
                        h = x + skip
                    else:
                        h = x + skip.mean()
                    return h.relu()
                """,
            inputs="(torch.randn(4, 8), torch.randn(3, 5))",
            kind="error",
            versions=">=2.13,<2.14",
        ),
        Example(
            broken="""
                import traceback

                import torch


                def fn(x):
                    try:
                        raise ValueError("no weights")
                    except ValueError:
                        traceback.format_exc()  # <-- break
                    return x * 2
                """,
            fixed="""
                import torch


                def fn(x):
                    try:
                        raise ValueError("no weights")
                    except ValueError:
                        pass
                    return x * 2
                """,
            note="The text of the traceback is not used.",
        ),
    )

    @classmethod
    def matches(cls, symptom: Symptom) -> int:
        # An assertion that does not hold, and is about to raise.
        asserted = "ConstantVariable(bool: False)" in symptom.context and symptom.gb_type in _ASSERTIONS
        failed = symptom.kind == "error" and "fake tensor" in symptom.text
        return SOURCE if asserted or (failed and in_try(symptom.location)) else super().matches(symptom)

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        return call_of(node, function, r"traceback\.\w+")


def in_try(location: Location) -> bool:
    """Whether the snippet shows that the line is in the body of a ``try``."""
    above = location.snippet.split("\n")[: location.line - location.snippet_line + 1]
    if not above:
        return False
    indent = _indent(above[-1])
    for line in reversed(above[:-1]):
        if line.strip() and _indent(line) < indent:
            indent = _indent(line)
            if line.strip() == "try:":
                return True
    return False


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
