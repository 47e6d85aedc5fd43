"""BF104: an operator whose output shape depends on values."""

import ast
import re

from breakfinder.rules.pattern import (
    Confidence,
    Match,
    argument,
    certainty,
    match,
    receiver_of,
    surest,
)
from breakfinder.rules.rule import Example, Rule
from breakfinder.rules.symptom import Symptom
from breakfinder.source.dataflow import Function, Kind

_ALWAYS = (
    r"torch\.(nonzero|argwhere|masked_select|unique|unique_consecutive|bincount|combinations|linalg\.lstsq"
    r"|nn\.functional\.ctc_loss)"
)
_METHODS = r"nonzero|argwhere|masked_select|unique|unique_consecutive|bincount"
_NAMES = re.compile(r"(^|_)((?P<surely>masks?)|valid|selected)$")


class DynamicShape(Rule):
    code = "BF104"
    name = "data-dependent-shape"
    title = "The shape of a result depends on values"
    why = """
        The shape of {expression} depends on the values in a tensor ({operator}), and Dynamo traces
        without values. It ends the graph here, lets the operator run, and starts a new graph with the
        shape that came out.

        Indexing with a mask, `torch.nonzero`, `torch.where` with one argument, `torch.unique`,
        `torch.masked_select`, `torch.bincount` and `torch.repeat_interleave` do this.
        """
    remedy = """
        Keep the full shape and mask: `torch.where(mask, new, old)` in place of `x[mask]`, if rows do not
        depend on each other. Where a function takes the size as an argument (`num_classes` of `one_hot`),
        give it.

        Otherwise set `torch._dynamo.config.capture_dynamic_output_shape_ops = True`: the size then
        becomes a symbol in the graph. `fullgraph=True` switches this on as well.
        """
    gb_types = (
        "Dynamic shape operator",
        "Dynamic shape operator (no meta kernel)",
        "Dynamic slicing with Tensor arguments",
        "Attempted to use `torch.nn.functional.one_hot` with data-dependent output shape",
    )
    pattern_nodes = (ast.Call, ast.Subscript)
    fixes = ("mask_where", "mask_reduce", "bincount_to_scatter")
    knobs = (
        "shapes",
        "scalars",
    )
    examples = (
        Example(
            broken="""
                import torch


                def fn(x, valid):
                    out = torch.zeros_like(x)
                    picked = x[valid]  # <-- break
                    out[valid] = picked.tanh()
                    return out
                """,
            fixed="""
                import torch


                def fn(x, valid):
                    return torch.where(valid[:, None], x.tanh(), torch.zeros_like(x))
                """,
            inputs="(torch.randn(4, 8), torch.tensor([True, False, True, True]))",
        ),
        Example(
            broken="""
                import torch


                def fn(ids):
                    return torch.unique(ids).sum()  # <-- break
                """,
            fixed="""
                import torch


                def fn(ids):
                    return torch.unique(ids).sum()
                """,
            fixed_config={"capture_dynamic_output_shape_ops": True},
            inputs="(torch.tensor([1, 2, 2]),)",
        ),
        Example(
            broken="""
                import torch


                def fn(ids):
                    return torch.nn.functional.one_hot(ids) * 2  # <-- break
                """,
            fixed="""
                import torch


                def fn(ids):
                    return torch.nn.functional.one_hot(ids, num_classes=3) * 2
                """,
            inputs="(torch.tensor([1, 2, 2]),)",
        ),
    )

    @classmethod
    def placeholders(cls, symptom: Symptom) -> dict[str, str]:
        operator = symptom.context if symptom.context.startswith("aten.") else ""
        return {
            **super().placeholders(symptom),
            "operator": f"`{operator}`" if operator else "no operator named",
        }

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        if isinstance(node, ast.Call):
            return cls._call(node, function)
        if not isinstance(node, ast.Subscript) or _only_written(node, function):
            return None
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return match(node, surest(_mask(index, function) for index in indices))

    @classmethod
    def _call(cls, node: ast.Call, function: Function) -> Match | None:
        name = function.called(node)
        if re.fullmatch(_ALWAYS, name):
            return Match(node)
        if name == "torch.where":
            return Match(node) if len(node.args) == 1 and not node.keywords else None
        if name == "torch.repeat_interleave":
            known = argument(node, 3, "output_size")
            repeats = argument(node, 1, "repeats")
            if known is not None:
                return None
            return match(node, certainty(repeats, function)) if repeats else None
        if name == "torch.nn.functional.one_hot":
            classes = argument(node, 1, "num_classes")
            return Match(node) if classes is None else None
        if tensor := receiver_of(node, _METHODS):
            return match(node, certainty(tensor, function))
        if receiver_of(node, "repeat_interleave"):
            repeats = argument(node, 0, "repeats")
            if repeats is None or argument(node, 2, "output_size") is not None:
                return None
            return match(node, certainty(repeats, function))
        return None


def _only_written(node: ast.Subscript, function: Function) -> bool:
    """Whether a subscript is assigned to, which keeps shapes; ``x[i] += 1`` reads as well."""
    around = function.parent(node)
    return not isinstance(node.ctx, ast.Load) and not isinstance(around, ast.AugAssign)


def _mask(index: ast.expr, function: Function) -> Confidence | None:
    """How surely an index is a mask: a tensor of booleans, of which each True picks an element."""
    value = function.value(index)
    if function.is_mask(index):
        return "high" if value.fact.sure else "medium"
    if value.kind is Kind.ARRAY:
        return "high" if isinstance(index, ast.Compare) and value.fact.sure else None
    name = index.id if isinstance(index, ast.Name) else getattr(index, "attr", "")
    named = _NAMES.search(name)
    if not named or value.dtype or value.kind not in (Kind.TENSOR, Kind.UNKNOWN):
        return None
    return "high" if named["surely"] else "medium"
