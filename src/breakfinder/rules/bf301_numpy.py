"""BF301: NumPy."""

import ast
import re

from breakfinder.rules import conditions
from breakfinder.rules.pattern import Match, call_of, certainty
from breakfinder.rules.rule import SOURCE, Example, Rule
from breakfinder.rules.symptom import Symptom
from breakfinder.source.dataflow import Function, Kind

# Of NumPy's functions, those that torch has no counterpart of (torch 2.13).
_MISSING = (
    r"numpy\.(apply_along_axis|apply_over_axes|argpartition|array2string|array_repr|array_str|asanyarray|block"
    r"|compress|delete|digitize|ediff1d|extract|from(buffer|file|function|iter|string)|histogram_bin_edges|insert"
    r"|interp|intersect1d|isin|ix_|lexsort|load|loadtxt|genfromtxt|nan\w+|partition|pad|piecewise|place|poly\w*"
    r"|putmask|packbits|ravel_multi_index|roots|save\w*|select|setdiff1d|setxor1d|trapezoid|trim_zeros|union1d"
    r"|unpackbits|unravel_index|unwrap|random\.(beta|binomial|default_rng|dirichlet|exponential|gamma"
    r"|multinomial|permutation|poisson|standard_normal))"
)
_TO_SCALAR = (
    r"numpy\.(prod|sum|mean|median|std|var|max|min|amax|amin|argmax|argmin|dot|linalg\.norm|array|percentile"
    r"|quantile|ptp|count_nonzero)"
)


class NumPy(Rule):
    code = "BF301"
    name = "numpy"
    title = "NumPy is used in a way that cannot be traced"
    why = """
        Dynamo traces NumPy by putting torch operators in the place of NumPy's. At {expression} it cannot:
        the function has no such counterpart, or gives Python a number that depends on data. The graph
        ends here, NumPy runs, and a new graph starts after it.
        """
    remedy = """
        Write it with torch operators. Where that is not possible, put the whole stretch into an operator
        of its own with `torch.library.custom_op` and `register_fake`: the graph then holds the operator
        and does not end. Inputs that need a gradient also need `register_autograd`.
        """
    gb_types = (
        "attempted to trace numpy function unsupported by PyTorch",
        "attempted to trace numpy function with config.trace_numpy=False",
        "attempted to trace numpy.* function as a method",
        "numpy function that produces a const collection type encountered non-const arguments",
        "failed to convert numpy.ndarray to Tensor",
        "call `torch.from_numpy` with `torch._dynamo.config.trace_numpy=False`",
        "`torch.from_numpy` with NumPy unavailable",
        "ndarray.astype(object)",
        "Tensor.numpy() with trace_numpy=False",
        "Tensor.numpy() without NumPy installed",
        "Unsupported ndarray attribute access",
        "Unsupported ndarray method call",
        "Unsupported ndarray.__version__ access",
    )
    callees = r"numpy\..*"
    pattern_nodes = (*conditions.NODES, ast.Call)
    fixes = ("numpy_to_torch",)
    examples = (
        Example(
            broken="""
                import numpy as np
                import torch


                def fn(x):
                    curve = np.interp(x.numpy(), [-1.0, 1.0], [0.0, 1.0])  # <-- break
                    return torch.from_numpy(curve) * 2
                """,
            fixed="""
                import numpy as np
                import torch


                @torch.library.custom_op("breakfinder_example::interp", mutates_args=())
                def interp(x: torch.Tensor) -> torch.Tensor:
                    return torch.from_numpy(np.interp(x.numpy(), [-1.0, 1.0], [0.0, 1.0]))


                @interp.register_fake
                def _(x):
                    return torch.empty_like(x, dtype=torch.float64)


                def fn(x):
                    return interp(x) * 2
                """,
        ),
        Example(
            broken="""
                import numpy as np
                import torch


                def fn(x):
                    size = float(np.linalg.norm(x.numpy()))  # <-- break
                    return x / size
                """,
            fixed="""
                import torch


                def fn(x):
                    return x / torch.linalg.norm(x)
                """,
        ),
    )

    @classmethod
    def matches(cls, symptom: Symptom) -> int:
        dependent = symptom.gb_type in ("Data dependent operator", "Data-dependent branching")
        named = re.search(r"\b(np|numpy)\.", symptom.location.expression)
        array = "NumpyNdarrayVariable" in symptom.context
        return SOURCE if dependent and (named or array) else super().matches(symptom)

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        if found := call_of(node, function, _MISSING):
            return found
        if (
            call_of(node, function, r"builtins\.(int|float|bool)")
            and isinstance(node, ast.Call)
            and node.args
        ):
            reduced = call_of(node.args[0], function, _TO_SCALAR)
            return Match(node) if reduced else None
        for value in conditions.asked(node, function):
            if level := certainty(value, function, Kind.ARRAY):
                return Match(value, level)
        return None
