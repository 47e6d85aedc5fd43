"""BF309: TorchScript."""

import ast
import re

from breakfinder.rules import kept
from breakfinder.rules.pattern import Match
from breakfinder.rules.rule import DETAIL, Example, Rule
from breakfinder.rules.symptom import Symptom
from breakfinder.source.dataflow import Function

_MAKERS = r"torch\.jit\.(script|trace|load|freeze|optimize_for_inference)|torch\.(ao\.)?quantization\.quantize_dynamic"


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
    pattern_nodes = (ast.Attribute,)
    fixes = ("unscript",)
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

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        made = kept.initial(function, kept.own(node))
        if not isinstance(node, ast.Attribute) or not isinstance(made, ast.Call):
            return None
        scripted = re.fullmatch(_MAKERS, function.names.dotted(made.func))
        return Match(node) if scripted and kept.is_first_use(node, function) else None
