"""BF205: the clock is read, or waited for."""

import ast
import re

from breakfinder.rules.pattern import Match, call_of
from breakfinder.rules.rule import DETAIL, Example, Rule
from breakfinder.rules.symptom import Symptom
from breakfinder.source.dataflow import Function


class Time(Rule):
    code = "BF205"
    name = "time"
    title = "The clock is used in compiled code"
    why = """
        {expression} asks the operating system for the time, which differs at each call and cannot be put
        into a graph. Dynamo ends the graph here, runs the call in Python and starts a new graph after it.
        """
    remedy = """
        Measure around the call of the compiled function, not inside it: the parts that are timed inside
        are no longer compiled together. `torch.profiler` shows the parts without breaking the graph.
        """
    callees = r"_?time\..*"
    pattern_nodes = (ast.Call,)
    fixes = ("guard_call", "guard_clock")
    examples = (
        Example(
            broken="""
                import time

                import torch

                spent = []


                def fn(x):
                    h = x.sin()
                    spent.append(time.perf_counter())  # <-- break
                    return h.cos()
                """,
            fixed="""
                import torch


                def fn(x):
                    h = x.sin()
                    return h.cos()
                """,
        ),
        Example(
            broken="""
                from datetime import datetime

                import torch


                class Model(torch.nn.Module):
                    def forward(self, x):
                        self.called = datetime.now()  # <-- break
                        return x * 2
                """,
            fixed="""
                import torch


                class Model(torch.nn.Module):
                    def forward(self, x):
                        return x * 2
                """,
        ),
    )

    @classmethod
    def matches(cls, symptom: Symptom) -> int:
        asks = re.search(r"datetime\.\w+'>\) (now|today|utcnow) ", symptom.context)
        return DETAIL if asks else super().matches(symptom)

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        return call_of(
            node, function, r"time\.(?!struct_time)\w+|datetime\.(datetime|date)\.(now|today|utcnow)"
        )
