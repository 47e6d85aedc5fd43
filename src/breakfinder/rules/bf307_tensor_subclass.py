"""BF307: tensor subclasses."""

import ast

from breakfinder.rules.pattern import Match, match, receiver_of
from breakfinder.rules.rule import Example, Rule
from breakfinder.source.dataflow import Function


class TensorSubclass(Rule):
    code = "BF307"
    name = "tensor-subclass"
    title = "A tensor subclass does what Dynamo cannot trace"
    why = """
        {expression} works on a subclass of `torch.Tensor` in a way that Dynamo does not trace. The graph
        ends here and a new one starts after it.
        """
    remedy = """
        Turn the tensor into a plain one before it goes into the compiled function
        (`x.as_subclass(torch.Tensor)`), and back again after it.
        """
    gb_types = (
        "All __torch_function__ overrides returned NotImplemented due to TypeError from user code",
        "Argument of `as_subclass` must be a non-dispatcher-style tensor subclass",
        "Attempted to use torch.nn.Parameter constructor with tensor subclass",
        "Calling subclass default constructor with more than tensor argument",
        "Tensor subclass overridden method call",
        "Unsupported tensor subclass attribute access",
        "Unsupported tensor subclass overridden attribute access",
        "Attempted to pop from empty torch function mode stack",
    )
    pattern_nodes = (ast.Call,)
    examples = (
        Example(
            broken="""
                import torch


                class Metres(torch.Tensor):
                    @classmethod
                    def __torch_function__(cls, func, types, args=(), kwargs=None):
                        return super().__torch_function__(func, types, args, kwargs or {})  # <-- break


                def fn(x):
                    length = x.as_subclass(Metres) * 2
                    return length.as_subclass(torch.Tensor)
                """,
            fixed="""
                import torch


                def fn(x):
                    return x * 2
                """,
        ),
    )

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        above = receiver_of(node, "__torch_function__")
        if function.owner is None or not isinstance(above, ast.Call):
            return None
        bases = {function.names.dotted(base) for base in function.owner.bases}
        inherited = "torch.Tensor" in bases and function.names.dotted(above.func) == "builtins.super"
        return match(node, "high" if inherited else None)
