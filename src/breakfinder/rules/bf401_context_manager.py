"""BF401: context managers."""

from breakfinder.rules.rule import Example, Rule


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
