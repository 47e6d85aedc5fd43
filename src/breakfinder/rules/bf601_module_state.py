"""BF601: an attribute of a module changes between calls."""

import ast

from breakfinder.rules import kept
from breakfinder.rules.pattern import Match
from breakfinder.rules.rule import Example, Rule
from breakfinder.source.dataflow import Function


class ModuleState(Rule):
    code = "BF601"
    name = "changing-attribute"
    title = "An attribute that the code reads changes between calls"
    why = """
        Dynamo compiles for the attributes as it found them, and checks them at each call. {guard} no
        longer held, so the function was compiled again. A counter does this at every call, until the
        limit of recompilations is reached and the function runs in eager from then on.

        The same check fails where one function serves several modules of which each has its own value.
        """
    remedy = """
        Keep a number that takes part in tensor arithmetic in a buffer, `self.register_buffer("steps",
        torch.zeros(()), persistent=False)`: tensors are not compared by value. Count for logging outside
        the compiled function. Set what is `None` at first to its final type in `__init__`.

        For integers `torch._dynamo.config.allow_unspec_int_on_nn_module = True` makes the attribute a
        symbol.
        """
    guards = r"\bself\b[\w.\[\]'\"]* (==|!=|is|is not) |KeyError on self\b|hasattr\(self\b|\.training =="
    pattern_nodes = (ast.AugAssign, ast.Assign, ast.Compare)
    fixes = ("counter_to_buffer", "guard_count")
    knobs = ("integers",)
    examples = (
        Example(
            broken="""
                import torch


                class Model(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.steps = 0

                    def forward(self, x):
                        self.steps += 1  # <-- recompiles
                        return x / self.steps
                """,
            fixed="""
                import torch


                class Model(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.register_buffer("steps", torch.zeros(()), persistent=False)

                    def forward(self, x):
                        self.steps = self.steps + 1
                        return x / self.steps
                """,
            more="[(torch.randn(4, 8),) for _ in range(4)]",
            kind="recompilation",
        ),
        Example(
            broken="""
                import torch


                class Model(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.last = None

                    def forward(self, x):
                        y = x if self.last is None else x + self.last  # <-- recompiles
                        self.last = y
                        return y * 2
                """,
            fixed="""
                import torch


                class Model(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.register_buffer("last", torch.zeros(4, 8), persistent=False)

                    def forward(self, x):
                        y = x + self.last
                        self.last = y
                        return y * 2
                """,
            more="[(torch.randn(4, 8),) for _ in range(2)]",
            kind="recompilation",
            note="The shape has to be known beforehand.",
        ),
    )

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        if isinstance(node, ast.Compare):
            return cls._set_later(node, function)
        name = kept.own_target(node)
        value = kept.initial(function, name)
        counts = isinstance(value, ast.Constant) and isinstance(value.value, bool | int | float)
        if not counts or not isinstance(node, ast.Assign | ast.AugAssign):
            return None
        target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
        reads = isinstance(node, ast.AugAssign) or any(
            kept.own(part) == name for part in ast.walk(node.value)
        )
        entry = getattr(function.node, "name", "") == "forward"
        return Match(target, "high" if entry else "medium") if reads else None

    @classmethod
    def _set_later(cls, node: ast.Compare, function: Function) -> Match | None:
        """A test for None of an attribute that is None until the function sets it."""
        name = kept.own(node.left)
        value = kept.initial(function, name)
        unset = isinstance(value, ast.Constant) and value.value is None
        if not unset or not isinstance(node.ops[0], ast.Is | ast.IsNot):
            return None
        set_here = any(kept.own_target(other) == name for other in ast.walk(function.node))
        return Match(node, "medium") if set_here else None
