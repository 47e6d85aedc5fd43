"""A module as the analysis sees it: its names, and its functions ready to be asked."""

from __future__ import annotations

import ast
from functools import lru_cache

from breakfinder.source.dataflow import Function
from breakfinder.source.definitions import Definition, Definitions, definitions
from breakfinder.source.names import Names


class Module:
    """One module."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.names = Names(tree)
        self.definitions: Definitions = definitions(tree)
        self.functions: list[Function] = []
        by_definition: dict[Definition, Function] = {}
        for found in self.definitions.functions:
            owner, outer = found.owner.node if found.owner else None, by_definition[found.outer] if found.outer else None
            by_definition[found] = Function(self.names, found.node, owner, found.qualname, outer)
            self.functions.append(by_definition[found])


@lru_cache(maxsize=8)
def module_of(tree: ast.Module) -> Module:
    return Module(tree)
