"""Build and replace parts of libcst trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import Any, cast

import libcst
from libcst import helpers

Statement = libcst.SimpleStatementLine | libcst.BaseCompoundStatement
Replacement = Callable[[Any], Any]
"""Given a node with its own parts replaced already: a node, a list of statements, or None to take it away."""

_ATOMS = (
    libcst.Name,
    libcst.Attribute,
    libcst.Call,
    libcst.Subscript,
    libcst.SimpleString,
    libcst.List,
    libcst.Dict,
    libcst.Set,
    libcst.ListComp,
    libcst.DictComp,
    libcst.SetComp,
)


def code(node: libcst.CSTNode) -> str:
    """The source of a node, without comments before and after it."""
    return libcst.Module([]).code_for_node(node).strip()


def same(one: libcst.CSTNode, other: libcst.CSTNode) -> bool:
    """Whether two expressions read the same."""
    return one.deep_equals(other) or code(one) == code(other)


def atom(node: libcst.BaseExpression) -> libcst.BaseExpression:
    """An expression in parentheses, unless an attribute or an operator can follow it as it is."""
    if isinstance(node, _ATOMS) or node.lpar:
        return node
    return node.with_changes(lpar=[libcst.LeftParen()], rpar=[libcst.RightParen()])


def operand(node: libcst.BaseExpression) -> libcst.BaseExpression:
    """An expression in parentheses, unless an operator can stand beside it as it is."""
    return node if isinstance(node, libcst.BaseNumber) else atom(node)


def bare(node: libcst.BaseExpression) -> libcst.BaseExpression:
    """An expression without the parentheses around it, where it can stand without them as an argument."""
    if not node.lpar or isinstance(
        node, libcst.Tuple | libcst.GeneratorExp | libcst.NamedExpr | libcst.Yield
    ):
        return node
    return node if "\n" in code(node) else node.with_changes(lpar=[], rpar=[])


def expression(template: str, **parts: libcst.BaseExpression) -> libcst.BaseExpression:
    """An expression made of others, which stand in braces in the template."""
    return helpers.parse_template_expression(template, **cast(Any, parts))


def statement(template: str, **parts: libcst.CSTNode) -> Statement:
    """A statement made of expressions, which stand in braces in the template."""
    return helpers.parse_template_statement(template, **cast(Any, parts))


def assignment(name: str, value: libcst.BaseExpression) -> libcst.SimpleStatementLine:
    return cast(libcst.SimpleStatementLine, statement(f"{name} = {{value}}", value=bare(value)))


def fresh(name: str, taken: Iterable[str]) -> str:
    """A name like this one that is not taken."""
    names = set(taken)
    return next(other for n in count(1) if (other := name if n == 1 else f"{name}_{n}") not in names)


def names_in(node: libcst.CSTNode) -> set[str]:
    """All names that stand in a node, those of attributes and keywords left out."""
    found: set[str] = set()
    todo = [node]
    while todo:
        part = todo.pop()
        if isinstance(part, libcst.Name):
            found.add(part.value)
        labels = (getattr(part, "attr", None), getattr(part, "keyword", None))
        todo += [child for child in part.children if child not in labels]
    return found


def replaced(tree: libcst.Module, changes: Mapping[libcst.CSTNode, Replacement]) -> libcst.Module:
    """The tree with some of its nodes replaced, each by what its `Replacement` gives.

    A small statement that is replaced by others is given as the line that it would be on its own, and gets one
    where there were several on a line.  A block that is left empty gets a ``pass``.
    """
    return tree.visit(_Replacer(changes))


class _Replacer(libcst.CSTTransformer):
    def __init__(self, changes: Mapping[libcst.CSTNode, Replacement]) -> None:
        super().__init__()
        self.changes = changes

    def on_leave(self, original: Any, updated: Any) -> Any:
        if isinstance(original, libcst.SimpleStatementLine) and self._changes_one(original):
            return self._line(original, updated)
        if isinstance(original, libcst.SimpleStatementSuite) and self._changes_one(original):
            return _block(self._split(original, updated.body, None), updated.trailing_whitespace)
        if original in self.changes and not isinstance(original, libcst.BaseSmallStatement):
            given = self.changes[original](updated)
            if isinstance(given, list):
                given = libcst.FlattenSentinel(_headed(given, getattr(updated, "leading_lines", ())))
            return libcst.RemoveFromParent() if given is None else given
        if isinstance(updated, libcst.IndentedBlock) and not updated.body and original.body:
            return updated.with_changes(body=[statement("pass")])
        return updated

    def _changes_one(self, line: libcst.SimpleStatementLine | libcst.SimpleStatementSuite) -> bool:
        return any(part in self.changes for part in line.body)

    def _line(self, original: libcst.SimpleStatementLine, updated: libcst.SimpleStatementLine) -> Any:
        split = self._split(original, updated.body, updated.trailing_whitespace)
        if not split:
            return libcst.RemoveFromParent()
        return libcst.FlattenSentinel(_headed(split, updated.leading_lines))

    def _split(
        self,
        original: libcst.SimpleStatementLine | libcst.SimpleStatementSuite,
        body: Sequence[libcst.BaseSmallStatement],
        trailing: libcst.TrailingWhitespace | None,
    ) -> list[Statement]:
        """The small statements of a line, each on its own, those to be replaced replaced."""
        lines: list[Statement] = []
        for index, (old, new) in enumerate(zip(original.body, body, strict=True)):
            ending = trailing if trailing and index == len(body) - 1 else libcst.TrailingWhitespace()
            alone = libcst.SimpleStatementLine(
                [new.with_changes(semicolon=libcst.MaybeSentinel.DEFAULT)], trailing_whitespace=ending
            )
            given = self.changes[old](alone) if old in self.changes else alone
            lines += given if isinstance(given, list) else [] if given is None else [given]
        return lines


def _headed(statements: list[Statement], leading: Sequence[libcst.EmptyLine]) -> list[Statement]:
    """Statements with comments and empty lines before the first."""
    if not statements or not leading:
        return statements
    first, *rest = statements
    return [first.with_changes(leading_lines=[*leading, *first.leading_lines]), *rest]


def _block(
    statements: list[Statement], trailing: libcst.TrailingWhitespace | None = None
) -> libcst.IndentedBlock:
    header = libcst.TrailingWhitespace() if trailing is None or trailing.comment is None else trailing
    return libcst.IndentedBlock(statements or [statement("pass")], header=header)


def block(statements: Iterable[Statement]) -> libcst.IndentedBlock:
    """An indented block of statements."""
    return _block([*statements])
