"""BF508: a tensor's storage is changed under it."""

from breakfinder.rules.rule import Example, Rule


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
