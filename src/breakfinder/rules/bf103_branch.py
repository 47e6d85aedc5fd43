"""BF103: Python control flow depends on a tensor's value."""

from breakfinder.rules.rule import Example, Rule


class Branch(Rule):
    code = "BF103"
    name = "branch-on-tensor"
    title = "Control flow depends on a tensor's value"
    why = """
        Which way Python goes at {expression} depends on the value of a tensor, and Dynamo traces
        without values. It ends the graph here, lets Python decide, and compiles the way that was
        taken as a graph of its own.

        `if`, `while`, `and`, `or`, `not` and `assert` on a tensor all do this. Inside a loop the
        whole function is skipped: it then runs in eager.
        """
    remedy = """
        Compute both sides and choose with `torch.where(condition, a, b)`, if both are cheap, have the
        same shape and dtype, and need no random numbers. In training, a NaN or infinity in the side
        that is not taken still reaches the gradient.

        If a side is expensive use `torch.cond`. An assertion becomes `torch._assert_async(condition,
        "message")`. A test that decides nothing but whether to correct values (`if x.isinf().any(): x
        = x.clamp(...)`) can go: correct always.
        """
    gb_types = ("Data-dependent branching", "Data-dependent branching with non-constant __bool__")
    examples = (
        Example(
            broken="""
                import torch


                def fn(x):
                    h = x * 2
                    if h.mean() > 0:  # <-- break
                        h = h + 1
                    else:
                        h = h - 1
                    return h.tanh()


                def example_inputs():
                    return (torch.randn(4, 8),)


                def more_inputs():
                    return [(torch.randn(4, 8) + 9,), (torch.randn(4, 8) - 9,)]
                """,
            fixed="""
                import torch


                def fn(x):
                    h = x * 2
                    h = torch.where(h.mean() > 0, h + 1, h - 1)
                    return h.tanh()


                def example_inputs():
                    return (torch.randn(4, 8),)


                def more_inputs():
                    return [(torch.randn(4, 8) + 9,), (torch.randn(4, 8) - 9,)]
                """,
        ),
        Example(
            broken="""
                import torch


                def fn(x):
                    steps = torch.zeros(())
                    while steps < 3:  # <-- break
                        x = x.tanh()
                        steps = steps + 1
                    return x


                def example_inputs():
                    return (torch.randn(4, 8),)
                """,
            fixed="""
                import torch


                def fn(x):
                    for _ in range(3):
                        x = x.tanh()
                    return x


                def example_inputs():
                    return (torch.randn(4, 8),)
                """,
            note="Where the number of steps is known, or bounded, count in Python.",
        ),
    )
