"""torch.tensor of a tensor: a copy of it."""

from __future__ import annotations

import ast

import libcst

from breakfinder.rules.pattern import call_of
from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.tree import atom, code, expression, replaced


class TensorOfTensor(Rewrite):
    title = "Copy the tensor with `.detach().clone()`, or stack the tensors"
    condition = "All that is given are tensors of one dtype, and those in a list have no dimensions."

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        node = site.around(site.node, (libcst.Call, libcst.BaseSmallStatement, libcst.BaseCompoundStatement))
        while isinstance(node, libcst.Call) and not _makes(node, site):
            node = site.around(site.parents[node], (libcst.Call, libcst.BaseStatement))
        if not isinstance(node, libcst.Call) or not node.args or node.args[0].keyword or node.args[0].star:
            return None
        given = node.args[0].value
        if isinstance(given, libcst.List | libcst.Tuple) and given.elements:
            if any(isinstance(item.value, libcst.BaseNumber) for item in given.elements):
                return None
            new = expression(f"{site.module()}.stack({{given}}).detach()", given=given)
        elif site.is_tensor(given):
            new = expression("{given}.detach().clone()", given=atom(given))
        else:
            return None
        extra = ", ".join(code(argument).rstrip(",") for argument in node.args[1:] if _kept(argument))
        if extra:
            new = expression(f"{{new}}.to({extra})", new=new)
        return Changed(replaced(site.tree, {node: lambda _: new}))


def _makes(node: libcst.Call, site: Site) -> bool:
    known = site.known.get(node)
    return isinstance(known, ast.Call) and bool(call_of(known, site.function, r"torch\.(tensor|as_tensor)"))


def _kept(argument: libcst.Arg) -> bool:
    return argument.keyword is not None and argument.keyword.value in ("dtype", "device")
