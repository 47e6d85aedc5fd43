"""Branches as straight lines of assignments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import libcst

from breakfinder.rules.rewrites.tree import Statement, expression, operand

_RANDOM = ("rand", "dropout", "bernoulli", "multinomial", "normal_", "uniform_", "shuffle", "sample")


@dataclass
class Step:
    """An assignment: the names that it binds, and what they get."""

    line: libcst.SimpleStatementLine
    targets: tuple[str, ...]
    value: libcst.BaseExpression
    """For ``a += b`` it is ``a + b``."""
    augmented: bool = False


@dataclass
class Branch:
    """Assignments one after another, and maybe a value that is returned, or ``continue``, at the end."""

    steps: list[Step] = field(default_factory=list)
    returned: libcst.BaseExpression | None = None
    leaves: str = ""
    """``return``, ``continue``, ``break`` or empty."""

    @property
    def names(self) -> list[str]:
        """The names that it binds, in order."""
        return list(dict.fromkeys(name for step in self.steps for name in step.targets))

    def exposed(self) -> set[str]:
        """The names that it reads before it binds them, if it does."""
        bound, found = set[str](), set[str]()
        for step in self.steps:
            found |= reads(step.value) - bound
            bound |= {*step.targets}
        return found | (reads(self.returned) - bound if self.returned is not None else set())

    def values(self) -> dict[str, libcst.BaseExpression] | None:
        """The value of each name as of the start; None unless each is bound once, and none read after that."""
        found: dict[str, libcst.BaseExpression] = {}
        for step in self.steps:
            if len(step.targets) != 1 or step.targets[0] in found:
                return None
            if reads(step.value) & found.keys():
                return None
            found[step.targets[0]] = step.value
        if self.returned is not None and reads(self.returned) & found.keys():
            return None
        return found


def branch(statements: Iterable[libcst.CSTNode]) -> Branch | None:
    """Statements as a branch; None if there is more to them than assignments to variables.

    What draws random numbers is not taken either: both branches will run.
    """
    found = Branch()
    for line in statements:
        if not isinstance(line, libcst.SimpleStatementLine):
            return None
        for small in line.body:
            if found.leaves:
                return None
            if not _add(found, line.with_changes(body=[_alone(small)]), small):
                return None
    return found


def _alone(small: Any) -> libcst.BaseSmallStatement:
    return cast(libcst.BaseSmallStatement, small.with_changes(semicolon=libcst.MaybeSentinel.DEFAULT))


def _add(found: Branch, line: libcst.SimpleStatementLine, small: libcst.BaseSmallStatement) -> bool:
    if isinstance(small, libcst.Pass):
        return True
    if isinstance(small, libcst.Return) and small.value is not None and pure(small.value):
        found.returned, found.leaves = small.value, "return"
        return True
    if isinstance(small, libcst.Continue | libcst.Break):
        found.leaves = type(small).__name__.lower()
        return True
    if isinstance(small, libcst.Assign) and len(small.targets) == 1:
        targets, value = _names(small.targets[0].target), small.value
    elif isinstance(small, libcst.AnnAssign) and small.value is not None:
        targets, value = _names(small.target), small.value
    elif isinstance(small, libcst.AugAssign) and isinstance(small.target, libcst.Name):
        targets, value = (small.target.value,), augmented(small)
    else:
        return False
    if not targets or not pure(value):
        return False
    found.steps.append(Step(line, targets, value, isinstance(small, libcst.AugAssign)))
    return True


def _names(target: libcst.BaseExpression) -> tuple[str, ...]:
    if isinstance(target, libcst.Name):
        return (target.value,)
    if isinstance(target, libcst.Tuple) and all(
        isinstance(part.value, libcst.Name) for part in target.elements
    ):
        return tuple(cast(libcst.Name, part.value).value for part in target.elements)
    return ()


def augmented(node: libcst.AugAssign) -> libcst.BaseExpression:
    """``a + b`` of ``a += b``."""
    name = type(node.operator).__name__.removesuffix("Assign")
    operator = getattr(libcst, name)()
    return libcst.BinaryOperation(cast(libcst.BaseExpression, node.target), operator, operand(node.value))


def pure(node: libcst.CSTNode) -> bool:
    """Whether an expression can be computed though its result is not needed, as far as can be seen: it binds
    nothing, waits for nothing, draws nothing and changes no tensor in place."""
    todo: list[libcst.CSTNode] = [node]
    while todo:
        part = todo.pop()
        if isinstance(part, libcst.NamedExpr | libcst.Await | libcst.Yield):
            return False
        if isinstance(part, libcst.Call):
            called = part.func.attr if isinstance(part.func, libcst.Attribute) else part.func
            name = called.value if isinstance(called, libcst.Name) else ""
            if name.endswith("_") or any(word in name for word in _RANDOM):
                return False
            if name in ("append", "extend", "pop", "update", "add_", "print", "insert", "remove"):
                return False
        todo += part.children
    return True


def reads(node: libcst.CSTNode) -> set[str]:
    """The variables that an expression reads."""
    collector = _Variables({})
    node.visit(collector)
    return collector.read


def renamed(node: Any, names: Mapping[str, str]) -> Any:
    """A node with some of its variables renamed, read or bound."""
    return node.visit(_Variables(names)) if names else node


class _Variables(libcst.CSTTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__()
        self.names = names
        self.read: set[str] = set()
        self.labels: set[libcst.CSTNode | None] = set()
        """Names of attributes and keywords."""

    def on_visit(self, node: libcst.CSTNode) -> bool:
        if isinstance(node, libcst.Attribute):
            self.labels.add(node.attr)
        elif isinstance(node, libcst.Arg):
            self.labels.add(node.keyword)
        return True

    def on_leave(self, original: Any, updated: Any) -> Any:
        if not isinstance(original, libcst.Name) or original in self.labels:
            return updated
        self.read.add(original.value)
        new = self.names.get(original.value)
        return updated if new is None else updated.with_changes(value=new)


def written(step: Step, names: Mapping[str, str], before: Mapping[str, str]) -> Statement:
    """The line of an assignment with its targets renamed, and what it reads renamed as it was ``before``."""
    (small,) = step.line.body
    value = renamed(step.value, before)
    if isinstance(small, libcst.Assign):
        target = small.targets[0].with_changes(target=renamed(small.targets[0].target, names))
        new: libcst.BaseSmallStatement = small.with_changes(targets=[target], value=value)
    elif isinstance(small, libcst.AnnAssign):
        new = small.with_changes(target=renamed(small.target, names), value=value)
    else:
        target = libcst.AssignTarget(libcst.Name(names.get(step.targets[0], step.targets[0])))
        new = libcst.Assign([target], value)
    return step.line.with_changes(body=[new])


def where(
    torch: str, condition: libcst.BaseExpression, one: libcst.BaseExpression, other: libcst.BaseExpression
) -> libcst.BaseExpression | None:
    """A choice between two values; of tuples, of their items.  None if it cannot be made."""
    if isinstance(one, libcst.Tuple) and isinstance(other, libcst.Tuple):
        if len(one.elements) != len(other.elements):
            return None
        chosen = [
            where(torch, condition, left.value, right.value)
            for left, right in zip(one.elements, other.elements, strict=True)
        ]
        if any(item is None for item in chosen):
            return None
        elements = [left.with_changes(value=item) for left, item in zip(one.elements, chosen, strict=True)]
        return one.with_changes(elements=elements)
    if one.deep_equals(other):
        return one
    if isinstance(one, _NO_TENSOR) or isinstance(other, _NO_TENSOR) or _is_none(one) or _is_none(other):
        return None
    return expression(
        torch + ".where({condition}, {one}, {other})",
        condition=argument(condition),
        one=argument(one),
        other=argument(other),
    )


_NO_TENSOR = (libcst.Tuple, libcst.List, libcst.Dict, libcst.Set, libcst.BaseString, libcst.Lambda)


def _is_none(node: libcst.BaseExpression) -> bool:
    return isinstance(node, libcst.Name) and node.value in ("None", "NotImplemented", "Ellipsis")


def argument(node: libcst.BaseExpression) -> libcst.BaseExpression:
    """An expression as an argument: without needless parentheses."""
    if node.lpar and not isinstance(
        node, libcst.Tuple | libcst.GeneratorExp | libcst.NamedExpr | libcst.Yield
    ):
        return node.with_changes(lpar=[], rpar=[])
    return node


def comments(nodes: Sequence[libcst.CSTNode]) -> list[libcst.EmptyLine]:
    """The comments in some nodes, each as a line of its own."""
    found: list[libcst.EmptyLine] = []
    todo = [*reversed(nodes)]
    while todo:
        part = todo.pop()
        if isinstance(part, libcst.Comment):
            found.append(libcst.EmptyLine(comment=part))
        todo += reversed(part.children)
    return found


def with_small(nodes: Sequence[libcst.CSTNode]) -> list[libcst.CSTNode]:
    """Statements and, of lines, the small statements on them."""
    return [
        part
        for node in nodes
        for part in (node, *getattr(node, "body", ()))
        if isinstance(part, libcst.CSTNode)
    ]


def returning(value: libcst.BaseExpression) -> Any:
    """What makes a return statement return another value."""

    def change(line: libcst.SimpleStatementLine) -> libcst.SimpleStatementLine:
        return line.with_changes(body=[line.body[0].with_changes(value=value)])

    return change


def suite(body: libcst.BaseSuite) -> Branch | None:
    """What stands on the line of an ``if`` as a branch."""
    return branch([libcst.SimpleStatementLine(cast(Any, body).body)])


def independent(values: tuple[Any, Any], merged: list[str], one: Branch, other: Branch) -> bool:
    """Whether each side is one value per merged name, none of which needs another that was chosen before."""
    first, second = values
    if first is None or second is None or {*one.names, *other.names} - {*merged}:
        return False
    done: set[str] = set()
    for name in merged:
        for side in (first, second):
            if name in side and reads(side[name]) & done:
                return False
        done.add(name)
    return not any(side.returned is not None and reads(side.returned) & done for side in (one, other))


def returns_in(nodes: Sequence[libcst.CSTNode]) -> list[libcst.Return]:
    """The return statements of the function itself in some nodes."""
    found: list[libcst.Return] = []
    todo = [*nodes]
    while todo:
        part = todo.pop()
        if isinstance(part, libcst.Return):
            found.append(part)
        if not isinstance(part, libcst.FunctionDef | libcst.Lambda | libcst.ClassDef):
            todo += part.children
    return found
