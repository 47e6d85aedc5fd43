"""What the names in a module stand for, by its imports and definitions."""

from __future__ import annotations

import ast
import builtins


class Names:
    """The imports and definitions of one module."""

    def __init__(self, tree: ast.Module) -> None:
        self._full: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    self._full[alias.asname or alias.name.split(".")[0]] = (
                        alias.name if alias.asname else alias.name.split(".")[0]
                    )
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    self._full[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def dotted(self, node: ast.AST) -> str:
        """The full dotted name of an expression: ``torch.nn.functional.relu`` for ``F.relu``,
        ``builtins.print``, ``self.config.size``; empty for what is no name, or not known."""
        if isinstance(node, ast.Attribute):
            value = self.dotted(node.value)
            return f"{value}.{node.attr}" if value else ""
        if isinstance(node, ast.Name):
            if node.id in self._full:
                return self._full[node.id]
            return f"builtins.{node.id}" if hasattr(builtins, node.id) else node.id
        return ""
