"""NumPy functions that torch has as well."""

from __future__ import annotations

import ast
from typing import Any

import libcst

from breakfinder.rules.rewrites.rewrite import Changed, Rewrite, Site
from breakfinder.rules.rewrites.tree import atom, expression, replaced

_SAME = frozenset(
    (
        "abs",
        "absolute",
        "sqrt",
        "exp",
        "expm1",
        "log",
        "log2",
        "log10",
        "log1p",
        "sin",
        "cos",
        "tan",
        "tanh",
        "sinh",
        "cosh",
        "arcsin",
        "arccos",
        "arctan",
        "arctan2",
        "sum",
        "mean",
        "prod",
        "argmax",
        "argmin",
        "max",
        "min",
        "stack",
        "where",
        "maximum",
        "minimum",
        "dot",
        "matmul",
        "outer",
        "zeros",
        "ones",
        "arange",
        "linspace",
        "zeros_like",
        "ones_like",
        "full",
        "full_like",
        "eye",
        "isnan",
        "isinf",
        "isfinite",
        "isclose",
        "any",
        "all",
        "floor",
        "ceil",
        "round",
        "sign",
        "square",
        "cumsum",
        "cumprod",
        "argsort",
        "squeeze",
        "reshape",
        "diff",
        "einsum",
        "tile",
        "flip",
        "roll",
        "trace",
        "triu",
        "tril",
        "kron",
        "clip",
        "logical_and",
        "logical_or",
        "logical_not",
        "linalg.norm",
        "linalg.inv",
        "linalg.det",
        "linalg.solve",
        "nan_to_num",
        "count_nonzero",
    )
)
_OTHER = {
    "concatenate": "cat",
    "power": "pow",
    "expand_dims": "unsqueeze",
    "amax": "amax",
    "amin": "amin",
    "array": "tensor",
    "asarray": "as_tensor",
    "pi": "pi",
    "inf": "inf",
    "nan": "nan",
    "e": "e",
    "newaxis": "",
    **{name: name for name in ("float32", "float64", "float16", "int32", "int64", "int16", "int8", "uint8")},
    "bool_": "bool",
}
_KEYWORDS = {"axis": "dim", "keepdims": "keepdim", "a_min": "min", "a_max": "max"}
_METHODS = {"astype": "to", "copy": "clone"}


class NumpyToTorch(Rewrite):
    title = "Compute with torch in place of NumPy"
    condition = "No value is needed as a NumPy array, and torch computes in the same precision."

    @classmethod
    def change(cls, site: Site) -> Changed | None:
        changes: dict[libcst.CSTNode, Any] = {}
        names = {**{name: name for name in _SAME}, **_OTHER}
        for node, known in site.known.items():
            if isinstance(known, ast.Attribute | ast.Name) and isinstance(known.ctx, ast.Load):
                if not _of_numpy(known, site) or _of_numpy(site.known.get(site.parents[node]), site):
                    continue
                full = site.names.dotted(known).removeprefix("numpy.")
                if full not in names or not names[full]:
                    return None
                new = expression(f"{site.module()}.{names[full]}")
                changes[node] = lambda _, new=new: new
        changes |= _arrays(site)
        if not changes:
            return None
        return Changed(replaced(site.tree, changes), site.imports())


def _of_numpy(node: ast.AST | None, site: Site) -> bool:
    if not isinstance(node, ast.Attribute | ast.Name):
        return False
    return site.names.dotted(node).startswith("numpy.")


def _arrays(site: Site) -> dict[libcst.CSTNode, Any]:
    """The ways to and from arrays, and what is called differently."""
    changes: dict[libcst.CSTNode, Any] = {}
    for node, known in site.known.items():
        if not isinstance(node, libcst.Call) or not isinstance(known, ast.Call):
            continue
        name = site.names.dotted(known.func)
        if name in ("torch.from_numpy", "torch.as_tensor") and len(node.args) == 1:
            changes[node] = lambda new: new.args[0].value
        elif isinstance(node.func, libcst.Attribute) and not node.args and node.func.attr.value == "numpy":
            changes[node] = _tensor
        elif name.startswith("numpy."):
            changes[node] = _renamed
        elif isinstance(node.func, libcst.Attribute) and node.func.attr.value in _METHODS:
            changes[node.func.attr] = lambda old: old.with_changes(value=_METHODS[old.value])
    return changes


def _tensor(node: libcst.Call) -> libcst.BaseExpression:
    """``x`` of ``x.detach().cpu().numpy()``, cut off from the gradient."""
    assert isinstance(node.func, libcst.Attribute)
    tensor = node.func.value
    while isinstance(tensor, libcst.Call) and isinstance(tensor.func, libcst.Attribute) and not tensor.args:
        if tensor.func.attr.value not in ("cpu", "detach", "data"):
            break
        tensor = tensor.func.value
    return expression("{tensor}.detach()", tensor=atom(tensor))


def _renamed(node: libcst.Call) -> libcst.Call:
    arguments = [
        argument.with_changes(keyword=libcst.Name(_KEYWORDS[argument.keyword.value]))
        if argument.keyword is not None and argument.keyword.value in _KEYWORDS
        else argument
        for argument in node.args
    ]
    return node.with_changes(args=arguments)
