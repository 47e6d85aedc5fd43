"""BF390: what is left of torch's and other libraries' features that cannot be traced."""

from breakfinder.rules.families import FamilyRule
from breakfinder.rules.rule import Example


class TorchFeature(FamilyRule):
    code = "BF390"
    name = "untraced-feature"
    examples = (
        Example(
            broken="""
                import torch


                def fn(x):
                    return x * torch.get_num_threads()  # <-- break
                """,
            fixed="""
                import torch

                THREADS = torch.get_num_threads()


                def fn(x):
                    return x * THREADS
                """,
        ),
    )
