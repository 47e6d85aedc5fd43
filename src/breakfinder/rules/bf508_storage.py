"""BF508: a tensor's storage is changed under it."""

import ast

from breakfinder.rules.pattern import Match, certainty, match, receiver_of
from breakfinder.rules.rule import Example, Rule
from breakfinder.source.dataflow import Function


class Storage(Rule):
    code = "BF508"
    name = "storage-changed"
    title = "A tensor's data or storage is replaced"
    why = """
        {expression} gives a tensor other data, another size or another storage without an operator that
        the graph could hold. The graph ends here and a new one starts after it.
        """
    remedy = """
        Make a new tensor in place of changing the old one: assign the result to the name, use `copy_` to
        write into existing memory, and `reshape` or slicing to change the size.
        """
    gb_types = (
        "Failed to mutate tensor data attribute",
        "Failed to mutate tensor data attribute to different dtype",
        "Failed to set tensor attribute",
        "Inplace op on input tensor",
        "Unsupported Tensor.resize_() call",
        "Unsupported Tensor.resize_as_() call",
        "Unsupported Tensor.set_() call",
        "Unsupported Tensor.share_memory_() call",
        "Attempted to call op with non-contiguous `out=` list of tensors",
        "Attempted to call op with non-contiguous `out=` tensor",
        "Shape mismatch with out= list of tensor variants",
        "Shape mismatch with out= tensor variant",
    )
    pattern_nodes = (ast.Call, ast.Attribute)
    fixes = ("data_to_detach",)
    examples = (
        Example(
            broken="""
                import torch


                def fn(x):
                    y = x * 2
                    y.data = x + 1  # <-- break
                    return y.relu()
                """,
            fixed="""
                import torch


                def fn(x):
                    y = x + 1
                    return y.relu()
                """,
        ),
        Example(
            broken="""
                import torch


                def fn(x):
                    y = x * 2
                    y.resize_(2, 8)  # <-- break
                    return y.relu()
                """,
            fixed="""
                import torch


                def fn(x):
                    y = (x * 2)[:2]
                    return y.relu()
                """,
        ),
    )

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        if isinstance(node, ast.Attribute):
            written = node.attr == "data" and isinstance(node.ctx, ast.Store)
            made_here = (
                written and isinstance(node.value, ast.Name) and not _is_parameter(node.value.id, function)
            )
            return match(node, certainty(node.value, function)) if made_here else None
        tensor = receiver_of(node, "resize_|resize_as_|share_memory_")
        return match(node, certainty(tensor, function)) if tensor else None


def _is_parameter(name: str, function: Function) -> bool:
    """Whether a name is a parameter of the function: the data of its inputs may be replaced."""
    given = function.node.args
    return any(name == arg.arg for arg in (*given.posonlyargs, *given.args, *given.kwonlyargs))
