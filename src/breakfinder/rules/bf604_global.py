"""BF604: a global variable changes between calls."""

from breakfinder.rules.rule import Example, Rule


class GlobalState(Rule):
    code = "BF604"
    name = "changing-global"
    title = "A global variable changes between calls"
    why = """
        Dynamo compiles for the global variables as it found them, and checks them at each call. {guard}
        no longer held, so the function was compiled again.
        """
    remedy = """
        Count outside the compiled function. A number that takes part in tensor arithmetic belongs into a
        buffer of a module or an argument that is a tensor: tensors are not compared by value.
        """
    guards = r"\bG\['"
    examples = (
        Example(
            broken="""
                import torch

                calls = 0


                def fn(x):
                    global calls
                    calls += 1  # <-- recompiles
                    return x / calls
                """,
            fixed="""
                import torch

                calls = torch.zeros(())


                def fn(x):
                    calls.add_(1)
                    return x / calls
                """,
            more="[(torch.randn(4, 8),) for _ in range(4)]",
            kind="recompilation",
        ),
    )
