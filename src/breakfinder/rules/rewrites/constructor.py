"""Lines added to a class's __init__."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, cast

import libcst

from breakfinder.rules.kept import own
from breakfinder.rules.rewrites.rewrite import Site
from breakfinder.rules.rewrites.tree import Replacement, Statement, statement


def init_of(owner: ast.ClassDef) -> ast.FunctionDef | None:
    """The class's own ``__init__``."""
    return next(
        (part for part in owner.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"), None
    )


def with_lines_in_init(
    site: Site, owner: ast.ClassDef, lines: Sequence[Statement]
) -> dict[libcst.CSTNode, Replacement] | None:
    """The change that puts lines at the end of ``__init__``, which is made where there is none."""
    init = init_of(owner)
    if init is None:
        definition = site.nodes.get(owner)
        if not isinstance(definition, libcst.ClassDef) or not isinstance(
            definition.body, libcst.IndentedBlock
        ):
            return None
        return {definition.body: lambda body: _with_init(body, _new_init(owner, site, lines))}
    definition = site.nodes.get(init)
    if not isinstance(definition, libcst.FunctionDef) or not isinstance(
        definition.body, libcst.IndentedBlock
    ):
        return None
    if init.args.args[:1] and init.args.args[0].arg != "self":
        return None
    if any(isinstance(part, ast.Return) for part in ast.walk(init)):
        return None
    return {definition.body: lambda body: body.with_changes(body=[*body.body, *lines])}


def _new_init(owner: ast.ClassDef, site: Site, lines: Sequence[Statement]) -> libcst.FunctionDef:
    plain = [site.names.dotted(base) for base in owner.bases] == ["torch.nn.Module"]
    given, passed = ("self", "") if plain else ("self, *args, **kwargs", "*args, **kwargs")
    made = statement(f"def __init__({given}):\n    super().__init__({passed})")
    init = cast(libcst.FunctionDef, made)
    body = cast(Any, init.body)
    return init.with_changes(body=body.with_changes(body=[*body.body, *lines]))


def _with_init(body: libcst.IndentedBlock, init: libcst.FunctionDef) -> libcst.IndentedBlock:
    """The body of a class with a constructor before its first method."""
    at = next(
        (index for index, part in enumerate(body.body) if isinstance(part, libcst.FunctionDef)),
        len(body.body),
    )
    after = [*body.body[at:]]
    if after:
        first = cast(Any, after[0])
        init = init.with_changes(
            leading_lines=[part for part in first.leading_lines if part.comment is None][:1]
        )
        if not first.leading_lines or first.leading_lines[0].comment is not None:
            after[0] = first.with_changes(
                leading_lines=[libcst.EmptyLine(indent=False), *first.leading_lines]
            )
    return body.with_changes(body=[*body.body[:at], init, *after])


def attributes(owner: ast.ClassDef) -> set[str]:
    """The names that a class uses on its objects, and those of its methods."""
    return {
        part.attr if isinstance(part, ast.Attribute) else part.name
        for part in ast.walk(owner)
        if isinstance(part, ast.FunctionDef) or (isinstance(part, ast.Attribute) and own(part))
    }
