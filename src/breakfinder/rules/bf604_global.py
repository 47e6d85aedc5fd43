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

                calls = 1


                def fn(x):
                    global calls
                    h = x / calls  # <-- recompiles
                    calls += 1
                    return h
                """,
            fixed="""
                import torch

                calls = torch.ones(())


                def fn(x):
                    h = x / calls
                    calls.add_(1)
                    return h
                """,
            more="[(torch.randn(4, 8),) for _ in range(4)]",
            kind="recompilation",
        ),
    )
