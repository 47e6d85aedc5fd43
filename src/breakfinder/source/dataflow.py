"""What is known, by reading alone, of the values in one function."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cached_property

from breakfinder.source.annotations import annotated, bound_names
from breakfinder.source.classes import attributes_of
from breakfinder.source.definitions import FunctionNode, statements
from breakfinder.source.environment import around
from breakfinder.source.flow import Flow
from breakfinder.source.kinds import NONE, UNKNOWN, Fact, Kind, Value, join_all
from breakfinder.source.names import Names

__all__ = ["Fact", "Function", "Kind"]

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LEFT_ALONE = (
    "torch.compiler.disable",
    "torch.compiler.allow_in_graph",
    "torch._dynamo.disable",
    "torch._dynamo.skip",
    "torch._dynamo.allow_in_graph",
    "torch._dynamo.nonstrict_trace",
    "torch._disable_dynamo",
    "torch.library.custom_op",
    "torch.jit.script",
    "torch.jit.ignore",
    "torch.jit.unused",
)
_NO_VALUE = (Kind.UNKNOWN, Kind.OTHER)  # modules of Python are of the latter


class Function:
    """One function as a rule's source pattern sees it: its syntax, and the kinds of the values in it."""

    def __init__(
        self,
        names: Names,
        node: FunctionNode | ast.Lambda,
        owner: ast.ClassDef | None = None,
        qualname: str = "",
        outer: Function | None = None,
    ) -> None:
        self.names: Names = _names_inside(node, outer.names if outer else names)
        self.node = node
        self.owner = owner
        """The class whose method it is."""
        self.qualname = qualname or getattr(node, "name", "<lambda>")
        self.outer = outer
        """The function that it is defined in."""
        self._called: dict[ast.Call, str] = {}

    @cached_property
    def _flow(self) -> Flow:
        method = self.owner is not None
        if self.outer is None:
            return Flow(self.node, self.names, self._attributes, method=method)
        outer = self.outer._flow
        known = around(outer.closures.get(self.node, {}), outer.end)
        return Flow(self.node, self.names, self._attributes, method=method, known=known)

    @cached_property
    def _attributes(self) -> Mapping[str, Value]:
        if self.owner is not None:
            return attributes_of(self.owner, self.names)
        return self.outer._attributes if self.outer else {}

    @cached_property
    def returned(self) -> Value:
        """What is known of its result, by its annotation or by what it returns."""
        if isinstance(self.node, ast.Lambda):
            return self._flow.value(self.node.body)
        said = annotated(self.node.returns, self.names)
        if said is not UNKNOWN or isinstance(self.node, ast.AsyncFunctionDef) or self._generates:
            return said
        given = self._flow.returned
        return join_all(given if self._flow.ends or not given else [*given, NONE])

    @property
    def _generates(self) -> bool:
        return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in self._flow.parents)

    def nodes(self) -> Iterator[ast.AST]:
        """What may be compiled of the function: all nodes in the order in which they are read, without those
        that are `guarded` and those of functions inside it."""
        if self.left_alone:
            return
        flow = self._flow
        for node in flow.parents:
            if node not in flow.guarded:
                yield node

    def all_nodes(self) -> Iterator[ast.AST]:
        """`nodes` and those that never run compiled."""
        yield from self._flow.parents

    def value(self, node: ast.expr) -> Value:
        """All that is known of the value of an expression."""
        return self._flow.value(node)

    def fact(self, node: ast.expr) -> Fact:
        """What is known of the value of an expression; of a variable that is assigned to, the value it gets."""
        return self._flow.value(node).fact

    def is_tensor(self, node: ast.expr, *, sure: bool = False) -> bool:
        """Whether an expression is a tensor as far as is known; with ``sure``, beyond doubt."""
        kind, certain = self.fact(node)
        return kind is Kind.TENSOR and (certain or not sure)

    def is_mask(self, node: ast.expr) -> bool:
        """Whether an expression is a tensor of booleans, as far as is known."""
        value = self.value(node)
        return value.kind is Kind.TENSOR and value.dtype == "bool"

    def called(self, node: ast.Call) -> str:
        """The full name of what is called, as `Names.dotted` has it; of a method of a value, ``.name``."""
        if node not in self._called:
            self._called[node] = self._name_of_called(node)
        return self._called[node]

    def _name_of_called(self, node: ast.Call) -> str:
        name = self.names.dotted(node.func)
        if isinstance(node.func, ast.Attribute) and self.fact(node.func.value).kind not in _NO_VALUE:
            return name if name.startswith("self.") and name.count(".") == 1 else f".{node.func.attr}"
        return name or (f".{node.func.attr}" if isinstance(node.func, ast.Attribute) else "")

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node around a node, None for the function itself."""
        return self._flow.parents.get(node)

    def in_loop(self, node: ast.AST) -> bool:
        """Whether a node is in the body of a loop or of a comprehension, and so may run more than once."""
        while (around := self.parent(node)) is not None:
            if (
                isinstance(around, _LOOPS)
                and node is not getattr(around, "iter", None)
                and node not in around.orelse
            ):
                return True
            if isinstance(around, _COMPREHENSIONS) and node is not around.generators[0]:
                return True
            node = around
        return False

    def guarded(self, node: ast.AST) -> bool:
        """Whether a node never runs while compiling: behind a check for it, after a ``return``, in a ``raise``."""
        return self.left_alone or node in self._flow.guarded

    @cached_property
    def left_alone(self) -> bool:
        """Whether the function is never traced, by one of its decorators or those of a function around it."""
        if self.outer is not None and self.outer.left_alone:
            return True
        decorators = getattr(self.node, "decorator_list", [])
        return any(
            self.names.dotted(decorator.func if isinstance(decorator, ast.Call) else decorator) in _LEFT_ALONE
            for decorator in decorators
        )


def _names_inside(node: FunctionNode | ast.Lambda, names: Names) -> Names:
    """The names as the function sees them, with its own variables and imports."""
    arguments = node.args
    every = (
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    )
    bound = [argument.arg for argument in every if argument is not None]
    imported: dict[str, str] = {}
    for statement in statements([*node.body]) if not isinstance(node, ast.Lambda) else ():
        if isinstance(statement, ast.Import | ast.ImportFrom):
            imported |= names.imported(statement)
        elif isinstance(statement, ast.Assign):
            bound += (name for target in statement.targets for name in bound_names(target))
        elif isinstance(statement, ast.AnnAssign | ast.AugAssign | ast.For | ast.AsyncFor):
            bound += bound_names(statement.target)
        elif isinstance(statement, ast.With | ast.AsyncWith):
            bound += (name for item in statement.items for name in bound_names(item.optional_vars))
        elif isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            bound.append(statement.name)
    return names.inside(bound, imported)
