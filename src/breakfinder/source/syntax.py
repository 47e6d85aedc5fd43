"""The syntax tree of a file, asked by position.

The interpreter takes its positions from ``ast`` nodes, so ``ast`` gives them back exactly.  What is found is
also the smallest libcst expression at the place (the tests hold the two against each other); but libcst with
its positions needs seconds for a modeling file of 4,000 lines, ``ast`` less than a tenth of one.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from functools import lru_cache

from breakfinder.source.nodes import (
    DEFINITIONS,
    Path,
    children,
    header_expressions,
    scope_name,
    span,
    statement_of,
)
from breakfinder.source.text import Position, SourceText

_DEFINED_NAME = re.compile(r"(?:async[ \t]+)?(?:def|class)[ \t]+(?P<name>\w+)")


class Syntax:
    """The syntax tree of one file."""

    def __init__(self, text: SourceText, tree: ast.Module) -> None:
        self.text = text
        self.tree = tree

    def path_to(self, start: Position, end: Position) -> Path:
        """The nodes around a range, outermost first; the last is the smallest that covers it."""
        parents: dict[ast.AST, ast.AST] = {}
        smallest: ast.AST = self.tree
        limits: tuple[Position, Position] | None = None
        todo: list[ast.AST] = [self.tree]
        while todo:
            node = todo.pop()
            for child in children(node):
                first, last = span(child)
                if first <= start and end <= last:
                    parents[child] = node
                    todo.append(child)
                    if limits is None or (limits[0] <= first and last <= limits[1]):
                        smallest, limits = child, (first, last)
        path = [smallest]
        while path[-1] in parents:
            path.append(parents[path[-1]])
        return path[::-1]

    def path_to_line(self, line: int) -> Path:
        """The nodes around the most telling expression that starts on a line.

        That is the widest one in the innermost statement that the line belongs to; of two as wide, the first.
        The path ends at the statement where no expression of it starts on the line.
        """
        start, _ = self.text.extent(line)
        path = self.path_to(start, start)
        statement = statement_of(path)
        if statement is None:
            return path[:1]
        starting = [node for node in header_expressions(statement) if node.lineno == line]
        if not starting:
            return path[: path.index(statement) + 1]
        widest = max(starting, key=lambda node: (node.end_lineno, len(self.code(node))))
        return self.path_to(*span(widest))

    def function(self, first_line: int, name: str) -> Path | None:
        """The path to the function, lambda, comprehension or class called ``name`` whose code starts on a
        line (that of its first decorator, where it has any)."""
        todo: list[Path] = [[self.tree]]
        while todo:
            path = todo.pop()
            for child in children(path[-1]):
                first, last = span(child)
                if first[0] == first_line and scope_name(child) == name:
                    return [*path, child]
                if first[0] <= first_line <= last[0]:
                    todo.append([*path, child])
        return None

    def code(self, node: ast.AST) -> str:
        """The source of an expression; of a statement, of a compound one its header only."""
        return self.text.cut(*self.extent(node))

    def extent(self, node: ast.AST) -> tuple[Position, Position]:
        """Where `code` starts and ends."""
        start, end = span(node)
        if isinstance(node, DEFINITIONS):
            start = (node.lineno, node.col_offset)
        elif isinstance(node, ast.match_case):
            start, _ = self.text.extent(start[0])
        inner = getattr(node, "body", None) or getattr(node, "cases", None)
        if isinstance(node, ast.expr) or not inner:
            return start, end
        return start, self._colon(start, span(inner[0])[0])

    def name_of(self, node: ast.AST) -> tuple[Position, Position]:
        """Where the name in a ``def`` or ``class`` is; of what has no name, the whole of it."""
        start, end = self.extent(node)
        match = _DEFINED_NAME.match(self.text.cut(start, end)) if isinstance(node, DEFINITIONS) else None
        if match is None:
            return start, end
        return (start[0], start[1] + match.start("name")), (start[0], start[1] + len(match[0].encode()))

    def _colon(self, start: Position, inner: Position) -> Position:
        """The end of the header that starts at ``start``, of a statement whose block starts at ``inner``."""
        header = self.text.cut(start, inner)
        rows = header.split("\n")
        end = inner
        for token in tokenize.generate_tokens(io.StringIO(header + "pass\n").readline):
            if token.type == tokenize.OP and token.string == ":":
                row, column = token.end
                offset = len(rows[row - 1][:column].encode())
                end = (start[0] + row - 1, offset + (start[1] if row == 1 else 0))
        return end


@lru_cache(maxsize=8)  # the tree of a long file takes 10 MiB
def parse(text: SourceText) -> Syntax | str:
    """The syntax tree of a file, or why there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the model's own code, which Python has given already
        try:
            return Syntax(text, ast.parse("\n".join(text.lines) + "\n"))
        except SyntaxError as error:
            return f"line {error.lineno}: {error.msg}"
        except (RecursionError, MemoryError):
            return "it nests too deep"
        except ValueError as error:
            return str(error)
