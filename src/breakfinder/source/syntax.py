"""What stands at a position: the expression, the statement and the scopes around it.

The interpreter takes its positions from ``ast`` nodes, so ``ast`` gives them back exactly; the node found is
the smallest libcst expression at that place as well (the tests compare the two), for a sixth of the time.
All walks are loops: source that nests deeper than Python's stack is no problem once it is parsed.
"""

from __future__ import annotations

import ast
import copy
import io
import re
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache

from breakfinder.source.text import Position, SourceText

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)
_COMPREHENSIONS: dict[type[ast.AST], str] = {
    ast.ListComp: "<listcomp>",
    ast.SetComp: "<setcomp>",
    ast.DictComp: "<dictcomp>",
    ast.GeneratorExp: "<genexpr>",
}
_WITHOUT_POSITION = (ast.comprehension, ast.arguments, ast.withitem, ast.match_case)
_PARTS_ONLY = (ast.Slice, ast.Starred, ast.FormattedValue)
"""``ast`` calls these expressions, but they are only parts of one."""
_DEFINED_NAME = re.compile(r"(?:async[ \t]+)?(?:def|class)[ \t]+(?P<name>\w+)")
_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases", "decorator_list")

Path = list[ast.AST]
"""Nodes from the module to the smallest that was asked for, each inside the one before."""


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
            for child in ast.iter_child_nodes(node):
                covered = span(child)
                if covered is None:
                    if not isinstance(child, _WITHOUT_POSITION):
                        continue
                elif not (covered[0] <= start and end <= covered[1]):
                    continue
                elif limits is None or (limits[0] <= covered[0] and covered[1] <= limits[1]):
                    smallest, limits = child, covered
                parents[child] = node
                todo.append(child)
        path = [smallest]
        while path[-1] in parents:
            path.append(parents[path[-1]])
        return path[::-1]

    def path_to_line(self, line: int) -> Path:
        """The nodes around the most telling expression that starts on a line.

        That is the widest one in the innermost statement that the line belongs to; of two as wide, the first.
        The path ends at the statement where no expression starts on the line.
        """
        start, _ = self.text.extent(line)
        path = self.path_to(start, start)
        statement = statement_of(path)
        if statement is None:
            return path
        starting = [
            node
            for node in _header_nodes(statement)
            if isinstance(node, ast.expr) and not isinstance(node, _PARTS_ONLY) and node.lineno == line
        ]
        if not starting:
            return path[: path.index(statement) + 1]
        widest = max(starting, key=lambda node: (node.end_lineno, len(self.code(node))))
        return self.path_to(*_span(widest))

    def function(self, first_line: int, name: str) -> Path | None:
        """The path to the function, lambda, comprehension or class called ``name`` whose code starts on a
        line (that of its first decorator, where it has any)."""
        todo: list[Path] = [[self.tree]]
        while todo:
            path = todo.pop(0)
            for child in ast.iter_child_nodes(path[-1]):
                covered = span(child)
                if covered is not None and not covered[0][0] <= first_line <= covered[1][0]:
                    continue
                here = [*path, child]
                if covered is not None and covered[0][0] == first_line and scope_name(child) == name:
                    return here
                todo.append(here)
        return None

    def code(self, node: ast.AST) -> str:
        """The source of an expression; of a statement, of a compound one its header only."""
        start, end = self.extent(node)
        return self.text.cut(start, end)

    def extent(self, node: ast.AST) -> tuple[Position, Position]:
        """Where `code` starts and ends."""
        start, end = _span(node)
        if isinstance(node, _DEFINITIONS):
            start = (node.lineno, node.col_offset)
        body = getattr(node, "body", None) or getattr(node, "cases", None)
        if isinstance(node, ast.expr) or not body:
            return start, end
        return start, self._colon(start, _first_position(body[0]))

    def name_of(self, node: ast.AST) -> tuple[Position, Position]:
        """Where the name in a ``def`` or ``class`` is; of what has no name, the whole of it."""
        start, end = self.extent(node)
        match = _DEFINED_NAME.match(self.text.cut(start, end)) if isinstance(node, _DEFINITIONS) else None
        if match is None:
            return start, end
        return (start[0], start[1] + match.start("name")), (start[0], start[1] + len(match[0].encode()))

    def _colon(self, start: Position, body: Position) -> Position:
        """The end of the header that starts at ``start``, of a statement whose block starts at ``body``."""
        header = self.text.cut(start, body)
        found = body
        for token in tokenize.generate_tokens(io.StringIO(header + "pass\n").readline):
            if token.type == tokenize.OP and token.string == ":":
                row, column = token.end
                prefix = header.split("\n")[row - 1][:column]
                found = (start[0] + row - 1, len(prefix.encode()) + (start[1] if row == 1 else 0))
        return found

    def index_among_equal(self, path: Path) -> int:
        """How many nodes before the last one of the path are equal to it in functions of the same name."""
        node = path[-1]
        inside = tuple(scope_name(scope) for scope in scopes(path))
        index = 0
        for other in _nodes_of_scope(self.tree, inside):
            if other is node:
                break
            index += _equal(other, node)
        return index


