"""BF507: side effects inside a checkpointed function and the like."""

import ast

from breakfinder.rules import kept
from breakfinder.rules.pattern import Match, match, receiver_of
from breakfinder.rules.rule import Example, Rule
from breakfinder.source.dataflow import Function


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
        if not _is_checkpointed(function):
            return None
        if isinstance(node, ast.Attribute):
            written = isinstance(node.ctx, ast.Store) and not isinstance(function.parent(node), ast.AugAssign)
            return match(node, "high" if written and kept.own(node) else None)
        changed = receiver_of(node, "append|extend|insert|update|add|setdefault|pop|clear")
        return match(node, "high" if kept.own(changed) else None)


def _is_checkpointed(function: Function) -> bool:
    """Whether a method is given to `torch.utils.checkpoint` by its class."""
    if function.owner is None:
        return False
    return any(
        call.args
        and kept.own(call.args[0]) == getattr(function.node, "name", "")
        and function.names.dotted(call.func) == "torch.utils.checkpoint.checkpoint"
        for call in kept.calls_in(function.owner)
    )
