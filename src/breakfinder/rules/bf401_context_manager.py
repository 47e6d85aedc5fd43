"""BF401: context managers."""

import ast

from breakfinder.rules import kept
from breakfinder.rules.pattern import Match, call_of, match
from breakfinder.rules.rule import Example, Rule
from breakfinder.source.dataflow import Function

_MANAGERS = (
    r"torch\.device|torch\.autograd\.(set_detect_anomaly|detect_anomaly)"
    r"|torch\.autograd\.anomaly_mode\.(set_detect_anomaly|detect_anomaly)|torch\.random\.fork_rng"
    r"|torch\.autograd\.graph\.(saved_tensors_hooks|save_on_cpu)|torch\.backends\.\w+\.(flags|sdp_kernel)"
    r"|torch\.jit\.optimized_execution|contextlib\.redirect_std(out|err)|decimal\.localcontext"
)
_LOCKS = r"threading\.(R?Lock|(Bounded)?Semaphore|Condition)"


class ContextManager(Rule):
    code = "BF401"
    name = "context-manager"
    title = "A context manager that Dynamo cannot enter"
    why = """
        Dynamo knows how to enter the context managers of torch that it can put into a graph, and those
        written in Python that it can trace. At {expression} it is neither, so the function that holds the
        `with` is skipped: all of it runs in eager.
        """
    remedy = """
        Enter it outside the compiled function. A default device becomes an argument, `device=...`, of the
        calls that make tensors; a lock is taken by the caller.

        Otherwise move the `with` and what is in it into a function of its own: only that one is skipped
        then.
        """
    gb_types = (
        "Unsupported context manager",
        "unsupported contextlib.* API",
        "attempted to trace contextlib.contextmanager",
        "non-generator contextlib.contextmanager",
        "reconstructing @contextmanager object",
        "Graph break under GenericContextWrappingVariable",
        "Attempted to reconstruct context manager's __enter__ method",
        "record_function escaped from compiled region",
        "torch.profiler object escaped from compiled region",
        "torch.fx.traceback.annotate escaped from compiled region",
        "torch.autograd._unsafe_preserve_version_counter escaped from compiled region",
    )
    pattern_nodes = (ast.withitem,)
    fixes = ("leave_context",)
    examples = (
        Example(
            broken="""
                import torch


                def fn(x):
                    with torch.device("cpu"):  # <-- break
                        y = torch.ones(8)
                    return x + y
                """,
            fixed="""
                import torch


                def fn(x):
                    y = torch.ones(8, device="cpu")
                    return x + y
                """,
        ),
        Example(
            broken="""
                import threading

                import torch

                lock = threading.Lock()


                def fn(x):
                    with lock:  # <-- break
                        y = x.sin()
                    return y.cos()
                """,
            fixed="""
                import torch


                def fn(x):
                    y = x.sin()
                    return y.cos()
                """,
            note="The caller takes the lock.",
        ),
    )

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        if not isinstance(node, ast.withitem):
            return None
        entered = node.context_expr
        if isinstance(entered, ast.Call):
            return call_of(entered, function, _MANAGERS)
        made = kept.value(entered, function)
        return match(entered, "high" if made and call_of(made, function, _LOCKS) else None)
