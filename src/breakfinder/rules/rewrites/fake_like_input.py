"""A custom operator without a fake implementation: one for results like the first tensor."""

from __future__ import annotations

import ast

import libcst

from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.tree import replaced, statement


class FakeLikeInput(Rewrite):
    title = "Register a fake implementation with a result like the first tensor"
    condition = "The result always has the shape, dtype and device of the first tensor that is given."
    extent = "module"

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        called = site.known.get(site.node)
        if not isinstance(called, ast.Call) or not isinstance(called.func, ast.Name):
            return None
        operator = site.names.functions.get(called.func.id)
        if operator is None or not _is_operator(operator, site) or _has_fake(operator.name, site):
            return None
        names = [part.arg for part in operator.args.args]
        tensors = [
            part.arg
            for part in operator.args.args
            if part.annotation is not None and site.names.dotted(part.annotation) == "torch.Tensor"
        ]
        result = operator.returns
        if not tensors or result is None or site.names.dotted(result) != "torch.Tensor":
            return None
        torch = site.module()
        fake = statement(
            f"@{operator.name}.register_fake\ndef _({', '.join(names)}):\n"
            f"    return {torch}.empty_like({tensors[0]})"
        )
        blank = [libcst.EmptyLine(indent=False)] * 2

        def change(old: libcst.FunctionDef) -> libcst.FlattenSentinel[libcst.BaseStatement]:
            return libcst.FlattenSentinel([old, fake.with_changes(leading_lines=blank)])

        return Changed(replaced(site.tree, {site.nodes[operator]: change}))


def _is_operator(node: ast.FunctionDef | ast.AsyncFunctionDef, site: Site) -> bool:
    return any(
        isinstance(part, ast.Call) and site.names.dotted(part.func) == "torch.library.custom_op"
        for part in node.decorator_list
    )


def _has_fake(name: str, site: Site) -> bool:
    return any(
        isinstance(part, ast.Attribute)
        and part.attr in ("register_fake", "impl_abstract")
        and site.names.dotted(part.value) == name
        for part in ast.walk(site.syntax[0])
    )
