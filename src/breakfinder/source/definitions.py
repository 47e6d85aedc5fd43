"""The functions and classes that a module defines, at whatever depth."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")


@dataclass(eq=False)
class Definition:
    """A function as the module defines it."""

    node: FunctionNode
    qualname: str
    owner: Class | None = None
    """The class whose method it is."""
    outer: Definition | None = None
    """The function that it is directly inside of."""


@dataclass(eq=False)
class Class:
    """A class as the module defines it."""

    node: ast.ClassDef
    qualname: str
    outer: Definition | None = None
    methods: dict[str, Definition] = field(default_factory=dict)
    """Of several of one name the last, as Python has it."""


@dataclass(eq=False)
class Definitions:
    """All of a module's functions and classes, in the order of the source."""

    functions: list[Definition]
    classes: list[Class]


def statements(blocks: list[ast.AST]) -> Iterator[ast.AST]:
    """Statements and what is nested in them, in order; what is in functions and classes is left out."""
    todo = blocks[::-1]
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for block in reversed(_BLOCKS):
                inner = getattr(node, block, None)
                if isinstance(inner, list):
                    todo += reversed(inner)


def definitions(tree: ast.Module) -> Definitions:
    """What a module defines; of what is at one place under a condition, every alternative."""
    found = Definitions([], [])
    todo: list[tuple[list[ast.AST], str, Class | None, Definition | None]] = [([*tree.body], "", None, None)]
    while todo:
        body, prefix, owner, outer = todo.pop()
        inside: list[tuple[list[ast.AST], str, Class | None, Definition | None]] = []
        for node in statements(body):
            if isinstance(node, ast.ClassDef):
                a_class = Class(node, prefix + node.name, outer)
                found.classes.append(a_class)
                inside.append(([*node.body], f"{a_class.qualname}.", a_class, outer))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                function = Definition(node, prefix + node.name, owner, outer)
                found.functions.append(function)
                if owner:
                    owner.methods[node.name] = function
                inside.append(([*node.body], f"{function.qualname}.<locals>.", None, function))
        todo += reversed(inside)
    return found
