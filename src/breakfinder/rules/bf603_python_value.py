"""BF603: Python values given to the function change between calls."""

from breakfinder.rules.rule import BREAK_TYPE, Example, Rule
from breakfinder.rules.symptom import Symptom


class PythonValue(Rule):
    code = "BF603"
    name = "changing-python-value"
    title = "A Python value changes between calls"
    why = """
        Dynamo compiles for the numbers, strings, lists and options that it was given, and checks them at
        each call. {guard} no longer held, so the function was compiled again. An integer or float that
        changed once is made dynamic; strings, booleans and `None` are compiled for one by one, and lists
        for each length.
        """
    remedy = """
        Pass a number as a tensor of no dimensions. Keep names and labels out of the compiled function, or
        turn them into a tensor of indices before the call. Stack a list of tensors into one tensor.
        """
    guards = (
        r" (==|!=|is|is not|in) |^not |^len\(|^isinstance|' object has no attribute '|^\w+Error on "
        r"|expected type of "
    )
    examples = (
        Example(
            broken="""
                import torch

                TAGS = ["a", "b", "c", "d"]


                def fn(x, tag):
                    return x * TAGS.index(tag)  # <-- recompiles
                """,
            fixed="""
                import torch

                TAGS = ["a", "b", "c", "d"]


                def fn(x, index):
                    return x * index
                """,
            inputs="(torch.randn(4, 8), 'a')",
            more="[(torch.randn(4, 8), tag) for tag in 'bcd']",
            fixed_inputs="(torch.randn(4, 8), torch.tensor(0))",
            fixed_more="[(torch.randn(4, 8), torch.tensor(TAGS.index(tag))) for tag in 'bcd']",
            kind="recompilation",
            note="The caller turns the tag into an index, as a tensor.",
        ),
    )

    @classmethod
    def matches(cls, symptom: Symptom) -> int:
        # Attributes, globals and sizes are compared too, and have rules of their own.
        return BREAK_TYPE - 1 if super().matches(symptom) else 0
