"""BF605: dtype, device or requires_grad of a tensor change between calls."""

from breakfinder.rules.rule import Example, Rule


class TensorKind(Rule):
    code = "BF605"
    name = "changing-tensor-kind"
    title = "The dtype, device or `requires_grad` of a tensor changes between calls"
    why = """
        A graph is made for tensors of one dtype, on one device, with or without a gradient, and Dynamo
        checks that at each call. {guard} no longer held, so the function was compiled again.
        """
    remedy = """
        Bring inputs to one form before the call. For inference, run every call under `torch.no_grad()`,
        the first one too. A few combinations that are all needed cost one compilation each and no more.
        """
    guards = r"(dtype|requires_grad|device|dispatch key set) mismatch"
    examples = (
        Example(
            broken="""
                import torch


                def fn(x):  # <-- recompiles
                    return x * 2
                """,
            fixed="""
                import torch


                def fn(x):
                    return x * 2
                """,
            more="[(torch.randn(4, 8).to(kind),) for kind in (torch.float64, torch.float16)]",
            fixed_more="[(torch.randn(4, 8).to(kind).float(),) for kind in (torch.float64, torch.float16)]",
            kind="recompilation",
            equal=False,
            note="The caller brings all inputs to one dtype.",
        ),
    )
