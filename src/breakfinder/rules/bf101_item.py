"""BF101: a tensor's value becomes a Python number."""

import ast
import re

from breakfinder.rules.pattern import Confidence, Match, certainty, match, receiver_of, surest
from breakfinder.rules.rule import DETAIL, Example, Rule
from breakfinder.rules.symptom import Symptom
from breakfinder.source.dataflow import Function, Kind

_WITH_ITEM = (Kind.TENSOR, Kind.ARRAY, Kind.UNKNOWN)
_WITH_SIZES = r"reshape|view|expand|repeat|tile|unflatten|new_(zeros|ones|empty|full)|topk|roll|narrow|split"
_NUMBERS = frozenset(f"builtins.{name}" for name in ("int", "float", "bool", "complex"))
_OF_TENSOR = r"math\.\w+|torch\.(is_nonzero|_assert|_check_tensor_all|nn\.init\.trunc_normal_)"


class Item(Rule):
    code = "BF101"
    name = "tensor-to-python-number"
    title = "A tensor's value becomes a Python number"
    why = """
        {expression} needs the value of a tensor as a Python number. Dynamo traces with tensors that have
        a shape and a dtype but no values, so it ends the graph here, lets Python compute the number, and
        starts a new graph after it.

        `t.item()`, `int(t)`, `float(t)`, `bool(t)`, `range(t)`, `torch.arange(t)`, a list indexed by a
        tensor and a slice bounded by one all do this.
        """
    remedy = """
        Keep the value as a tensor: a tensor of no dimensions works in arithmetic as a number does. Where
        the number carried no gradient, write `.detach()` in place of `.item()`, so that no gradient path
        is opened.

        If a Python number is needed, set `torch._dynamo.config.capture_scalar_outputs = True`: the number
        then becomes a symbol in the graph. `fullgraph=True` switches this on as well.
        """
    gb_types = (
        "Unsupported Tensor.item() call with capture_scalar_outputs=False",
        "unsupported index(Tensor)",
    )
    callees = r"builtins\.(range|int|float|bool|complex|round)"
    pattern_nodes = (ast.Call, ast.Compare, ast.Subscript)
    fixes = ("guard_message", "keep_scalar_tensor", "where", "assert_async")
    knobs = ("scalars",)
    examples = (
        Example(
            broken="""
                import torch


                class Model(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.lin = torch.nn.Linear(8, 8)

                    def forward(self, x):
                        peak = x.abs().max().item()  # <-- break
                        return self.lin(x) / (peak + 1e-6)
                """,
            fixed="""
                import torch


                class Model(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.lin = torch.nn.Linear(8, 8)

                    def forward(self, x):
                        peak = x.abs().max().detach()
                        return self.lin(x) / (peak + 1e-6)
                """,
        ),
        Example(
            broken="""
                import torch


                def fn(x, scale):
                    return x * float(scale)  # <-- break
                """,
            fixed="""
                import torch


                def fn(x, scale):
                    return x * scale.detach()
                """,
            inputs="(torch.randn(4, 8), torch.tensor(0.5))",
        ),
        Example(
            broken="""
                import torch


                def fn(x, steps):
                    for _ in range(steps):  # <-- break
                        x = x.tanh()
                    return x
                """,
            note="The number of steps has to reach the function as a Python integer.",
            inputs="(torch.randn(4, 8), torch.tensor(3))",
        ),
    )

    @classmethod
    def matches(cls, symptom: Symptom) -> int:
        scalar = symptom.gb_type == "Data dependent operator" and "_local_scalar_dense" in symptom.context
        return DETAIL if scalar else super().matches(symptom)

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        if isinstance(node, ast.Subscript):
            return cls._index(node, function)
        if isinstance(node, ast.Compare):
            inside = isinstance(node.ops[0], ast.In | ast.NotIn)
            return match(node, certainty(node.comparators[0], function)) if inside else None
        if not isinstance(node, ast.Call):
            return None
        if (tensor := receiver_of(node, "item")) and not node.args and not node.keywords:
            # Nothing but tensors and arrays has such a method.
            return None if function.fact(tensor).kind not in _WITH_ITEM else Match(node)
        name = function.called(node)
        if name in _NUMBERS and len(node.args) == 1:
            return match(node, certainty(node.args[0], function))
        if re.fullmatch(_OF_TENSOR, name) and node.args:
            return match(node, certainty(node.args[0], function))
        if name in ("builtins.range", "torch.arange"):
            return match(node, surest(certainty(bound, function) for bound in node.args))
        return match(node, surest(_size(part, function) for part in _sizes(node, name, function)))

    @classmethod
    def _index(cls, node: ast.Subscript, function: Function) -> Match | None:
        """A slice that ends where a tensor says, or a list that is indexed by one."""
        if isinstance(node.slice, ast.Slice):
            bounds = [bound for bound in (node.slice.lower, node.slice.upper, node.slice.step) if bound]
            return match(node, surest(certainty(bound, function) for bound in bounds))
        if function.fact(node.value).kind is Kind.CONTAINER:
            return Match(node, "medium") if function.is_tensor(node.slice) else None
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        single = any(_is_single(index, function) for index in indices)
        return match(node, "high" if single and function.is_tensor(node.value) else None)


def _sizes(node: ast.Call, name: str, function: Function) -> list[ast.expr]:
    """The arguments of a call that are sizes or steps, which are taken as Python numbers."""
    tensor = receiver_of(node, _WITH_SIZES)
    makes = re.fullmatch(r"torch\.(zeros|ones|empty|full|rand|randn)", name)
    if makes or (tensor is not None and function.is_tensor(tensor)):
        given = node.args[:1] if name.endswith("full") else node.args
    else:
        given = node.args[1:2] if name == "torch.split" else []
    inside = (part.elts if isinstance(part, ast.Tuple | ast.List) else [part] for part in given)
    return [part for parts in inside for part in parts]


def _size(part: ast.expr, function: Function) -> Confidence | None:
    # What is made of a constant in the graph keeps its value.
    made = isinstance(part, ast.Call) and function.called(part) == "torch.tensor"
    return "high" if function.is_tensor(part, sure=True) and not made else None


def _is_single(index: ast.expr, function: Function) -> bool:
    """Whether an index is a tensor of no dimensions that was computed."""
    if isinstance(index, ast.BinOp):
        sides = index.left, index.right
        numbers = [side for side in sides if function.fact(side).kind is Kind.NUMBER]
        return len(numbers) == 1 and any(_is_single(side, function) for side in sides)
    if tensor := receiver_of(index, "long|int"):
        return _is_single(tensor, function)
    reduced = receiver_of(index, "argmax|argmin|sum|max|min|prod")
    plain = isinstance(index, ast.Call) and not index.args and not index.keywords
    return plain and reduced is not None and function.is_tensor(reduced, sure=True)
