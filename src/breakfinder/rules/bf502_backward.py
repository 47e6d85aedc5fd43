"""BF502: gradients are computed inside the compiled function."""

import ast

from breakfinder.rules.pattern import Match, call_of, certainty, match, receiver_of
from breakfinder.rules.rule import Example, Rule
from breakfinder.source.dataflow import Function, Kind


class Backward(Rule):
    code = "BF502"
    name = "backward-inside"
    title = "Gradients are computed inside the compiled function"
    why = """
        {expression} runs the backward pass, or asks for a piece of it, in the middle of the compiled
        function. Dynamo traces the forward pass only, unless it is told otherwise: the graph ends here
        and a new one starts after it.
        """
    remedy = """
        Compute the loss in the compiled function and call `backward()` on what it returns. A gradient
        that is part of the result comes from `torch.func.grad`, which is traced.

        `torch._dynamo.config.trace_autograd_ops = True` lets `torch.autograd.grad` and `backward()` be
        traced.
        """
    gb_types = (
        "Unsupported Tensor.backward() call",
        "using `torch.autograd.grad` with `torch._dynamo.config.trace_autograd_ops=False`",
        "backward() with non-leaf tensor",
        "backward() with in-graph created tensor",
        "backward() with empty inputs",
        "autograd.grad with external grad_fn",
        "autograd.grad with external GradientEdge",
        "autograd.grad with output that requires grad",
        "autograd.grad with compiled autograd",
        "autograd.grad with non-constant dict key",
        "autograd.grad with already consumed grad_fn",
        "autograd.grad with unsupported argument type",
        "autograd.grad consumed returned tensor's grad_fn",
        "_autograd_grad with lost grad_fn linkage",
        "_autograd_grad with unsupported argument type",
        "Tensor with grad_fn()",
        "Tensor.retain_grad() with AOTDispatcher",
        "Unsupported torch._C._ImperativeEngine method",
        "Unsupported torch._C._ImperativeEngine.queue_callback()",
        "dtype mismatch between tensor and its gradient",
    )
    pattern_nodes = (ast.Call, ast.Attribute)
    knobs = ("autograd",)
    examples = (
        Example(
            broken="""
                import torch


                def fn(x, w):
                    energy = (x * w).pow(2).sum()
                    (force,) = torch.autograd.grad(energy, w)  # <-- break
                    return force * 2
                """,
            fixed="""
                import torch


                def fn(x, w):
                    force = torch.func.grad(lambda v: (x * v).pow(2).sum())(w.detach())
                    return force * 2
                """,
            inputs="(torch.randn(4, 8), torch.randn(4, 8, requires_grad=True))",
        ),
        Example(
            broken="""
                import torch


                def fn(x, w):
                    energy = (x * w).pow(2).sum()
                    (force,) = torch.autograd.grad(energy, w)  # <-- break
                    return force * 2
                """,
            fixed="""
                import torch


                def fn(x, w):
                    energy = (x * w).pow(2).sum()
                    (force,) = torch.autograd.grad(energy, w)
                    return force * 2
                """,
            fixed_config={"trace_autograd_ops": True},
            inputs="(torch.randn(4, 8), torch.randn(4, 8, requires_grad=True))",
        ),
    )

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        if found := call_of(node, function, r"torch\.autograd\.(grad|backward)"):
            return found
        if isinstance(node, ast.Attribute):
            # Read, not called: `retain_grad` breaks as soon as it is looked up.
            return (
                match(node, certainty(node.value, function))
                if node.attr in ("grad_fn", "retain_grad")
                else None
            )
        if not (loss := receiver_of(node, "backward")):
            return None
        unknown = function.fact(loss).kind is Kind.UNKNOWN and "loss" in function.names.dotted(loss)
        return match(node, "medium" if unknown else certainty(loss, function))
