"""BF504: torch.autograd.Function."""

from breakfinder.rules.rule import DETAIL, Example, Rule
from breakfinder.rules.symptom import Symptom


class AutogradFunction(Rule):
    code = "BF504"
    name = "autograd-function"
    title = "A custom `autograd.Function` does what Dynamo cannot trace"
    why = """
        Dynamo traces the `forward` and `backward` of a `torch.autograd.Function` if they keep to tensors.
        At {expression} it meets something else: state that is kept on the class, a `jvp` or `vjp` of its
        own, or a use of `ctx` that it does not know.
        """
    remedy = """
        Save tensors with `ctx.save_for_backward` and keep nothing on the class. Where the function has a
        `jvp` that nothing uses, remove it.
        """
    gb_types = (
        "AutogradFunctionContextVariable escaped Dynamo-traced region",
        "Non-function or method in subclass of torch.autograd.Function",
        "Unsupported autograd.Function context `mark_dirty`",
        "Unsupported autograd.Function context `save_for_backward`",
        "Unsupported autograd.Function context method",
        "Unsupported autograd.Function method",
        "Unsupported custom jvp",
        "Unsupported custom vjp",
        "autograd.Function.apply: _materialize_non_diff_grads mutation",
        "autograd.Function.apply: duplicate tensor input",
        "autograd.Function.apply: mark_dirty input not returned",
        "autograd.Function.apply: non-function or method backward",
        "autograd.Function.apply: non-function or method backward (2)",
        "autograd.Function.apply: non-function or method forward",
        "autograd_function_kwonly_args",
    )
    examples = (
        Example(
            broken="""
                import torch


                class Double(torch.autograd.Function):
                    calls = []

                    @staticmethod
                    def forward(ctx, x):
                        Double.calls.append(x.shape)  # <-- break
                        return x * 2

                    @staticmethod
                    def backward(ctx, gradient):
                        return gradient * 2


                def fn(x):
                    return Double.apply(x).relu()
                """,
            fixed="""
                import torch


                class Double(torch.autograd.Function):
                    @staticmethod
                    def forward(ctx, x):
                        return x * 2

                    @staticmethod
                    def backward(ctx, gradient):
                        return gradient * 2


                def fn(x):
                    return Double.apply(x).relu()
                """,
            inputs="(torch.randn(4, 8, requires_grad=True),)",
        ),
        Example(
            broken="""
                import torch


                class Double(torch.autograd.Function):
                    @staticmethod
                    def forward(ctx, x):
                        return x * 2

                    @staticmethod
                    def backward(ctx, gradient):
                        return gradient * 2

                    @staticmethod
                    def jvp(ctx, tangent):
                        return tangent * 2


                def fn(x):
                    return Double.apply(x).relu()  # <-- break
                """,
            fixed="""
                import torch


                class Double(torch.autograd.Function):
                    @staticmethod
                    def forward(ctx, x):
                        return x * 2

                    @staticmethod
                    def backward(ctx, gradient):
                        return gradient * 2


                def fn(x):
                    return Double.apply(x).relu()
                """,
            inputs="(torch.randn(4, 8, requires_grad=True),)",
        ),
    )

    @classmethod
    def matches(cls, symptom: Symptom) -> int:
        return DETAIL if "AutogradFunctionVariable" in symptom.context else super().matches(symptom)
