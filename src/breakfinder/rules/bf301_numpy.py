"""BF301: NumPy."""

import re

from breakfinder.rules.rule import SOURCE, Example, Rule
from breakfinder.rules.symptom import Symptom


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
