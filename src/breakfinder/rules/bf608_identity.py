"""BF608: another object, function or class is passed at each call."""

from breakfinder.rules.rule import Example, Rule


class Identity(Rule):
    code = "BF608"
    name = "changing-object"
    title = "Another function, class or object is used at each call"
    why = """
        Dynamo compiles for the code of the function, or the class of the object, that it was given.
        {guard} no longer held, so the function was compiled again. Functions that are written in two
        places are two, even with the same text; a lambda that one line makes again at each call is the
        same.
        """
    remedy = """
        Pass the same function each time, and objects of one class. Where several are needed, each costs
        one compilation.
        """
    guards = r"___check_(obj|type)_id"
    examples = (
        Example(
            broken="""
                import torch


                def fn(x, step):
                    return step(x) * 2  # <-- recompiles
                """,
            fixed="""
                import torch


                def fn(x, step):
                    return x.sin() * 2
                """,
            inputs="(torch.randn(4, 8), lambda x: x.sin())",
            more="[(torch.randn(4, 8), lambda x: x.sin()), (torch.randn(4, 8), lambda x: x.sin())]",
            kind="recompilation",
            note="The function is the same at each call, so it need not be passed.",
        ),
    )
