"""BF390: what is left of torch's and other libraries' features that cannot be traced."""

import ast

from breakfinder.rules.families import FamilyRule
from breakfinder.rules.pattern import Match, call_of, certainty, match, receiver_of
from breakfinder.rules.rule import Example
from breakfinder.source.dataflow import Function

_CALLS = (
    r"torch\.(get_num_threads|get_num_interop_threads|initial_seed)"
    r"|torch\.cuda\.(device_count|memory_allocated|max_memory_allocated|memory_reserved|max_memory_reserved)"
)


class TorchFeature(FamilyRule):
    code = "BF390"
    name = "untraced-feature"
    pattern_nodes = (ast.Call,)
    fixes = ("constant_to_module", "constant_to_init")
    examples = (
        Example(
            broken="""
                import torch


                def fn(x):
                    return x * torch.get_num_threads()  # <-- break
                """,
            fixed="""
                import torch

                THREADS = torch.get_num_threads()


                def fn(x):
                    return x * THREADS
                """,
        ),
    )

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        if tensor := receiver_of(node, "storage|storage_offset"):
            return match(node, certainty(tensor, function))
        if call_of(node, function, r"torch\.distributed\.\w+") and isinstance(node, ast.Call):
            waited = (given.value for given in node.keywords if given.arg == "async_op")
            return match(node, "high" if any(_is_true(value) for value in waited) else None)
        return call_of(node, function, _CALLS)


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True
