"""BF504: torch.autograd.Function."""

import ast

from breakfinder.rules.pattern import Match, match, receiver_of
from breakfinder.rules.rule import DETAIL, Example, Rule
from breakfinder.rules.symptom import Symptom
from breakfinder.source.dataflow import Function


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
    pattern_nodes = (ast.Call, ast.Attribute)
    fixes = ("guard_call", "remove_override", "remove_call")
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

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        if isinstance(node, ast.Call) and (applied := receiver_of(node, "apply")):
            made = function.names.classes.get(function.names.dotted(applied))
            own = {part.name for part in made.body if isinstance(part, ast.FunctionDef)} if made else set()
            # Without a gradient the function is traced as it stands.
            derived = made and _is_function(made, function) and own & {"jvp", "vjp"}
            return Match(node, "medium") if derived else None
        if function.owner is None or not _is_function(function.owner, function):
            return None
        changed = receiver_of(node, "append|extend|insert|add|update|pop|clear")
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            return match(node, "high" if _is_owner(node.value, function) else None)
        on_class = isinstance(changed, ast.Attribute) and _is_owner(changed.value, function)
        return match(node, "high" if on_class else None)


def _is_function(made: ast.ClassDef, function: Function) -> bool:
    """Whether a class is an `autograd.Function`."""
    bases = {function.names.dotted(base) for base in made.bases}
    return bool(bases & {"torch.autograd.Function", "torch.autograd.function.Function"})


def _is_owner(node: ast.expr, function: Function) -> bool:
    """Whether a name is that of the class whose method the function is."""
    return isinstance(node, ast.Name) and function.owner is not None and node.id == function.owner.name
