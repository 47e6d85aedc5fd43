"""BF505: hooks on gradients."""

import ast

from breakfinder.rules import kept
from breakfinder.rules.pattern import Match, match, receiver_of
from breakfinder.rules.rule import Example, Rule
from breakfinder.source.dataflow import Function

_REGISTER = "register_full_backward_hook|register_full_backward_pre_hook|register_backward_hook"


class Hooks(Rule):
    code = "BF505"
    name = "backward-hook"
    title = "A hook that runs in the backward pass is met"
    why = """
        {expression} meets a hook that runs in the backward pass. Dynamo traces the forward pass and has
        no place for the hook in its graph, so the graph ends here and a new one starts after it.
        """
    remedy = """
        Remove the hook from the module while it is compiled, or put it on a module that is not compiled.
        """
    gb_types = (
        "Module-level backwards hooks require compiled autograd.",
        "Compilation of intermediate hooks requires compiled autograd",
        "Attempted to represent unregistered RemovableHandle",
        "Storing Tensor hook handle in globals",
        "Storing Tensor hook handle in globals (inline call)",
        "register_hook with stride-dependent code",
    )
    pattern_nodes = (ast.Call,)
    knobs = (
        "compiled-autograd",
        "nested",
    )
    examples = (
        Example(
            broken="""
                import torch


                class Model(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.lin = torch.nn.Linear(8, 8)
                        self.lin.register_full_backward_hook(lambda module, inward, outward: None)

                    def forward(self, x):
                        return self.lin(x) * 2  # <-- break
                """,
            fixed="""
                import torch


                class Model(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.lin = torch.nn.Linear(8, 8)

                    def forward(self, x):
                        return self.lin(x) * 2
                """,
            inputs="(torch.randn(4, 8, requires_grad=True),)",
            note="The hook is gone.",
        ),
    )

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        name = kept.own(node.func) if isinstance(node, ast.Call) else ""
        if not name or function.owner is None or kept.in_constructor(function):
            return None
        registered = (
            receiver_of(call, _REGISTER) for call in kept.calls_in(function.owner, constructor=True)
        )
        return match(node, "high" if any(kept.own(module) == name for module in registered) else None)
