"""What a rule's source pattern gives back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from breakfinder.source.dataflow import Function, Kind

Confidence = Literal["high", "medium", "low"]


@dataclass(frozen=True)
class Match:
    """A place in source code that looks like a rule's problem.

    ``node`` is the expression that torch would name.  ``high``: it breaks whenever this code is compiled;
    ``medium``: it does if a value is what it seems to be; ``low``: it may.
    """

    node: ast.expr | ast.stmt
    confidence: Confidence = "high"


def certainty(node: ast.expr, function: Function, kind: Kind = Kind.TENSOR) -> Confidence | None:
    """``high`` if a value is surely of a kind, ``medium`` if it seems to be, None if neither."""
    fact = function.fact(node)
    if fact.kind is not kind:
        return None
    return "high" if fact.sure else "medium"


def surest(levels: Iterable[Confidence | None]) -> Confidence | None:
    """The surest of several, None if there is none."""
    given = set(levels)
    return next((level for level in ("high", "medium", "low") if level in given), None)


def match(node: ast.AST, confidence: Confidence | None) -> Match | None:
    """A match, unless there is no confidence at all."""
    return Match(node, confidence) if confidence and isinstance(node, ast.expr | ast.stmt) else None


def call_of(node: ast.AST, function: Function, names: str, confidence: Confidence = "high") -> Match | None:
    """A match if a function is called whose full name a regular expression matches, as a whole."""
    if not isinstance(node, ast.Call) or not (name := _called(node, function)):
        return None
    if not re.fullmatch(names, name) or _root(node.func) in bound(function.node):
        return None  # a variable may have the name of a module
    return Match(node, confidence)


@lru_cache(maxsize=4)
def _called(node: ast.Call, function: Function) -> str:
    """The full name of a function that is called; kept, since every rule asks about the same call."""
    name = function.called(node)
    return "" if name.startswith((".", "self.")) else name


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


@lru_cache(maxsize=256)
def bound(node: ast.AST) -> frozenset[str]:
    """The names that a function binds itself."""
    names: set[str] = set()
    shared: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            if isinstance(part.ctx, ast.Store):
                names.add(part.id)
        elif isinstance(part, ast.arg):
            names.add(part.arg)
        elif isinstance(part, ast.Global):
            shared.update(part.names)
    return frozenset(names - shared)


def receiver_of(node: ast.AST, names: str) -> ast.expr | None:
    """What a method is called on, if a regular expression matches the method's name, as a whole."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    return node.func.value if re.fullmatch(names, node.func.attr) else None


def argument(call: ast.Call, position: int, keyword: str) -> ast.expr | None:
    """The argument that is given at a position, from 0, or by a keyword."""
    for given in call.keywords:
        if given.arg == keyword:
            return given.value
    plain = call.args[: position + 1]
    if len(plain) <= position or any(isinstance(item, ast.Starred) for item in plain):
        return None
    return plain[position]
