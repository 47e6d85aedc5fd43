"""A module as the analysis sees it: its names, and its functions ready to be asked."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from breakfinder.source.dataflow import Function
from breakfinder.source.definitions import Definition, definitions, statements
from breakfinder.source.names import Names

_MOST_PARTS = 30
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
