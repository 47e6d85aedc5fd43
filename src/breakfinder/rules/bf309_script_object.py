"""BF309: TorchScript."""

from breakfinder.rules.rule import DETAIL, Example, Rule
from breakfinder.rules.symptom import Symptom


class ScriptObject(Rule):
    code = "BF309"
    name = "torchscript"
    title = "A TorchScript module or object is used"
    why = """
        {expression} uses a TorchScript module or object, which runs in a machine of its own that Dynamo
        does not see into. The graph ends here and a new one starts after it.
        """
    remedy = """
        Use the module that was scripted, as it was before `torch.jit.script`. Layers that were quantised
        dynamically hold their weights in such objects: keep them out of the compiled function, or
        quantise in another way.
        """
    gb_types = (
        "torch.jit.script/freeze modules unsupported",
        "UnspecializedNNModuleVariable wrapped around ScriptModules unsupported",
        "FakeScriptObject missing method implementation",
        "Weird method call on TorchScript object",
        "Attempted to access non-callable attribute of TorchScript object",
        "wrap_jit_function: missing _torchdynamo_inline",
    )
    examples = (
        Example(
            broken="""
                import torch


                class Model(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.lin = torch.jit.script(torch.nn.Linear(8, 8))

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
        ),
    )

    @classmethod
    def matches(cls, symptom: Symptom) -> int:
        packed = (
            symptom.gb_type == "Failed to convert args/kwargs to proxy" and "ScriptObject" in symptom.context
        )
        return DETAIL if packed else super().matches(symptom)
