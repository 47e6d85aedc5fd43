"""BF503: requires_grad is changed inside the compiled function."""

from breakfinder.rules.rule import Example, Rule


class RequiresGrad(Rule):
    code = "BF503"
    name = "requires-grad-changed"
    title = "`requires_grad` is set in compiled code"
    why = """
        {expression} makes a tensor require a gradient in the middle of the graph, which would make a new
        leaf there. Dynamo ends the graph here, and a new one starts after it.
        """
    remedy = """
        Set `requires_grad` before the compiled function is called, on its inputs. If parameters carry the
        gradient anyway, the call can go.
        """
    gb_types = (
        "requires_grad_() intermediate leaked as output",
        "returning intermediate with requires_grad_()",
        "Unsupported Tensor.requires_grad_() call",
        "setattr() on Tensor.requires_grad",
        "Attempted to use tensor creation function with requires_grad=True",
    )
    examples = (
        Example(
            broken="""
                import torch


                def fn(x):
                    x.requires_grad_()  # <-- break
                    return x * 2
                """,
            fixed="""
                import torch


                def fn(x):
                    return x * 2
                """,
            fixed_inputs="(torch.randn(4, 8).requires_grad_(),)",
            note="The caller makes the input require a gradient.",
        ),
        Example(
            broken="""
                import torch


                def fn(x):
                    scale = torch.ones(8, requires_grad=True)  # <-- break
                    return x * scale
                """,
            fixed="""
                import torch

                SCALE = torch.ones(8, requires_grad=True)


                def fn(x):
                    return x * SCALE
                """,
        ),
    )
