"""BF602: shapes change between calls."""

from breakfinder.rules.rule import Example, Rule


class Shape(Rule):
    code = "BF602"
    name = "changing-shape"
    title = "The shape of a tensor changes between calls"
    why = """
        Dynamo compiles for the shapes that it saw, and checks them at each call. {guard} no longer held,
        so the function was compiled again. A size that changed once is made dynamic, which covers further
        sizes, unless the code asks for it as a number (a loop over it does), or it becomes 0 or 1.
        Another number of dimensions, or another memory layout, is always compiled anew.
        """
    remedy = """
        Tell Dynamo beforehand with `torch._dynamo.mark_dynamic(tensor, dimension)`, or compile with
        `dynamic=True`. Where code treats sizes one by one, pad to a few fixed sizes. Replace a loop over
        a size by a tensor operation.
        """
    guards = r"(size|rank|stride) mismatch|\.(size|stride|storage_offset)\(\)"
    knobs = ("dynamic",)
    examples = (
        Example(
            broken="""
                import torch


                def fn(x):  # <-- recompiles
                    for row in range(x.shape[0]):
                        x = x + row
                    return x
                """,
            fixed="""
                import torch


                def fn(x):
                    rows = x.shape[0]
                    return x + rows * (rows - 1) // 2


                def rows_vary(x):
                    torch._dynamo.mark_dynamic(x, 0)
                    return x
                """,
            more="[(torch.randn(n, 8),) for n in (5, 6, 7)]",
            fixed_inputs="(rows_vary(torch.randn(4, 8)),)",
            fixed_more="[(rows_vary(torch.randn(n, 8)),) for n in (5, 6, 7)]",
            kind="recompilation",
            note="The caller says beforehand which size varies.",
        ),
        Example(
            broken="""
                import torch


                def fn(x):  # <-- recompiles
                    return x * 2
                """,
            fixed="""
                import torch


                def fn(x):
                    return x * 2


                def flat(x):
                    x = x.flatten()
                    torch._dynamo.mark_dynamic(x, 0)
                    return x
                """,
            inputs="(torch.randn(2, 2),)",
            more="[(torch.randn(*[2] * n),) for n in (3, 4)]",
            fixed_inputs="(flat(torch.randn(2, 2)),)",
            fixed_more="[(flat(torch.randn(*[2] * n)),) for n in (3, 4)]",
            kind="recompilation",
            equal=False,
            note="The caller flattens, and restores the shape.",
        ),
    )
