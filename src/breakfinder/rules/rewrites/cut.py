"""Cut a function, a class or a module out of a file, parse it alone, and put it back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst
from libcst.metadata import MetadataWrapper, PositionProvider

from breakfinder.source.nodes import Path, span
from breakfinder.source.text import Position, SourceText

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_WHOLE = (ast.expr, ast.stmt)
_Span = tuple[Position, Position]


@dataclass(frozen=True)
class Cut:
    """Whole lines of a file, as a tree."""

    text: str
    source: SourceText
    first: int
    """The first line, 1-based."""
    last: int
    prefix: str
    """Lines put before the code, so that it can be parsed with the indentation that it has."""
    tree: libcst.Module
    root: ast.AST

    def put_back(self, tree: libcst.Module) -> str:
        """The text of the file with another tree in the place of the one cut out."""
        code = tree.code
        if not code.startswith(self.prefix):
            raise SyntaxError("the lines before the code were changed")
        lines = _lines(self.text)
        return "".join((*lines[: self.first - 1], code[len(self.prefix) :], *lines[self.last :]))

    def known(self) -> dict[libcst.CSTNode, ast.AST]:
        """The ``ast`` nodes at the places of the tree's statements and expressions."""
        by_span: dict[tuple[bool, _Span], ast.AST] = {}
        compound: dict[tuple[str, Position], ast.AST] = {}
        for node in ast.walk(self.root):
            if isinstance(node, _WHOLE):
                start = (node.lineno, node.col_offset)
                by_span.setdefault((isinstance(node, ast.expr), (start, span(node)[1])), node)
                if isinstance(node, ast.stmt):
                    compound.setdefault((type(node).__name__.removeprefix("Async"), start), node)
        in_parentheses: dict[Position, ast.AST] = {}
        """What has parentheses of its own, by where its first part starts: libcst's positions are inside of them."""
        for node in by_span.values():
            first = node.elts[:1] if isinstance(node, ast.Tuple) else [getattr(node, "elt", None)]
            if isinstance(node, ast.Tuple | ast.GeneratorExp) and first and first[0] is not None:
                in_parentheses.setdefault((first[0].lineno, first[0].col_offset), node)
        known: dict[libcst.CSTNode, ast.AST] = {}
        for concrete, place in self._places():
            found: ast.AST | None
            if isinstance(concrete, libcst.BaseCompoundStatement):
                name = type(concrete).__name__.removesuffix("Star")
                found = compound.get((name, place[0]))
            elif isinstance(concrete, libcst.Tuple | libcst.GeneratorExp) and concrete.lpar:
                found = in_parentheses.get(place[0])
            else:
                found = by_span.get((isinstance(concrete, libcst.BaseExpression), place))
            if found is not None:
                known[concrete] = found
        return known

    def _places(self) -> Iterator[tuple[libcst.CSTNode, _Span]]:
        before = self.prefix.count("\n")
        kinds = (libcst.BaseExpression, libcst.BaseSmallStatement, libcst.BaseCompoundStatement)
        wrapper = MetadataWrapper(self.tree, unsafe_skip_copy=True)
        for node, place in wrapper.resolve(PositionProvider).items():
            if isinstance(node, kinds) and place.start.line > before:
                start, end = (
                    self._position(at.line - before + self.first - 1, at.column)
                    for at in (place.start, place.end)
                )
                yield node, (start, end)

    def _position(self, line: int, column: int) -> Position:
        return line, len(self.source.line(line)[:column].encode())


def cut_out(text: str, source: SourceText, path: Path, extent: str) -> Cut | None:
    """The lines of the outermost function on a path, its class or the whole file; None for no function.

    Raises `libcst.ParserSyntaxError` for what libcst cannot read.
    """
    root = _root(path, extent)
    if root is None:
        return None
    if isinstance(root, ast.Module):
        first, last = 1, len(_lines(text))
    else:
        first, last = span(root)[0][0], span(root)[1][0]
    code = "".join(_lines(text)[first - 1 : last])
    indent = re.match(r"[ \t\f]*", code)[0] if not isinstance(root, ast.Module) else ""  # type: ignore[index]
    newline = next(iter(re.findall(r"\r\n|\r|\n", code or text)), "\n")
    prefix = f"if 1:{newline}{_unit(root, source, indent)}pass{newline}"
    if indent:
        prefix += f"if 1:{newline}"
    if isinstance(root, ast.Module):
        prefix = ""
    config: libcst.PartialParserConfig = libcst.PartialParserConfig(default_newline=newline)
    return Cut(text, source, first, last, prefix, libcst.parse_module(prefix + code, config), root)


def _root(path: Path, extent: str) -> ast.AST | None:
    at = next((index for index, node in enumerate(path) if isinstance(node, _FUNCTIONS)), None)
    if extent == "module":
        return path[0]
    if at is None:
        return None
    if extent == "function":
        return path[at]
    return path[at - 1] if isinstance(path[at - 1], ast.ClassDef) else None


def _unit(root: ast.AST, source: SourceText, indent: str) -> str:
    """By how much the body of a function or class is indented."""
    inner = getattr(root, "body", None)
    if inner:
        line = source.line(span(inner[0])[0][0])
        found = re.match(r"[ \t]*", line)[0]  # type: ignore[index]
        if found.startswith(indent) and len(found) > len(indent):
            return found[len(indent) :]
    return "    "


def _lines(text: str) -> list[str]:
    lines = _LINE.findall(text)
    return lines[:-1] if lines and not lines[-1] else lines
