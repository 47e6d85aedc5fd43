"""What a fix is: a change of one function, class or module that keeps all formatting around it."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import ClassVar, Literal

import libcst

from breakfinder.report.model import Applicability
from breakfinder.rules.rewrites.cut import Cut, cut_out
from breakfinder.rules.rewrites.imports import with_imports
from breakfinder.source import syntax
from breakfinder.source.dataflow import Function
from breakfinder.source.names import Names
from breakfinder.source.nodes import Path, to_expression
from breakfinder.source.text import Position, SourceText

Extent = Literal["function", "class", "module"]

_MARK = "\ufeff"
MOST_OPERANDS = 1000
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True)
class Site:
    """The place that a fix starts from.

    ``tree`` is the code that the fix may change: the outermost function around the place (or its class, or the
    whole module, see `Rewrite.extent`), as a libcst tree of its own with the text's own indentation.
    """

    tree: libcst.Module
    node: libcst.CSTNode
    """The expression at the place, or the statement where there is no expression, within ``tree``."""
    syntax: Path
    """The same place as ``ast`` nodes, from the module down."""
    function: Function
    """What is known of the values in the function around it."""
    known: Mapping[libcst.CSTNode, ast.AST] = field(default_factory=dict, repr=False)
    """The ``ast`` nodes of the statements and expressions in ``tree``."""

    @property
    def names(self) -> Names:
        return self.function.names

    @cached_property
    def parents(self) -> Mapping[libcst.CSTNode, libcst.CSTNode]:
        """For each node in ``tree`` the node around it."""
        parents: dict[libcst.CSTNode, libcst.CSTNode] = {}
        todo: list[libcst.CSTNode] = [self.tree]
        while todo:
            node = todo.pop()
            for child in node.children:
                parents[child] = node
                todo.append(child)
        return parents

    @cached_property
    def nodes(self) -> Mapping[ast.AST, libcst.CSTNode]:
        """For each ``ast`` node in ``known`` its libcst node."""
        return {node: concrete for concrete, node in self.known.items()}

    def around(
        self, node: libcst.CSTNode, kinds: type[libcst.CSTNode] | tuple[type[libcst.CSTNode], ...]
    ) -> libcst.CSTNode | None:
        """The innermost node of some kind around a node, or the node itself."""
        here: libcst.CSTNode | None = node
        while here is not None and not isinstance(here, kinds):
            here = self.parents.get(here)
        return here

    def module(self, name: str = "torch") -> str:
        """What an imported module is called here; its own name where it has yet to be imported."""
        return next((here for here, full in self.names.imports().items() if full == name), name)

    def imports(self, name: str = "torch") -> tuple[str, ...]:
        """The import statements without which `module` is not there."""
        return () if name in self.names.imports().values() else (f"import {name}",)

    def is_tensor(self, node: libcst.CSTNode, *, sure: bool = False) -> bool:
        """Whether an expression of the function is a tensor, as far as is known."""
        known = self.known.get(node)
        return isinstance(known, ast.expr) and self.function.is_tensor(known, sure=sure)


@dataclass(frozen=True)
class Changed:
    """The tree after the fix, and what it needs imported."""

    tree: libcst.Module
    imports: Sequence[str] = field(default=())
    """Import statements that the module must have, such as ``import torch``."""


class Rewrite:
    """A change of source that takes one kind of problem away.

    Subclasses set the attributes and `change`.  They may propose what does not hold: for `check` a proposal is
    tried and proved; only what is ``safe`` must be right for every input, since `lint --fix` runs nothing.
    """

    title: ClassVar[str]
    """What it does, in the imperative, with code in backticks."""
    applicability: ClassVar[Applicability] = "review"
    condition: ClassVar[str] = ""
    """For ``review``: what must hold for the result to stay the same, a sentence."""
    extent: ClassVar[Extent] = "function"

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        """The code with the problem at ``site.node`` taken away; None if this fix has no use there."""
        raise NotImplementedError


def rewrite(text: str, fix: type[Rewrite], position: tuple[int, int], end: tuple[int, int]) -> str | None:
    """The text of a file after a fix of the place from ``position`` to ``end``; None if it does not apply.

    Positions are lines, 1-based, and columns, 1-based characters (the end exclusive), as in a `Location`.
    Only the lines of what is changed and those of added imports differ.
    """
    mark, text = (_MARK, text[1:]) if text.startswith(_MARK) else ("", text)
    source = SourceText(text)
    parsed = syntax.parse(source)
    if (
        isinstance(parsed, str)
        or _is_too_deep(parsed.tree)
        or not 1 <= position[0] <= end[0] <= len(source.lines)
    ):
        return None
    try:
        path = to_expression(parsed.path_to(_offset(source, position), _offset(source, end)))
        cut = cut_out(text, source, path, fix.extent)
        site = _site(cut, path) if cut else None
        changed = fix.change(site) if site else None
        if cut is None or changed is None:
            return None
        code = cut.put_back(changed.tree)
        if code == text:
            return None
        code = with_imports(code, changed.imports)
        ast.parse(re.sub(r"\r\n?", "\n", code))
    except (SyntaxError, libcst.ParserSyntaxError, RecursionError, MemoryError):
        # Of odd source, or what a fix makes of it: SyntaxError is also what libcst raises for an invalid tree.
        return None
    except KeyError as error:
        if not _comes_of_recursion(error):  # libcst's positions of what nests too deep for it
            raise
        return None
    return mark + code


@lru_cache(maxsize=8)
def _is_too_deep(tree: ast.Module) -> bool:
    """Whether libcst's parser, which takes ``a and b and c`` for nested, might overflow the stack."""
    return any(isinstance(node, ast.BoolOp) and len(node.values) > MOST_OPERANDS for node in ast.walk(tree))


def _comes_of_recursion(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, RecursionError):
        error = error.__context__
    return error is not None


def _offset(source: SourceText, position: tuple[int, int]) -> Position:
    line, column = position
    return line, len(source.line(line)[: max(column - 1, 0)].encode())


def _site(cut: Cut, path: Path) -> Site | None:
    known = cut.known()
    node = next((concrete for concrete, node in known.items() if node is path[-1]), None)
    function = _function(path)
    return Site(cut.tree, node, path, function, known) if node is not None and function else None


def _function(path: Path) -> Function | None:
    """What is known of the innermost function that a path leads through or to."""
    assert isinstance(path[0], ast.Module)
    found: Function | None = None
    prefix = ""
    names = Names(path[0])
    for around, node in pairwise(path):
        if isinstance(node, ast.ClassDef):
            prefix += f"{node.name}."
        elif isinstance(node, _FUNCTIONS) and (node is not path[-1] or not isinstance(node, ast.Lambda)):
            name = prefix + getattr(node, "name", "<lambda>")
            owner = around if isinstance(around, ast.ClassDef) else None
            found = Function(names, node, owner, name, found)
            prefix = f"{name}.<locals>."
    return found
