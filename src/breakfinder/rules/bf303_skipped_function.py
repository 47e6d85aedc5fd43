"""BF303: a Python function that Dynamo is told not to enter."""

import ast

from breakfinder.rules.pattern import Match, call_of
from breakfinder.rules.rule import Example, Rule
from breakfinder.source.dataflow import Function

_CALLS = (
    r"importlib\.import_module|torch\.nn\.utils\.rnn\.(pack_padded_sequence|pad_packed_sequence|pack_sequence)"
    r"|tqdm\.(auto\.|std\.|notebook\.)?(tqdm|trange)|unittest\.mock\.\w.*|inspect\.getsource\w*"
    r"|torch\.compiler\.cudagraph_mark_step_begin|torch\.jit\.(script|trace|freeze)"
)


class SkippedFunction(Rule):
    code = "BF303"
    name = "skipped-function"
    title = "A function that Dynamo does not enter is called"
    why = """
        {expression} calls {callee}, which is on torch's list of functions that are not traced: parts of
        the standard library, of torch itself and of other packages are on it. Dynamo ends the graph here,
        makes the call in Python and starts a new graph after it.
        """
    remedy = """
        Call it outside the compiled function, once in `__init__` if its result does not change. To try
        whether it can be traced after all, apply `torch._dynamo.dont_skip_tracing` to the function.
        """
    gb_types = (
        "Attempted to call function marked as skipped",
        "Attempted to inline function marked as skipped",
        "Attempted to inline function marked as skipped (SkipFunctionVariable)",
    )
    pattern_nodes = (ast.Call,)
    fixes = ("progress_away", "constant_to_module", "constant_to_init")
    examples = (
        Example(
            broken="""
                import importlib

                import torch


                def fn(x):
                    constants = importlib.import_module("math")  # <-- break
                    return x * constants.pi
                """,
            fixed="""
                import importlib

                import torch

                constants = importlib.import_module("math")


                def fn(x):
                    return x * constants.pi
                """,
        ),
        Example(
            broken="""
                import torch
                from torch.nn.utils.rnn import pack_padded_sequence


                def fn(x, lengths):
                    packed = pack_padded_sequence(x, lengths, batch_first=True)  # <-- break
                    return packed.data.sum()
                """,
            fixed="""
                import torch


                def fn(x, lengths):
                    real = torch.arange(x.shape[1]) < lengths[:, None]
                    return torch.where(real, x, 0.0).sum()
                """,
            inputs="(torch.randn(2, 3), torch.tensor([3, 2]))",
            note="Padding is masked, not taken away.",
        ),
    )

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        return call_of(node, function, _CALLS)
