"""A module as the analysis sees it: its names, and its functions ready to be asked."""

from __future__ import annotations

import ast
from functools import lru_cache

from breakfinder.source.dataflow import Function
from breakfinder.source.definitions import Definitions, definitions
from breakfinder.source.names import Names


class Module:
    """One module."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.names = Names(tree)
        self.definitions: Definitions = definitions(tree)
        self.functions = [
            Function(self.names, found.node, found.owner.node if found.owner else None, found.qualname)
            for found in self.definitions.functions
        ]


@lru_cache(maxsize=8)
def module_of(tree: ast.Module) -> Module:
    return Module(tree)
