"""BF101: a tensor's value becomes a Python number."""

from breakfinder.rules.rule import DETAIL, Example, Rule
from breakfinder.rules.symptom import Symptom


class Item(Rule):
    code = "BF101"
    name = "tensor-to-python-number"
    title = "A tensor's value becomes a Python number"
    why = """
        {expression} needs the value of a tensor as a Python number. Dynamo traces with tensors that have
        a shape and a dtype but no values, so it ends the graph here, lets Python compute the number, and
        starts a new graph after it.

        `t.item()`, `int(t)`, `float(t)`, `bool(t)`, `range(t)`, `torch.arange(t)`, a list indexed by a
        tensor and a slice bounded by one all do this.
        """
    remedy = """
        Keep the value as a tensor: a tensor of no dimensions works in arithmetic as a number does. Where
        the number carried no gradient, write `.detach()` in place of `.item()`, so that no gradient path
        is opened.

        If a Python number is needed, set `torch._dynamo.config.capture_scalar_outputs = True`: the number
        then becomes a symbol in the graph. `fullgraph=True` switches this on as well.
        """
    gb_types = (
        "Unsupported Tensor.item() call with capture_scalar_outputs=False",
        "unsupported index(Tensor)",
    )
    callees = r"builtins\.(range|int|float|bool|complex|round)"
    examples = (
        Example(
            broken="""
                import torch


                class Model(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.lin = torch.nn.Linear(8, 8)

                    def forward(self, x):
                        peak = x.abs().max().item()  # <-- break
                        return self.lin(x) / (peak + 1e-6)
                """,
            fixed="""
                import torch


                class Model(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.lin = torch.nn.Linear(8, 8)

                    def forward(self, x):
                        peak = x.abs().max().detach()
                        return self.lin(x) / (peak + 1e-6)
                """,
        ),
        Example(
            broken="""
                import torch


                def fn(x, scale):
                    return x * float(scale)  # <-- break
                """,
            fixed="""
                import torch


                def fn(x, scale):
                    return x * scale.detach()
                """,
            inputs="(torch.randn(4, 8), torch.tensor(0.5))",
        ),
        Example(
            broken="""
                import torch


                def fn(x, steps):
                    for _ in range(steps):  # <-- break
                        x = x.tanh()
                    return x
                """,
            note="The number of steps has to reach the function as a Python integer.",
            inputs="(torch.randn(4, 8), torch.tensor(3))",
        ),
    )

    @classmethod
    def matches(cls, symptom: Symptom) -> int:
        scalar = symptom.gb_type == "Data dependent operator" and "_local_scalar_dense" in symptom.context
        return DETAIL if scalar else super().matches(symptom)
