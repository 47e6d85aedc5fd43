"""BF506: parameters and modules made in compiled code."""

import ast
import re

from breakfinder.rules.pattern import Match, call_of
from breakfinder.rules.rule import Example, Rule
from breakfinder.source.dataflow import Function

_WITH_PARAMETERS = (
    r"torch\.nn\.(modules\.\w+\.)?(Linear|Bilinear|Conv(Transpose)?[123]d|Embedding(Bag)?|LayerNorm|RMSNorm"
    r"|GroupNorm|BatchNorm[123]d|PReLU|MultiheadAttention|Transformer\w*|(RNN|LSTM|GRU)(Cell)?)"
)


class NewParameter(Rule):
    code = "BF506"
    name = "parameter-made-inside"
    title = "A parameter or module is made in compiled code"
    why = """
        {expression} makes a `torch.nn.Parameter`, itself or as part of a new module. Parameters belong to
        the state outside the graph, so the graph ends here and a new one starts after it.
        """
    remedy = """
        Make it in `__init__`. Where its size is known only at the first call, use a lazy module
        (`torch.nn.LazyLinear` and the like).
        """
    gb_types = (
        "Attempted to use `torch.nn.Parameter()` constructor with Dynamo",
        "Attempted to use `torch.nn.Parameter()` with export",
        "Unexpected type of data placeholder op for parameter construction",
        "Uninitialized nn.Module",
        "`torch.nn.Parameter()` with unsupported data type",
        "`torch.nn.Parameter`: cannot convert to traceable tracable",
        "`torch.nn.Parameter` with non-constant Tensor attributes",
        "non-constant `requires_grad` argument to `torch.nn.Parameter`",
    )
    pattern_nodes = (ast.Call,)
    fixes = ("constant_to_init",)
    examples = (
        Example(
            broken="""
                import torch


                class Model(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.lin = None

                    def forward(self, x):
                        if self.lin is None:
                            self.lin = torch.nn.Linear(x.shape[-1], 8)  # <-- break
                        return self.lin(x) * 2
                """,
            fixed="""
                import torch


                class Model(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.lin = torch.nn.LazyLinear(8)

                    def forward(self, x):
                        return self.lin(x) * 2
                """,
            equal=False,
            note="The weights are drawn in another order.",
        ),
    )

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        if not isinstance(node, ast.Call) or getattr(function.node, "name", "") in (
            "__init__",
            "__post_init__",
        ):
            return None
        if call_of(node, function, r"torch\.nn\.(parameter\.)?Parameter"):
            # One made of an input is that input.
            return None if not node.args or isinstance(node.args[0], ast.Name) else Match(node)
        made = re.fullmatch(_WITH_PARAMETERS, function.called(node))
        plain = {
            given.arg
            for given in node.keywords
            if isinstance(given.value, ast.Constant) and not given.value.value
        }
        return Match(node) if made and not plain & {"elementwise_affine", "affine"} else None
