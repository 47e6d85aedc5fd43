"""assert and raise under a condition on a tensor: torch._assert_async."""

from __future__ import annotations

import re
from typing import Any

import libcst

from breakfinder.rules.rewrites.condition import Condition, condition
from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.tree import block, code, expression, replaced, statement


class AssertAsync(Rewrite):
    title = "Check with `torch._assert_async`"
    condition = "A failure may be a RuntimeError, may come later, and its text needs no values."

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        node = site.around(
            site.node, (libcst.Assert, libcst.If, libcst.BaseSmallStatement, libcst.FunctionDef)
        )
        if isinstance(node, libcst.Assert):
            return _asserted(node, site)
        if isinstance(node, libcst.Raise):
            node = site.around(node, (libcst.If, libcst.FunctionDef))
        return _raised(node, site) if isinstance(node, libcst.If) else None


def _asserted(node: libcst.Assert, site: Site) -> Changed | None:
    asked = condition(node.test, site)
    if asked is None or asked.plain is not None:
        return None
    line = _check(asked, asked.negated, _text(node.msg), site)
    return Changed(replaced(site.tree, {node: lambda old: old.with_changes(body=line.body)}), site.imports())


def _raised(node: libcst.If, site: Site) -> Changed | None:
    if node.orelse is not None or isinstance(site.parents.get(node), libcst.If) or len(node.body.body) != 1:
        return None
    line: Any = node.body.body[0]
    small = line.body[0] if isinstance(line, libcst.SimpleStatementLine) and len(line.body) == 1 else line
    asked = condition(node.test, site)
    if not isinstance(small, libcst.Raise) or asked is None:
        return None
    check: Any = _check(asked, not asked.negated, _text(small.exc), site)
    if asked.plain is not None:
        kept = statement("if {test}:\n    pass", test=asked.plain)
        check = kept.with_changes(body=block([check]))
    return Changed(replaced(site.tree, {node: lambda _: [check]}), site.imports())


def _check(asked: Condition, negated: bool, text: str, site: Site) -> libcst.SimpleStatementLine:
    torch, test = site.module(), asked.tensor
    if negated:
        test = expression(f"{torch}.logical_not({{test}})", test=test)
    given = f", {_quoted(text)}" if text else ""
    line = statement(f"{torch}._assert_async({{test}}{given})", test=test)
    assert isinstance(line, libcst.SimpleStatementLine)
    return line


def _text(node: libcst.BaseExpression | None) -> str:
    """What a message says without its values, up to the first of them."""
    if isinstance(node, libcst.Call):
        return _text(node.args[0].value) if node.args else code(node.func)
    if isinstance(node, libcst.Name) and node.value[:1].isupper():
        return node.value
    if isinstance(node, libcst.SimpleString):
        value = node.evaluated_value
        return value if isinstance(value, str) else ""
    if isinstance(node, libcst.ConcatenatedString | libcst.BinaryOperation):
        return _text(node.left)
    if isinstance(node, libcst.FormattedString):
        first = next((part for part in node.parts if isinstance(part, libcst.FormattedStringText)), None)
        said = (
            "".join(re.split(r"[,;:(]?[^,;:(]*$", first.value)[:1]) if first and len(node.parts) > 1 else ""
        )
        return said.strip() or (first.value.strip() if first else "")
    return ""


def _quoted(text: str) -> str:
    plain = " ".join(text.split()).replace("\\", "").replace('"', "'")
    return f'"{plain}"'
