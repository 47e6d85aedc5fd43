"""BF405: a class statement in compiled code."""

from breakfinder.rules.rule import Example, Rule


class ClassDefinition(Rule):
    code = "BF405"
    name = "class-definition"
    title = "A class is defined in compiled code"
    why = """
        The `class` statement at {expression} makes a new class each time that the function runs. Dynamo
        does not trace that: the graph ends here and a new one starts after it.
        """
    remedy = """
        Move the class to the top of the module.
        """
    gb_types = ("LOAD_BUILD_CLASS bytecode not supported", "Invalid call to __build_class__")
    examples = (
        Example(
            broken="""
                import torch


                def fn(x):
                    class Settings:  # <-- break
                        scale = 2

                    return x * Settings.scale
                """,
            fixed="""
                import torch


                class Settings:
                    scale = 2


                def fn(x):
                    return x * Settings.scale
                """,
        ),
    )