@lru_cache(maxsize=32)
def parse(text: SourceText) -> Syntax | str:
    """The syntax tree of a file, or why there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return Syntax(text, ast.parse("\n".join(text.lines) + "\n"))
        except SyntaxError as error:
            return f"line {error.lineno}: {error.msg}"
        except (RecursionError, MemoryError):
            return "it nests too deep"
        except ValueError as error:
            return str(error)


def span(node: ast.AST) -> tuple[Position, Position] | None:
    """Where a node starts (decorators included) and ends, or None for those that have no position."""
    return _span(node) if isinstance(node, ast.expr | ast.stmt) or hasattr(node, "lineno") else None


def _span(node: ast.AST) -> tuple[Position, Position]:
    start = (node.lineno, node.col_offset)  # type: ignore[attr-defined]
    if isinstance(node, _DEFINITIONS) and node.decorator_list:
        first = node.decorator_list[0]
        start = min(start, (first.lineno, first.col_offset))
    return start, (node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]


def _first_position(node: ast.AST) -> Position:
    covered = span(node)
    if covered is not None:
        return covered[0]
    return _first_position(next(ast.iter_child_nodes(node)))


def statement_of(path: Sequence[ast.AST]) -> ast.stmt | ast.excepthandler | None:
    """The innermost statement (or ``except`` clause) of a path."""
    for node in reversed(path):
        if isinstance(node, ast.stmt | ast.excepthandler):
            return node
    return None


def to_expression(path: Path) -> Path:
    """The path up to its smallest whole expression; up to the statement where it has none."""
    for length in range(len(path), 0, -1):
        node = path[length - 1]
        if isinstance(node, ast.stmt | ast.excepthandler):
            return path[:length]
        if isinstance(node, ast.expr) and not isinstance(node, _PARTS_ONLY):
            parent = path[length - 2]
            if not (isinstance(parent, ast.JoinedStr) and isinstance(node, ast.Constant)):
                return path[:length]
    return path[:1]


def scopes(path: Sequence[ast.AST]) -> list[ast.AST]:
    """The functions, classes and comprehensions that the last node of a path is in, outermost first."""
    return [
        path[index]
        for index in range(len(path) - 1)
        if _enters(path[index], path[index + 1], path[index + 2] if index + 2 < len(path) else None)
    ]


def qualified_name(scopes: Sequence[ast.AST]) -> str:
    """The name of the innermost scope, as ``__qualname__`` has it; empty for the module."""
    parts: list[str] = []
    for node in scopes:
        parts += [scope_name(node)] if isinstance(node, ast.ClassDef) else [scope_name(node), "<locals>"]
    return ".".join(parts).removesuffix(".<locals>")


def scope_name(node: ast.AST) -> str:
    """The name of the code that a node makes, empty if it makes none."""
    if isinstance(node, _DEFINITIONS):
        return node.name
    return "<lambda>" if isinstance(node, ast.Lambda) else _COMPREHENSIONS.get(type(node), "")


def _enters(node: ast.AST, child: ast.AST, grandchild: ast.AST | None) -> bool:
    """Whether a path from a node to its child goes into the node's own scope.

    Decorators, defaults, annotations and bases belong to the scope around, and so does what the first
    ``for`` of a comprehension runs over.
    """
    if isinstance(node, _DEFINITIONS):
        return child in node.body
    if isinstance(node, ast.Lambda):
        return child is node.body
    if isinstance(node, tuple(_COMPREHENSIONS)):
        first: ast.comprehension = node.generators[0]  # type: ignore[attr-defined]
        return not (child is first and (grandchild is None or grandchild is first.iter))
    return False


def _header_nodes(statement: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a statement that are not in the statements inside it."""
    todo = [statement]
    while todo:
        node = todo.pop()
        yield node
        todo += [
            child
            for child in ast.iter_child_nodes(node)
            if not isinstance(child, ast.stmt | ast.excepthandler | ast.match_case)
        ]


def _nodes_of_scope(tree: ast.AST, wanted: tuple[str, ...]) -> Iterator[ast.AST]:
    """The nodes that are directly in the scopes of that name, in an order that is theirs alone."""
    todo: list[tuple[ast.AST, ast.AST | None, tuple[str, ...]]] = [(tree, None, ())]
    while todo:
        node, parent, inside = todo.pop()
        if inside == wanted:
            yield node
        for child in reversed(list(ast.iter_child_nodes(node))):
            now = inside
            if parent is not None and isinstance(node, ast.comprehension):
                now = (*inside, scope_name(parent)) if _enters(parent, node, child) else inside
            elif not isinstance(child, ast.comprehension) and _enters(node, child, None):
                now = (*inside, scope_name(node))
            if wanted[: len(now)] == now:
                todo.append((child, node, now))


def normalised(syntax: Syntax, node: ast.AST) -> str:
    """The text that stands for a node in fingerprints: layout, comments, quotes and parentheses left out."""
    if isinstance(node, _DEFINITIONS):
        return f"{'class' if isinstance(node, ast.ClassDef) else 'def'} {node.name}"
    shallow = copy.copy(node)
    if not isinstance(node, ast.expr):
        for block in _BLOCKS:
            if hasattr(node, block):
                setattr(shallow, block, [])
    try:
        return ast.unparse(shallow)
    except RecursionError:
        return " ".join(syntax.code(node).split())


def _equal(left: ast.AST, right: ast.AST) -> bool:
    """Whether two nodes are the same code; of statements, whether their headers are."""
    todo: list[tuple[object, object]] = [(left, right)]
    while todo:
        one, other = todo.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, ast.AST):
            todo += [(getattr(one, name, None), getattr(other, name, None)) for name in _identity_fields(one)]
        elif isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            todo += zip(one, other, strict=True)
        elif one != other:
            return False
    return True


def _identity_fields(node: ast.AST) -> tuple[str, ...]:
    if isinstance(node, _DEFINITIONS):
        return ("name",)
    if isinstance(node, ast.stmt | ast.excepthandler):
        return tuple(name for name in node._fields if name not in _BLOCKS)
    return node._fields
