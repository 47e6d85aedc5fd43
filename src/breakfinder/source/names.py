"""What the names in a module stand for, by its imports and definitions."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Mapping

from breakfinder.source.definitions import FunctionNode, statements
from breakfinder.source.kinds import UNKNOWN, Value

_BUILTINS = frozenset(dir(builtins))
_WITH_OWN_BUILTINS = ("torch", "numpy", "math", "jax", "scipy", "pylab", "matplotlib")
"""Modules from which ``import *`` brings names such as ``sum``, ``any`` and ``abs``."""


class Names:
    """The imports and definitions of one module, or of one function in it (`inside`)."""

    def __init__(self, tree: ast.Module, module: str = "", *, is_package: bool = False) -> None:
        """``module`` is its full name, by which relative imports are resolved; without it they keep their dots."""
        self.module = module
        self._package = module if is_package else module.rpartition(".")[0]
        self._full: dict[str, str] = {}
        self._imported: set[str] = set()
        self.functions: dict[str, FunctionNode] = {}
        """The functions that the module itself defines."""
        self.classes: dict[str, ast.ClassDef] = {}
        self.assigned: dict[str, ast.expr] = {}
        """What the names are given at the module's top, if it is once only."""
        self.attributes: dict[ast.ClassDef, Mapping[str, Value]] = {}
        """Of classes that were read, what is known of their instances (`classes.attributes_of`)."""
        self.returned: Callable[[str], Value] = lambda qualname: UNKNOWN
        """What a function or method of the module gives, by its qualified name, read from what it returns."""
        self._bound: frozenset[str] = frozenset()
        """Those of them that are variables of the function."""
        self._bare = False
        """Whether names may be what ``import *`` brought."""
        self._read(tree)

    def _read(self, tree: ast.Module) -> None:
        again: set[str] = set()
        for node in statements([*tree.body]):
            if isinstance(node, ast.Import | ast.ImportFrom):
                for name, full in self.imported(node).items():
                    self._imported.add(name)
                    self._full.setdefault(name, full)  # of a try and its except, the try
            elif isinstance(node, ast.ClassDef):
                self.classes[node.name] = node
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self.functions[node.name] = node
            elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.For | ast.With):
                for name, value in _given(node):
                    again |= {name} & self.assigned.keys()
                    self.assigned.setdefault(name, value or ast.Constant(None))
                    again |= set() if value else {name}
        for name in again:
            del self.assigned[name]
        for name in (*self.functions, *self.classes, *self.assigned, *again):
            self._full.setdefault(name, name)
        for name, value in self.assigned.items():
            if self._full[name] == name and isinstance(value, ast.Attribute):
                self._full[name] = self.dotted(value) if self._is_imported(value) else name

    def imports(self) -> dict[str, str]:
        """What the names that are imported stand for."""
        return {name: self._full[name] for name in sorted(self._imported)}

    def is_known(self, name: str) -> bool:
        """Whether a name is imported or defined in the module, and not a variable of the function."""
        if name not in self._imported and name not in self.functions and name not in self.classes:
            return False
        return name not in self._bound

    def imported(self, node: ast.Import | ast.ImportFrom) -> dict[str, str]:
        """The names that an import binds, with what they stand for."""
        if isinstance(node, ast.Import):
            tops = (alias.name.partition(".")[0] for alias in node.names)
            return {
                alias.asname or top: alias.name if alias.asname else top
                for alias, top in zip(node.names, tops, strict=True)
            }
        source = self._source(node)
        if any(alias.name == "*" for alias in node.names):
            self._bare = self._bare or source.partition(".")[0] in _WITH_OWN_BUILTINS
        prefix = source if not source or source.endswith(".") else f"{source}."
        return {
            alias.asname or alias.name: f"{prefix}{alias.name}" for alias in node.names if alias.name != "*"
        }

    def _source(self, node: ast.ImportFrom) -> str:
        """The full name of the module that is imported from."""
        if not node.level:
            return node.module or ""
        package = self._package
        for _ in range(node.level - 1):
            package = package.rpartition(".")[0]
        return (
            ".".join(filter(None, (package, node.module)))
            if package
            else "." * node.level + (node.module or "")
        )

    def _is_imported(self, node: ast.expr) -> bool:
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self._imported

    def inside(self, bound: Iterable[str], imported: Mapping[str, str]) -> Names:
        """The names as a function sees them that binds some of its own and imports others."""
        shadowed = {name for name in bound if name in self._full or name in _BUILTINS}
        if not shadowed and not imported:
            return self
        inner = object.__new__(Names)
        inner.__dict__.update(self.__dict__)
        inner._full = {**self._full, **{name: name for name in shadowed}, **imported}
        inner._bound = (self._bound | shadowed) - imported.keys()
        inner._imported = self._imported | imported.keys()
        return inner

    def dotted(self, node: ast.AST) -> str:
        """The full dotted name of an expression: ``torch.nn.functional.relu`` for ``F.relu``,
        ``builtins.print``, ``self.config.size``; empty for what is no name, or not known."""
        attributes: list[str] = []
        while isinstance(node, ast.Attribute):
            attributes.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        name = self._full.get(node.id)
        if name is None:
            name = f"builtins.{node.id}" if node.id in _BUILTINS and not self._bare else node.id
        return ".".join((name, *reversed(attributes))) if attributes else name


def _given(
    node: ast.Assign | ast.AnnAssign | ast.AugAssign | ast.For | ast.With,
) -> Iterable[tuple[str, ast.expr | None]]:
    """The names that a statement binds, with their value where that is plain to see."""
    if isinstance(node, ast.Assign):
        pairs: list[tuple[ast.expr | None, ast.expr | None]] = [
            (target, node.value) for target in node.targets
        ]
    elif isinstance(node, ast.AnnAssign | ast.AugAssign):
        pairs = [(node.target, node.value if isinstance(node, ast.AnnAssign) else None)]
    elif isinstance(node, ast.For):
        pairs = [(node.target, None)]
    else:
        pairs = [(item.optional_vars, None) for item in node.items]
    while pairs:
        target, value = pairs.pop()
        if isinstance(target, ast.Name):
            yield target.id, value
        elif isinstance(target, ast.Tuple | ast.List):
            pairs += [(element, None) for element in target.elts]
