"""BF406: a method of an object that Dynamo has no model of."""

import ast

from breakfinder.rules import kept
from breakfinder.rules.pattern import Match, call_of, match, receiver_of
from breakfinder.rules.rule import Example, Rule
from breakfinder.source.dataflow import Function

_CALLS = (
    r"json\.(dump|load)s?|datetime\.(timedelta|datetime|date)|array\.array|types\.SimpleNamespace"
    r"|decimal\.Decimal|numpy\.random\.RandomState"
)
_OBJECTS = (
    r"queue\.(Simple|Lifo|Priority)?Queue|threading\.(R?Lock|(Bounded)?Semaphore|Condition)|contextvars\.ContextVar"
    r"|numpy\.random\.(default_rng|RandomState)"
)


class ForeignMethod(Rule):
    code = "BF406"
    name = "foreign-method"
    title = "A method is called on an object that Dynamo does not know"
    why = """
        {expression} calls {callee} on an object of a kind that Dynamo cannot trace the methods of; such
        classes are mostly written in C. The graph ends here, the call is made in Python, and a new graph
        starts after it.
        """
    remedy = """
        Use a list, dict or tensor in its place, which Dynamo knows, or make the call outside the compiled
        function.
        """
    gb_types = ("Unsupported method call", "Unhandled args for method", "Unsupported function call")
    pattern_nodes = (ast.Call,)
    fixes = ("guard_call",)
    examples = (
        Example(
            broken="""
                import queue

                import torch

                results = queue.SimpleQueue()


                def fn(x):
                    h = x.sin()
                    results.put(h)  # <-- break
                    return h.cos()
                """,
            fixed="""
                import torch

                results = []


                def fn(x):
                    h = x.sin()
                    results.append(h)
                    return h.cos()
                """,
        ),
    )

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        made = kept.value(receiver_of(node, r"\w+"), function)
        return (
            match(node, "high")
            if made and call_of(made, function, _OBJECTS)
            else call_of(node, function, _CALLS)
        )
