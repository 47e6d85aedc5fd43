"""BF607: the limit of recompilations."""

from breakfinder.rules.rule import DETAIL, Example, Rule
from breakfinder.rules.symptom import Symptom


class RecompileLimit(Rule):
    code = "BF607"
    name = "recompile-limit"
    title = "A function was recompiled too often and runs in eager now"
    severity = "error"
    why = """
        A function is compiled at most 8 times (`torch._dynamo.config.recompile_limit`). After that a call
        that fits none of the compiled forms runs in eager, with everything that the function calls.
        """
    remedy = """
        See the recompilations of the same function for what changes between calls, and stop that. Raising
        the limit helps only where there are few values more.
        """
    gb_types = (
        "Dynamo recompile limit exceeded",
        "Dynamo cache limit exceeded",
        "Excessive RestartAnalysis() calls",
    )
    knobs = (
        "integers",
        "dynamic",
    )
    examples = (
        Example(
            broken="""
                import torch


                def fn(x, tag):  # <-- skipped
                    return x * len(tag)
                """,
            note="What keeps changing has to stop changing; see the rules for recompilations.",
            inputs="(torch.randn(4, 8), 'tag0')",
            more="[(torch.randn(4, 8), f'tag{n}') for n in range(1, 10)]",
            kind="skipped_frame",
        ),
    )

    @classmethod
    def matches(cls, symptom: Symptom) -> int:
        reached = symptom.kind == "skipped_frame" and symptom.gb_type in cls.gb_types
        return DETAIL if reached else super().matches(symptom)
