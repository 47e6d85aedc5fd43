"""BF307: tensor subclasses."""

from breakfinder.rules.rule import Example, Rule


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
