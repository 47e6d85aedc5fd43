"""BF304: a function under torch.compiler.disable."""

import ast

from breakfinder.rules import kept
from breakfinder.rules.pattern import Match, match
from breakfinder.rules.rule import Example, Rule
from breakfinder.source.dataflow import Function, Kind

_DISABLE = ("torch.compiler.disable", "torch._dynamo.disable", "torch._disable_dynamo")
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Disabled(Rule):
    code = "BF304"
    name = "compiler-disabled"
    title = "A function under `torch.compiler.disable` is called"
    why = """
        {expression} calls a function that its author took out of compilation with
        `torch.compiler.disable`. The graph ends here, the function runs in eager, and a new graph starts
        after it. In a loop the whole calling function is skipped.
        """
    remedy = """
        If the function is yours, remove the decorator and see whether it compiles. If it has to stay,
        call it at the start or the end of the model, where it cuts nothing in two.

        A function that only takes and gives tensors can be put into the graph without Dynamo looking
        inside: decorate it with `torch._dynamo.nonstrict_trace` in place of `disable`.
        """
    gb_types = (
        "Call to `torch._dynamo.disable()`",
        "Call to `torch.compiler.disable()`",
        "Skip calling `torch.compiler.disable()`d function",
        "Skip inlining `torch.compiler.disable()`d function",
    )
    pattern_nodes = (ast.Call,)
    fixes = ("enter_disabled", "disabled_to_nonstrict")
    examples = (
        Example(
            broken="""
                import torch


                @torch.compiler.disable
                def normalise(x):
                    return x / (x.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt()


                def fn(x):
                    return normalise(x.tanh()) * 2  # <-- break
                """,
            fixed="""
                import torch


                def normalise(x):
                    return x / (x.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt()


                def fn(x):
                    return normalise(x.tanh()) * 2
                """,
        ),
        Example(
            broken="""
                import torch


                class Norm(torch.nn.Module):
                    @torch.compiler.disable
                    def forward(self, x):
                        return x / x.norm()


                class Model(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.norm = Norm()

                    def forward(self, x):
                        return self.norm(x.tanh()) * 2  # <-- break
                """,
            fixed="""
                import torch


                @torch._dynamo.nonstrict_trace
                def normalise(x):
                    return x / x.norm()


                class Model(torch.nn.Module):
                    def forward(self, x):
                        return normalise(x.tanh()) * 2
                """,
        ),
    )

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        if not isinstance(node, ast.Call):
            return None
        if _is_disabled(_called(node, function), function):
            return Match(node)
        return match(node, "medium" if _is_disabled(_of_name(node, function), function) else None)


def _called(node: ast.Call, function: Function) -> list[_Definition]:
    """The function or method that is called, and the class it is from, as far as the module defines them."""
    names, called = function.names, node.func
    if isinstance(called, ast.Name):
        return [names.functions[called.id]] if called.id in names.functions else []
    if not isinstance(called, ast.Attribute):
        return []
    if kept.own(called.value):  # self.norm.scale(x)
        return _methods(_made(kept.initial(function, kept.own(called.value)), function), called.attr)
    if not kept.own(called):
        return []
    # self.scale(x), or self.norm(x), which calls its forward.
    method = _methods(function.owner, called.attr)
    return method[1:] or _methods(_made(kept.initial(function, called.attr), function), "forward")


def _of_name(node: ast.Call, function: Function) -> list[_Definition]:
    """The only method of a name in the module, for one that is called on an object of which no more is known."""
    if not isinstance(node.func, ast.Attribute):
        return []
    kind, sure = function.fact(node.func.value)
    if sure and kind is not Kind.UNKNOWN:
        return []
    found = [
        method for owner in function.names.classes.values() for method in _methods(owner, node.func.attr)[1:]
    ]
    return found if len(found) == 1 else []


def _made(value: ast.expr | None, function: Function) -> ast.ClassDef | None:
    """The class of which a value is a new object."""
    made = value.func if isinstance(value, ast.Call) else None
    return function.names.classes.get(made.id) if isinstance(made, ast.Name) else None


def _methods(owner: ast.ClassDef | None, name: str) -> list[_Definition]:
    """A class, and its methods of a name."""
    if owner is None:
        return []
    return [owner, *(part for part in owner.body if isinstance(part, ast.FunctionDef) and part.name == name)]


def _is_disabled(found: list[_Definition], function: Function) -> bool:
    decorators = (decorator for definition in found for decorator in definition.decorator_list)
    plain = (decorator.func if isinstance(decorator, ast.Call) else decorator for decorator in decorators)
    return any(function.names.dotted(decorator) in _DISABLE for decorator in plain)
