"""A module as the analysis sees it: its names, and its functions ready to be asked."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from breakfinder.source.classes import ancestry
from breakfinder.source.dataflow import Function
from breakfinder.source.definitions import Definition, definitions, statements
from breakfinder.source.kinds import UNKNOWN, Value
from breakfinder.source.names import Names

_MOST_PARTS = 30
_DEEPEST = 8
"""How many functions that call each other are followed for what they return."""
_BLOCKS = (ast.stmt, ast.excepthandler, ast.match_case)


class Module:
    """One module."""

    def __init__(self, tree: ast.Module, file: str = "") -> None:
        path = Path(file)
        self.tree = tree
        self.names = Names(tree, module_name(path), is_package=path.stem == "__init__")
        self.definitions = definitions(tree)
        self.functions: list[Function] = []
        self.owners: dict[Function, str] = {}
        """The qualified name of the class whose method a function is."""
        by_definition: dict[Definition, Function] = {}
        for found in self.definitions.functions:
            owner, outer = found.owner.node if found.owner else None, found.outer
            function = Function(
                self.names, found.node, owner, found.qualname, by_definition[outer] if outer else None
            )
            by_definition[found] = function
            self.functions.append(function)
            if found.owner:
                self.owners[function] = found.owner.qualname
        self._by_name = {function.qualname: function for function in self.functions}
        self._results: dict[str, Value] = {}
        self._depth = 0
        self.names.returned = self._returned

    def _returned(self, qualname: str) -> Value:
        """What a function gives, by what it returns; of a method that is not there, that of a base class.

        What calls itself, or others that do so in turn over many steps, is not followed.
        """
        if qualname in self._results:
            return self._results[qualname]
        function = self._by_name.get(qualname) or self._inherited(qualname)
        if function is None or self._depth > _DEEPEST:
            return UNKNOWN
        self._results[qualname] = UNKNOWN  # for when it calls itself
        self._depth += 1
        try:
            self._results[qualname] = function.returned
        finally:
            self._depth -= 1
        return self._results[qualname]

    def _inherited(self, qualname: str) -> Function | None:
        owner, _, name = qualname.rpartition(".")
        if owner not in self.names.classes:
            return None
        lines = ancestry(self.names.classes[owner], self.names)
        return next(filter(None, (self._by_name.get(f"{base.name}.{name}") for base in lines)), None)

    def top_level(self) -> Iterator[ast.AST]:
        """The nodes outside of functions and classes."""
        for statement in statements([*self.tree.body]):
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            todo: list[ast.AST] = [
                child for child in ast.iter_child_nodes(statement) if not isinstance(child, _BLOCKS)
            ]
            while todo:
                node = todo.pop()
                yield node
                todo += ast.iter_child_nodes(node)


@lru_cache(maxsize=8)
def module_of(tree: ast.Module, file: str = "") -> Module:
    """The module of a syntax tree; ``file`` tells its full name."""
    return Module(tree, file)


def module_name(path: Path) -> str:
    """The full name under which a file is imported, by the packages that it lies in."""
    parts = [] if path.stem == "__init__" else [path.stem]
    folder = path.parent
    while len(parts) < _MOST_PARTS and folder.name and _is_package(folder):
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)


@lru_cache(maxsize=4096)
def _is_package(folder: Path) -> bool:
    return (folder / "__init__.py").is_file()
