"""BF304: a function under torch.compiler.disable."""

from breakfinder.rules.rule import Example, Rule


class Disabled(Rule):
    code = "BF304"
    name = "compiler-disabled"
    title = "A function under `torch.compiler.disable` is called"
    why = """
        {expression} calls a function that its author took out of compilation with
        `torch.compiler.disable`. The graph ends here, the function runs in eager, and a new graph starts
        after it. In a loop the whole calling function is skipped.
        """
    remedy = """
        If the function is yours, remove the decorator and see whether it compiles. If it has to stay,
        call it at the start or the end of the model, where it cuts nothing in two.

        A function that only takes and gives tensors can be put into the graph without Dynamo looking
        inside: decorate it with `torch._dynamo.nonstrict_trace` in place of `disable`.
        """
    gb_types = (
        "Call to `torch._dynamo.disable()`",
        "Call to `torch.compiler.disable()`",
        "Skip calling `torch.compiler.disable()`d function",
        "Skip inlining `torch.compiler.disable()`d function",
    )
    examples = (
        Example(
            broken="""
                import torch


                @torch.compiler.disable
                def normalise(x):
                    return x / (x.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt()


                def fn(x):
                    return normalise(x.tanh()) * 2  # <-- break
                """,
            fixed="""
                import torch


                def normalise(x):
                    return x / (x.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt()


                def fn(x):
                    return normalise(x.tanh()) * 2
                """,
        ),
        Example(
            broken="""
                import torch


                class Norm(torch.nn.Module):
                    @torch.compiler.disable
                    def forward(self, x):
                        return x / x.norm()


                class Model(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.norm = Norm()

                    def forward(self, x):
                        return self.norm(x.tanh()) * 2  # <-- break
                """,
            fixed="""
                import torch


                @torch._dynamo.nonstrict_trace
                def normalise(x):
                    return x / x.norm()


                class Model(torch.nn.Module):
                    def forward(self, x):
                        return normalise(x.tanh()) * 2
                """,
        ),
    )
