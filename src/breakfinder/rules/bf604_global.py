"""BF604: a global variable changes between calls."""

import ast

from breakfinder.rules.pattern import Match
from breakfinder.rules.rule import Example, Rule
from breakfinder.source.dataflow import Function


class GlobalState(Rule):
    code = "BF604"
    name = "changing-global"
    title = "A global variable changes between calls"
    why = """
        Dynamo compiles for the global variables as it found them, and checks them at each call. {guard}
        no longer held, so the function was compiled again.
        """
    remedy = """
        Count outside the compiled function. A number that takes part in tensor arithmetic belongs into a
        buffer of a module or an argument that is a tensor: tensors are not compared by value.
        """
    guards = r"\bG\['"
    pattern_nodes = (ast.Global,)
    fixes = ("guard_count",)
    examples = (
        Example(
            broken="""
                import torch

                calls = 1


                def fn(x):
                    global calls
                    h = x / calls  # <-- recompiles
                    calls += 1
                    return h
                """,
            fixed="""
                import torch

                calls = torch.ones(())


                def fn(x):
                    h = x / calls
                    calls.add_(1)
                    return h
                """,
            more="[(torch.randn(4, 8),) for _ in range(4)]",
            kind="recompilation",
        ),
    )

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        if not isinstance(node, ast.Global):
            return None
        return next(filter(None, (_changed(name, function) for name in node.names)), None)


def _changed(name: str, function: Function) -> Match | None:
    """The first use of a global number that the function computes anew from itself, or of one set but once."""
    first = function.names.assigned.get(name)
    if not isinstance(first, ast.Constant) or isinstance(first.value, str):
        return None
    parts = [*ast.walk(function.node)]
    uses = [part for part in parts if isinstance(part, ast.Name) and part.id == name]
    added = [part for part in parts if isinstance(part, ast.AugAssign) and part.target in uses]
    stores = [part for part in parts if isinstance(part, ast.Assign) and any(t in uses for t in part.targets)]
    anew = [part for part in stores if any(inner in uses for inner in ast.walk(part.value))]
    reads = [use for use in uses if isinstance(use.ctx, ast.Load)] + [part.target for part in added]
    if not reads or not (added or stores):
        return None
    at = min(reads, key=lambda use: (use.lineno, use.col_offset))
    counts = first.value is not None and bool(added or anew)
    return Match(at, "high" if counts else "medium")
