"""BF501: RNN, GRU and LSTM modules."""

import ast
import re

from breakfinder.rules import kept
from breakfinder.rules.pattern import Match
from breakfinder.rules.rule import Example, Rule
from breakfinder.source.dataflow import Function


class RecurrentModule(Rule):
    code = "BF501"
    name = "rnn-module"
    title = "An RNN, GRU or LSTM module is used"
    why = """
        {expression} is a `torch.nn.RNN`, `GRU` or `LSTM`, which Dynamo does not trace unless it is told
        to. The function that uses it is skipped and runs in eager.
        """
    remedy = """
        Set `torch._dynamo.config.allow_rnn = True`. The module is then traced as the operators that it is
        made of. The cells (`LSTMCell` and the like) are traced as they are.
        """
    gb_types = ("Attempted to wrap RNN, GRU, or LSTM",)
    pattern_nodes = (ast.Attribute,)
    knobs = ("rnn",)
    examples = (
        Example(
            broken="""
                import torch


                class Model(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.rnn = torch.nn.GRU(8, 8, batch_first=True)

                    def forward(self, x):
                        states, last = self.rnn(x)  # <-- break
                        return states[:, -1] + last[-1]
                """,
            fixed="""
                import torch


                class Model(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.rnn = torch.nn.GRU(8, 8, batch_first=True)

                    def forward(self, x):
                        states, last = self.rnn(x)
                        return states[:, -1] + last[-1]
                """,
            fixed_config={"allow_rnn": True},
            inputs="(torch.randn(3, 6, 8),)",
        ),
    )

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        made = kept.initial(function, kept.own(node))
        if not isinstance(node, ast.Attribute) or not isinstance(made, ast.Call):
            return None
        recurrent = re.fullmatch(
            r"torch\.nn\.(modules\.rnn\.)?(RNN|GRU|LSTM)", function.names.dotted(made.func)
        )
        # The function is skipped at the first use, and what follows is not looked at.
        return Match(node) if recurrent and kept.is_first_use(node, function) else None
