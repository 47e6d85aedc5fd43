"""BF490: what is left of Python's constructs that cannot be traced."""

from breakfinder.rules.families import FamilyRule
from breakfinder.rules.rule import Example


class PythonConstruct(FamilyRule):
    code = "BF490"
    name = "untraced-construct"
    examples = (
        Example(
            broken="""
                import torch


                def fn(x):
                    names = globals()  # <-- break
                    return x * len(names["SCALES"])


                SCALES = [1, 2, 3]
                """,
            fixed="""
                import torch


                def fn(x):
                    return x * len(SCALES)


                SCALES = [1, 2, 3]
                """,
        ),
    )
