"""BF507: side effects inside a checkpointed function and the like."""

from breakfinder.rules.rule import Example, Rule


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
