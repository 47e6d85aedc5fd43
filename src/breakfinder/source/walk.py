"""Expressions read in the order in which they run, without recursion."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, ClassVar

from breakfinder.source import conditions
from breakfinder.source.annotations import parameters
from breakfinder.source.conditions import decided
from breakfinder.source.environment import Environment, assign
from breakfinder.source.expressions import Expressions
from breakfinder.source.kinds import TENSOR, UNKNOWN, Kind, Value, container_of
from breakfinder.source.names import Names
from breakfinder.source.torch_values import TELLING_METHODS

_Step = tuple[ast.AST, ast.AST, Environment, bool] | Callable[[], None]
"""A node to read with the node around it, what is known, and whether it can run; or something to do."""


class ExpressionWalk:
    """Reads expressions, and notes for each node what is around it and for each variable what is known."""

    def __init__(self, names: Names, attributes: Mapping[str, Value]) -> None:
        self.names = names
        self.parents: dict[ast.AST, ast.AST] = {}
        self.guarded: set[ast.AST] = set()
        self.loads: dict[ast.AST, Value] = {}
        self.expressions = Expressions(names, self.loads, attributes)
        self.value = self.expressions.value
        self.live = True
        """Whether what is read now may run compiled."""

    @contextmanager
    def only_if(self, possible: bool) -> Iterator[None]:
        """What is read inside never runs compiled, unless ``possible``."""
        before = self.live
        self.live = before and possible
        try:
            yield
        finally:
            self.live = before

    def note(self, node: ast.AST, around: ast.AST) -> None:
        self.parents[node] = around
        if not self.live:
            self.guarded.add(node)

    def narrow(self, test: ast.expr, holds: bool, known: Environment) -> None:
        conditions.narrow(test, holds, known, self.expressions)

    def visit(self, node: ast.expr, around: ast.AST, known: Environment) -> None:
        """Read an expression and all in it."""
        live = self.live
        todo: list[_Step] = [(node, around, known, live)]
        parents, guarded = self.parents, self.guarded
        while todo:
            step = todo.pop()
            if callable(step):
                step()
                continue
            node, around, known, live = step  # type: ignore[assignment]
            parents[node] = around
            if not live:
                guarded.add(node)
            kind = type(node)
            if kind is ast.Name:
                self._name(node, around, known)  # type: ignore[arg-type]
            elif kind is ast.Constant:
                pass
            elif kind in self._SPECIAL:
                todo += reversed([*self._SPECIAL[kind](self, node, known, live)])
            else:
                if kind is ast.Attribute:
                    self._attribute(node, known)  # type: ignore[arg-type]
                todo += [
                    (child, node, known, live)
                    for child in ast.iter_child_nodes(node)
                    if type(child) not in _CONTEXTS
                ][::-1]

    def _name(self, node: ast.Name, around: ast.AST, known: Environment) -> None:
        value = known.get(node.id)
        if value is None or type(node.ctx) is not ast.Load:
            return
        if type(around) is ast.Attribute:
            call = self.parents.get(around)
            if (
                value.kind in (Kind.UNKNOWN, Kind.TENSOR)
                and around.attr.rstrip("_") in TELLING_METHODS
                and type(call) is ast.Call
                and call.func is around
            ):
                value = known[node.id] = TENSOR._replace(dtype=value.dtype)
        if value.optional and _needs(around, node):
            value = known[node.id] = value.given()
        self.loads[node] = value

    def _attribute(self, node: ast.Attribute, known: Environment) -> None:
        if type(node.ctx) is not ast.Load:
            return
        inner = node.value
        if type(inner) is ast.Name:
            value = known.get(f"{inner.id}.{node.attr}")
        elif type(inner) is ast.Attribute and type(inner.value) is ast.Name:
            value = known.get(f"{inner.value.id}.{inner.attr}.{node.attr}")
        else:
            return
        if value is not None:
            self.loads[node] = value.given() if _needs(self.parents[node], node) else value
        else:
            self.loads.pop(node, None)

    def _bool(self, node: ast.BoolOp, known: Environment, live: bool) -> Iterator[_Step]:
        """Each operand is read where those before it held, or did not."""
        held = isinstance(node.op, ast.And)
        for value, following in zip(node.values, [*node.values[1:], None], strict=True):
            yield value, node, known, live
            if following is None:
                return
            if decided(value, self.names) is (not held):
                live = False
            if conditions.narrows(value):
                inside: Environment = {}
                yield partial(self._enter, inside, known, value, held)
                known = inside

    def _enter(self, inside: Environment, known: Environment, test: ast.expr, holds: bool) -> None:
        inside.update(known)
        self.narrow(test, holds, inside)

    def _either(self, node: ast.IfExp, known: Environment, live: bool) -> Iterator[_Step]:
        held = decided(node.test, self.names)
        yield node.test, node, known, live
        for part, holds in ((node.body, True), (node.orelse, False)):
            inside: Environment = {}
            yield partial(self._enter, inside, known, node.test, holds)
            yield part, node, inside, live and held is not (not holds)

    def _named(self, node: ast.NamedExpr, known: Environment, live: bool) -> Iterator[_Step]:
        yield node.value, node, known, live
        yield lambda: self.bind(node.target, node, self.value(node.value), known)

    def _comprehension(
        self,
        node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
        known: Environment,
        live: bool,
    ) -> Iterator[_Step]:
        inside: Environment = {}
        for index, clause in enumerate(node.generators):
            self.parents[clause] = node
            if not live:
                self.guarded.add(clause)
            yield clause.iter, clause, inside if index else known, live
            if not index:
                yield partial(inside.update, known)
            yield partial(self._bind_element, clause, inside)
            for test in clause.ifs:
                yield test, clause, inside, live
                yield partial(self.narrow, test, True, inside)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            yield part, node, inside, live

    def _bind_element(self, clause: ast.comprehension, inside: Environment) -> None:
        self.bind(clause.target, clause, self.value(clause.iter).element(), inside)

    def _lambda(self, node: ast.Lambda, known: Environment, live: bool) -> Iterator[_Step]:
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            yield default, node, known, live
        yield node.body, node, {**known, **parameters(node, self.names, method=False)}, live

    def bind(self, target: ast.expr, around: ast.AST, value: Value, known: Environment) -> None:
        """Give a target of an assignment a value."""
        todo = [(target, around, value)]
        while todo:
            target, around, value = todo.pop()
            if isinstance(target, ast.Name):
                self.note(target, around)
                self.loads[target] = value
                assign(target.id, value, known)
            elif isinstance(target, ast.Tuple | ast.List):
                self.note(target, around)
                parts = zip(target.elts, _parts(value, target.elts), strict=True)
                todo += [(part, target, of_part) for part, of_part in parts][::-1]
            elif isinstance(target, ast.Starred):
                self.note(target, around)
                todo.append((target.value, target, value))
            else:
                self.visit(target, around, known)
                if path := conditions.path_of(target):
                    assign(path, value, known)

    _SPECIAL: ClassVar[dict[type[ast.AST], Callable[[Any, Any, Environment, bool], Iterator[_Step]]]] = {
        ast.BoolOp: _bool,
        ast.IfExp: _either,
        ast.NamedExpr: _named,
        ast.ListComp: _comprehension,
        ast.SetComp: _comprehension,
        ast.DictComp: _comprehension,
        ast.GeneratorExp: _comprehension,
        ast.Lambda: _lambda,
    }


_CONTEXTS = frozenset(
    subclass
    for base in (ast.expr_context, ast.operator, ast.cmpop, ast.unaryop)
    for subclass in base.__subclasses__()
)
"""Nodes that say how, and are nothing by themselves: all expressions share them."""


def _needs(around: ast.AST, node: ast.expr) -> bool:
    """Whether what is around a value cannot be done with None."""
    if isinstance(around, ast.Subscript):
        return around.value is node
    return isinstance(around, ast.Attribute | ast.BinOp)


def _parts(value: Value, targets: list[ast.expr]) -> list[Value]:
    """What each of several targets is given of one value."""
    starred = [index for index, target in enumerate(targets) if isinstance(target, ast.Starred)]
    items = value.items
    if items is not None and not starred and len(items) == len(targets):
        return [*items]
    if items is not None and len(starred) == 1 and len(items) >= len(targets) - 1:
        head, tail = starred[0], len(targets) - starred[0] - 1
        middle = Value(Kind.CONTAINER, items=items[head : len(items) - tail])
        return [*items[:head], middle, *items[len(items) - tail :]]
    element = value.element() if value.items is None or len(set(value.items)) == 1 else UNKNOWN
    return [container_of(element) if index in starred else element for index in range(len(targets))]
