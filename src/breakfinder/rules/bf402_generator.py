"""BF402: generators."""

import ast
import re

from breakfinder.rules.pattern import Match
from breakfinder.rules.rule import DETAIL, Example, Rule
from breakfinder.rules.symptom import Symptom
from breakfinder.source.dataflow import Function


class Generator(Rule):
    code = "BF402"
    name = "generator"
    title = "A generator cannot be compiled"
    severity = "error"
    why = """
        A function that yields gives its results one at a time, and Dynamo compiles functions that return.
        A compiled generator is skipped without a word: nothing of it is compiled. Inside a compiled
        function a generator is traced as long as nothing in it breaks.
        """
    remedy = """
        Return a list in place of yielding, in the function that is compiled. A caller that stops early
        then waits for the whole list.
        """
    gb_types = (
        "generator function over a skipped function",
        "Attempt to trace generator",
        "Generator reconstruction with mutations",
        "infinite generator detected",
        "Unreachable sub-generator code",
        "call_method on generator",
        "CLEANUP_THROW with StopIteration",
        "SEND with bad type",
    )
    pattern_nodes = (ast.Yield, ast.YieldFrom)
    fixes = ("generator_to_list",)
    examples = (
        Example(
            broken="""
                import torch


                class Model(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.blocks = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(3))

                    def forward(self, x):  # <-- skipped
                        for block in self.blocks:
                            x = block(x).relu()
                            yield x
                """,
            fixed="""
                import torch


                class Model(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.blocks = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(3))

                    def forward(self, x):
                        results = []
                        for block in self.blocks:
                            x = block(x).relu()
                            results.append(x)
                        return results
                """,
            kind="skipped_frame",
            equal=False,
            note="A list of the same tensors in place of a generator.",
        ),
    )

    @classmethod
    def matches(cls, symptom: Symptom) -> int:
        silent = symptom.kind == "skipped_frame" and not symptom.gb_type
        yields = re.search(r"\byield\b", symptom.location.snippet)
        return DETAIL if silent and yields else super().matches(symptom)

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        entry = function.owner is not None and getattr(function.node, "name", "") == "forward"
        first = next(
            (part for part in ast.walk(function.node) if isinstance(part, ast.Yield | ast.YieldFrom)), None
        )
        # A caller that is compiled itself traces the generator.
        return Match(function.node, "medium") if entry and node is first else None
