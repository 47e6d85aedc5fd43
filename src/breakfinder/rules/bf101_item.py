"""BF101: a tensor's value becomes a Python number."""

from breakfinder.rules.rule import DETAIL, Example, Rule
from breakfinder.rules.symptom import Symptom


class Item(Rule):
    code = "BF101"
    name = "tensor-to-python-number"
    title = "A tensor's value becomes a Python number"
    why = """
        {expression} needs the value of a tensor as a Python number. Dynamo traces with tensors that
        have a shape and a dtype but no values, so it ends the graph here, lets Python compute the
        number, and starts a new graph after it.

        `Tensor.item()`, `int(t)`, `float(t)` and `bool(t)` all do this.
        """
    remedy = """
        Keep the value as a tensor: a tensor of no dimensions works in arithmetic as a number does.
        Where the number carried no gradient, write `.detach()` in place of `.item()`, so that no
        gradient path is opened.

        If a Python number is needed, set `torch._dynamo.config.capture_scalar_outputs = True`: the
        number then becomes a symbol in the graph. `fullgraph=True` switches this on as well.
        """
    gb_types = ("Unsupported Tensor.item() call with capture_scalar_outputs=False",)
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


                def example_inputs():
                    return (torch.randn(4, 8),)
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


                def example_inputs():
                    return (torch.randn(4, 8),)
                """,
        ),
        Example(
            broken="""
                import torch


                def fn(x, scale):
                    return x * float(scale)  # <-- break


                def example_inputs():
                    return torch.randn(4, 8), torch.tensor(0.5)
                """,
            fixed="""
                import torch


                def fn(x, scale):
                    return x * scale.detach()


                def example_inputs():
                    return torch.randn(4, 8), torch.tensor(0.5)
                """,
        ),
    )

    @classmethod
    def matches(cls, symptom: Symptom) -> int:
        scalar = symptom.gb_type == "Data dependent operator" and "_local_scalar_dense" in symptom.context
        conversion = symptom.location.expression.startswith(("int(", "float(", "bool("))
        return DETAIL if scalar and conversion else super().matches(symptom)
