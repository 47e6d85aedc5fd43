"""BF601: an attribute of a module changes between calls."""

from breakfinder.rules.rule import Example, Rule


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
                        self.steps += 1
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
