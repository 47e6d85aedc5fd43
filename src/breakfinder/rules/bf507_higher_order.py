"""BF507: side effects inside a checkpointed function and the like."""

import ast
from functools import lru_cache

from breakfinder.rules import kept
from breakfinder.rules.pattern import Match, match, receiver_of
from breakfinder.rules.rule import Example, Rule
from breakfinder.source.dataflow import Function
from breakfinder.source.names import Names


class HigherOrder(Rule):
    code = "BF507"
    name = "side-effect-in-operator-body"
    title = "A function given to an operator changes state outside itself"
    why = """
        `torch.utils.checkpoint`, `torch.cond`, `vmap` and others put the function that they are given
        into the graph as a body of its own, which may be run again or not at all. {expression} changes
        something outside that body, which Dynamo does not allow there.
        """
    remedy = """
        Return the value from the function and change the state outside it.
        """
    gb_types = (
        "HOP: Unsafe side effect",
        "HOP: Non-nullified side effect",
        "Encountered aliasing during higher order op tracing",
        "Encountered input mutation during higher order op tracing",
        "nn.Module mutation in HigherOrderOp",
    )
    pattern_nodes = (ast.Call, ast.Attribute)
    fixes = ("guard_call",)
    examples = (
        Example(
            broken="""
                import torch
                from torch.utils.checkpoint import checkpoint


                class Model(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.lin = torch.nn.Linear(8, 8)
                        self.seen = []

                    def block(self, x):
                        self.seen.append(x.shape)  # <-- break
                        return self.lin(x).relu()

                    def forward(self, x):
                        return checkpoint(self.block, x, use_reentrant=False) * 2
                """,
            fixed="""
                import torch
                from torch.utils.checkpoint import checkpoint


                class Model(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.lin = torch.nn.Linear(8, 8)
                        self.seen = []

                    def block(self, x):
                        return self.lin(x).relu()

                    def forward(self, x):
                        self.seen.append(x.shape)
                        return checkpoint(self.block, x, use_reentrant=False) * 2
                """,
        ),
    )

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        if isinstance(node, ast.Attribute):
            written = isinstance(node.ctx, ast.Store) and not isinstance(function.parent(node), ast.AugAssign)
            changes = written and kept.own(node)
        else:
            changes = kept.own(receiver_of(node, "append|extend|insert|update|add|setdefault|pop|clear"))
        return match(node, "high" if changes and _is_checkpointed(function) else None)


def _is_checkpointed(function: Function) -> bool:
    """Whether a method is given to `torch.utils.checkpoint` by its class."""
    name = getattr(function.node, "name", "")
    if function.owner is None or name == "forward" or kept.in_constructor(function):
        return False
    return name in _checkpointed(function.owner, function.names)


@lru_cache(maxsize=64)
def _checkpointed(owner: ast.ClassDef, names: Names) -> frozenset[str]:
    calls = (call for call in kept.calls_in(owner) if call.args)
    given = ((kept.own(call.args[0]), call) for call in calls)
    return frozenset(
        name
        for name, call in given
        if name and names.dotted(call.func) == "torch.utils.checkpoint.checkpoint"
    )
