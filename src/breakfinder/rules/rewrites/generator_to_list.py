"""A generator: a function that returns the list of what it yielded."""

from __future__ import annotations

import ast
from typing import Any

import libcst

from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.tree import assignment, atom, expression, fresh, names_in, replaced, statement

_ANNOTATIONS = ("Iterator", "Iterable", "Generator")


class GeneratorToList(Rewrite):
    title = "Collect what is yielded in a list and return it"
    condition = "Every caller reads all that is yielded, and sends nothing back."

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        definition = site.nodes.get(site.function.node)
        if not isinstance(definition, libcst.FunctionDef) or definition.asynchronous or definition.decorators:
            return None
        if not isinstance(definition.body, libcst.IndentedBlock):
            return None
        own = _own(definition.body)
        yields = [node for node in own if isinstance(node, libcst.Yield)]
        if not yields or any(not isinstance(site.parents[node], libcst.Expr) for node in yields):
            return None
        if any(isinstance(node, libcst.Return) and node.value is not None for node in own):
            return None
        name = fresh("results", names_in(site.tree))
        changes: dict[libcst.CSTNode, Any] = {}
        for node in yields:
            changes[site.parents[node]] = _collecting(node, name)
        for part in own:
            if isinstance(part, libcst.Return):
                changes[part] = _returning(name)
        changes[definition.body] = lambda body: _framed(body, name, site)
        if definition.returns is not None:
            changes[definition.returns] = _annotation
        return Changed(replaced(site.tree, changes))


def _own(body: libcst.CSTNode) -> list[libcst.CSTNode]:
    """All nodes of a function, without those of functions in it."""
    found, todo = list[libcst.CSTNode](), [body]
    while todo:
        node = todo.pop()
        found.append(node)
        if not isinstance(node, libcst.FunctionDef | libcst.Lambda | libcst.ClassDef):
            todo += node.children
    return found


def _collecting(node: libcst.Yield, name: str) -> Any:
    value = node.value
    if isinstance(value, libcst.From):
        call = expression(f"{name}.extend({{value}})", value=value.item)
    else:
        call = expression(f"{name}.append({{value}})", value=_item(value))
    return lambda line: line.with_changes(body=[line.body[0].with_changes(value=call)])


def _item(value: libcst.BaseExpression | None) -> libcst.BaseExpression:
    if value is None:
        return libcst.Name("None")
    return atom(value) if isinstance(value, libcst.Tuple) else value


def _returning(name: str) -> Any:
    value = libcst.Name(name)
    return lambda line: line.with_changes(
        body=[line.body[0].with_changes(value=value, whitespace_after_return=libcst.SimpleWhitespace(" "))]
    )


def _framed(body: libcst.IndentedBlock, name: str, site: Site) -> libcst.IndentedBlock:
    start = 1 if ast.get_docstring(site.function.node, clean=False) is not None else 0  # type: ignore[arg-type]
    lines = [*body.body]
    lines.insert(start, assignment(name, libcst.List([])))
    last = lines[-1]
    returns = isinstance(last, libcst.SimpleStatementLine) and isinstance(last.body[-1], libcst.Return)
    if not returns:
        lines.append(statement(f"return {name}"))
    return body.with_changes(body=lines)


def _annotation(node: libcst.Annotation) -> libcst.Annotation:
    given = node.annotation
    if isinstance(given, libcst.Subscript):
        called = given.value.attr if isinstance(given.value, libcst.Attribute) else given.value
        if isinstance(called, libcst.Name) and called.value in _ANNOTATIONS:
            return node.with_changes(
                annotation=given.with_changes(
                    value=libcst.Name("list"),
                    slice=[given.slice[0].with_changes(comma=libcst.MaybeSentinel.DEFAULT)],
                )
            )
    return node
