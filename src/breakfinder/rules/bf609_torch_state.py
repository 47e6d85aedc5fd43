"""BF609: a global setting of torch changes between calls."""

from breakfinder.rules.rule import Example, Rule


class TorchState(Rule):
    code = "BF609"
    name = "changing-torch-setting"
    title = "A global setting of torch changes between calls"
    why = """
        Dynamo compiles for torch's own settings (gradient mode, default dtype, autocast, deterministic
        algorithms) as it found them, and checks them at each call. The one that failed reads {guard}, and
        the function was compiled again.
        """
    remedy = """
        Change settings once, before the first call, or make every call under the same ones. Two settings
        that are both needed (training and evaluation) cost one compilation each and no more.
        """
    guards = r"GLOBAL_STATE changed"
    examples = (
        Example(
            broken="""
                import torch


                def fn(x):  # <-- recompiles
                    torch.set_grad_enabled(not torch.is_grad_enabled())
                    return x * 2
                """,
            fixed="""
                import torch


                def fn(x):
                    return x * 2
                """,
            more="[(torch.randn(4, 8),)]",
            kind="recompilation",
        ),
    )
