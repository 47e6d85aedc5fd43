"""One function read in the order in which it runs: what is known of each variable wherever it is read."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from breakfinder.source.annotations import annotated, parameters
from breakfinder.source.conditions import decided, path_of
from breakfinder.source.definitions import FunctionNode
from breakfinder.source.environment import Environment, joined
from breakfinder.source.expressions import combined
from breakfinder.source.kinds import (
    NONE,
    OTHER,
    TENSOR,
    UNKNOWN,
    Kind,
    Value,
    container_of,
    join,
)
from breakfinder.source.names import Names
from breakfinder.source.walk import ExpressionWalk

_ROUNDS = 3
"""How often the body of a loop is read at most until nothing new is learned."""
_DEEPEST = 3
"""Loops that are inside more loops than this are read once."""


class Flow(ExpressionWalk):
    """What reading one function gives.

    ``parents``: the node around each node, in the order of reading; ``guarded``: those that never run compiled;
    ``closures``: what is known where a function inside is defined; ``end``: what is known at the end.  ``known``:
    what is known of the variables around the function.
    """

    def __init__(
        self,
        node: FunctionNode | ast.Lambda,
        names: Names,
        attributes: Mapping[str, Value],
        *,
        method: bool = False,
        known: Environment | None = None,
    ) -> None:
        super().__init__(names, attributes)
        self.closures: dict[ast.AST, Environment] = {}
        self._left: list[tuple[list[Environment], list[Environment]]] = []
        """Of each loop around, what is known where it is left, and where its next round is begun early."""
        self.returned: list[Value] = []
        """What each ``return`` gives that may be reached."""
        self.ends = False
        """Whether its end is never reached."""
        start: Environment = {**(known or {}), **parameters(node, names, method=method)}
        if isinstance(node, ast.Lambda):
            self.visit(node.body, node, start)
        else:
            self.ends = self._block(node.body, node, start)
        self.end = start

    def _block(self, body: Iterable[ast.stmt], around: ast.AST, known: Environment) -> bool:
        """Read statements; ``known`` becomes what is known after them.  Whether the end is never reached."""
        ended = False
        for statement in body:
            with self.only_if(not ended):
                self.note(statement, around)
                read = self._BY_TYPE.get(type(statement))
                if read is None:
                    self._parts(statement, known)
                else:
                    ended = bool(read(self, statement, known)) or ended
        return ended

    def _parts(self, node: ast.AST, known: Environment) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.visit(child, node, known)

    def _expression(self, node: ast.Expr, known: Environment) -> None:
        self.visit(node.value, node, known)
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.args:
            self._effect(call, call.func, known)

    def _effect(self, call: ast.Call, function: ast.Attribute, known: Environment) -> None:
        """What a call changes: a list that is appended to, a module that gets a buffer."""
        path = path_of(function.value)
        if function.attr == "append" and path in known:
            value = self.value(call.args[0])
            if known[path].kind is Kind.CONTAINER:
                known[path] = join(known[path], container_of(value))
        elif (
            path == "self"
            and function.attr in ("register_buffer", "register_parameter")
            and len(call.args) > 1
        ):
            name = call.args[0]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                value = self.value(call.args[1])
                known[f"self.{name.value}"] = (
                    TENSOR if value.kind is Kind.UNKNOWN else value._replace(sure=True)
                )

    def _assign(self, node: ast.Assign, known: Environment) -> None:
        self.visit(node.value, node, known)
        value = self.value(node.value)
        for target in node.targets:
            self.bind(target, node, value, known)

    def _annotated_assign(self, node: ast.AnnAssign, known: Environment) -> None:
        said = annotated(node.annotation, self.names)
        if node.value is not None:
            self.visit(node.value, node, known)
            value = self.value(node.value)
            self.bind(node.target, node, said if value.kind is Kind.UNKNOWN else value, known)
        elif isinstance(node.target, ast.Name):
            self.note(node.target, node)

    def _augmented_assign(self, node: ast.AugAssign, known: Environment) -> None:
        self.visit(node.value, node, known)
        path = path_of(node.target)
        before = known.get(path, UNKNOWN) if path else UNKNOWN
        if isinstance(node.target, ast.Attribute) and path not in known:
            before = self.value(node.target)
        after = combined(before, self.value(node.value), node.op)
        if isinstance(node.target, ast.Name):
            self.bind(node.target, node, after, known)
            self.loads[node.target] = before
        else:
            self.visit(node.target, node, known)
            if path:
                known[path] = after

    def _delete(self, node: ast.Delete, known: Environment) -> None:
        for target in node.targets:
            self.visit(target, node, known)
            known.pop(path_of(target), None)

    def _return(self, node: ast.Return, known: Environment) -> bool:
        self._parts(node, known)
        if self.live:
            self.returned.append(self.value(node.value) if node.value else NONE)
        return True

    def _raise(self, node: ast.Raise, known: Environment) -> bool:
        with self.only_if(False):  # it is evaluated only when something is wrong
            self._parts(node, known)
        return True

    def _assert(self, node: ast.Assert, known: Environment) -> None:
        self.visit(node.test, node, known)
        if node.msg is not None:
            with self.only_if(False):
                self.visit(node.msg, node, known)
        self.narrow(node.test, True, known)

    def _leave_round(self, node: ast.Break | ast.Continue, known: Environment) -> bool:
        if self._left:
            self._left[-1][isinstance(node, ast.Continue)].append({**known})
        return True

    def _if(self, node: ast.If, known: Environment) -> bool:
        """All arms of an ``if`` in one go: chains of ``elif`` can be long."""
        after: list[Environment] = []
        possible = True
        while True:
            with self.only_if(possible):
                self.visit(node.test, node, known)
                held = decided(node.test, self.names)
                inside = {**known}
                self.narrow(node.test, True, inside)
                with self.only_if(held is not False):
                    if not self._block(node.body, node, inside) and held is not False:
                        after.append(inside)
                self.narrow(node.test, False, known)
            possible = possible and held is not True
            if len(node.orelse) != 1 or not isinstance(node.orelse[0], ast.If):
                break
            with self.only_if(possible):
                self.note(node.orelse[0], node)
            node = node.orelse[0]
        with self.only_if(possible):
            if not self._block(node.orelse, node, known) and possible:
                after.append({**known})
        return self._continue_with(after, known)

    def _continue_with(self, after: list[Environment], known: Environment) -> bool:
        """Make ``known`` what is known after one of several ways; True if there is none."""
        if after:
            then = joined(after)
            known.clear()
            known.update(then)
        return not after

    def _for(self, node: ast.For | ast.AsyncFor, known: Environment) -> bool:
        self.visit(node.iter, node, known)
        element = self.value(node.iter).element()
        return self._loop(node, known, lambda inside: self.bind(node.target, node, element, inside))

    def _while(self, node: ast.While, known: Environment) -> bool:
        def begin(inside: Environment) -> None:
            self.visit(node.test, node, inside)
            self.narrow(node.test, True, inside)

        return self._loop(node, known, begin)

    def _loop(
        self,
        node: ast.For | ast.AsyncFor | ast.While,
        known: Environment,
        begin: Callable[[Environment], None],
    ) -> bool:
        start = {**known}
        for _ in range(_ROUNDS if len(self._left) < _DEEPEST else 1):
            inside = {**start}
            begin(inside)
            self._left.append(([], []))
            ended = self._block(node.body, node, inside)
            left, begun = self._left.pop()
            before, start = start, joined([known, *begun, *([] if ended else [inside])])
            if all(start.get(name) == value for name, value in before.items()):
                break
            self.expressions.forget()
        ended = self._block(node.orelse, node, start)
        return self._continue_with([*left, *([] if ended else [start])], known)

    def _with(self, node: ast.With | ast.AsyncWith, known: Environment) -> bool:
        for item in node.items:
            self.note(item, node)
            self.visit(item.context_expr, item, known)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, item, UNKNOWN, known)
        return self._block(node.body, node, known)

    def _try(self, node: ast.Try, known: Environment) -> bool:
        before = {**known}
        ended = self._block(node.body, node, known)
        somewhere = joined([before, known])
        ended = self._block(node.orelse, node, known) or ended
        after = [] if ended else [{**known}]
        for handler in node.handlers:
            inside = {**somewhere}
            with self.only_if(not self._misses_import(handler)):
                self.note(handler, node)
                if handler.type is not None:
                    self.visit(handler.type, handler, inside)
                if handler.name:
                    inside[handler.name] = OTHER
                if not self._block(handler.body, handler, inside):
                    after.append(inside)
        ended = self._continue_with(after, known)
        with self.only_if(True):
            return self._block(node.finalbody, node, known) or ended

    def _misses_import(self, handler: ast.ExceptHandler) -> bool:
        names = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        missing = ("builtins.ImportError", "builtins.ModuleNotFoundError")
        return all(name is not None and self.names.dotted(name) in missing for name in names)

    def _match(self, node: ast.Match, known: Environment) -> bool:
        self.visit(node.subject, node, known)
        after = []
        for case in node.cases:
            inside = {**known}
            self.note(case, node)
            self._pattern(case, inside)
            if case.guard is not None:
                self.visit(case.guard, case, inside)
            if not self._block(case.body, case, inside):
                after.append(inside)
        return self._continue_with([*after, known], known)

    def _pattern(self, case: ast.match_case, known: Environment) -> None:
        todo: list[tuple[ast.AST, ast.AST]] = [(case.pattern, case)]
        while todo:
            pattern, around = todo.pop()
            self.note(pattern, around)
            for name in (getattr(pattern, "name", None), getattr(pattern, "rest", None)):
                if isinstance(name, str):
                    known[name] = UNKNOWN
            for child in ast.iter_child_nodes(pattern):
                if isinstance(child, ast.expr):
                    self.visit(child, pattern, known)
                else:
                    todo.append((child, pattern))

    def _definition(self, node: FunctionNode, known: Environment) -> None:
        for part in (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(part, node, known)
        returned = annotated(node.returns, self.names)
        known[node.name] = OTHER if returned is UNKNOWN else Value(Kind.OTHER, item=returned)
        self.closures[node] = {**known}

    def _class(self, node: ast.ClassDef, known: Environment) -> None:
        self._parts(node, known)
        known[node.name] = OTHER

    _BY_TYPE: ClassVar[dict[type[ast.AST], Callable[[Any, Any, Environment], bool | None]]] = {
        ast.Expr: _expression,
        ast.Assign: _assign,
        ast.AnnAssign: _annotated_assign,
        ast.AugAssign: _augmented_assign,
        ast.Delete: _delete,
        ast.Return: _return,
        ast.Raise: _raise,
        ast.Assert: _assert,
        ast.Break: _leave_round,
        ast.Continue: _leave_round,
        ast.If: _if,
        ast.For: _for,
        ast.AsyncFor: _for,
        ast.While: _while,
        ast.With: _with,
        ast.AsyncWith: _with,
        ast.Try: _try,
        ast.Match: _match,
        ast.FunctionDef: _definition,
        ast.AsyncFunctionDef: _definition,
        ast.ClassDef: _class,
    }
    if hasattr(ast, "TryStar"):
        _BY_TYPE[ast.TryStar] = _try
