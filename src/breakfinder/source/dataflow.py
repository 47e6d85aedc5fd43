"""What is known, by reading alone, of the values in one function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from breakfinder.source.names import Names


class Kind(Enum):
    """The kind of a value."""

    TENSOR = "tensor"
    NUMBER = "number"
    """A Python bool, int or float, such as a size."""
    TEXT = "text"
    NONE = "none"
    CONTAINER = "container"
    MODULE = "module"
    """An nn.Module."""
    ARRAY = "array"
    """A NumPy array or scalar."""
    OTHER = "other"
    """Known to be something else, no tensor."""
    UNKNOWN = "unknown"


class Fact(NamedTuple):
    """What is known of a value; ``sure`` if it follows from the code, not from a habit of naming."""

    kind: Kind
    sure: bool = True


UNKNOWN = Fact(Kind.UNKNOWN)


class Function:
    """One function as a rule's source pattern sees it: its syntax, and the kinds of the values in it."""

    def __init__(
        self,
        names: Names,
        node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
        owner: ast.ClassDef | None = None,
        qualname: str = "",
    ) -> None:
        self.names = names
        self.node = node
        self.owner = owner
        """The class whose method it is."""
        self.qualname = qualname or getattr(node, "name", "<lambda>")

    @cached_property
    def _parents(self) -> dict[ast.AST, ast.AST]:
        return {child: parent for parent in ast.walk(self.node) for child in ast.iter_child_nodes(parent)}

    def nodes(self) -> Iterator[ast.AST]:
        """What may be compiled of the function: all nodes in the order of the source, those of functions inside
        it left out."""
        todo = [*reversed(self.node.body)] if isinstance(self.node.body, list) else [self.node.body]
        while todo:
            node = todo.pop()
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield node
                todo += [*ast.iter_child_nodes(node)][::-1]

    def fact(self, node: ast.expr) -> Fact:
        """What is known of the value of an expression."""
        return UNKNOWN

    def is_tensor(self, node: ast.expr, *, sure: bool = False) -> bool:
        """Whether an expression is a tensor as far as is known; with ``sure``, beyond doubt."""
        kind, certain = self.fact(node)
        return kind is Kind.TENSOR and (certain or not sure)

    def called(self, node: ast.Call) -> str:
        """The full name of what is called, as `Names.dotted` has it; of a method of a value, ``.name``."""
        name = self.names.dotted(node.func)
        if isinstance(node.func, ast.Attribute) and self.fact(node.func.value).kind is not Kind.UNKNOWN:
            return f".{node.func.attr}"
        return name or (f".{node.func.attr}" if isinstance(node.func, ast.Attribute) else "")

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node around a node, None for the function itself."""
        return self._parents.get(node)
