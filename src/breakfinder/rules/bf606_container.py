"""BF606: a list or dict that is kept between calls grows."""

import ast
import re

from breakfinder.rules import kept
from breakfinder.rules.pattern import Match, match, receiver_of
from breakfinder.rules.rule import DETAIL, NO_MATCH, Example, Rule, code
from breakfinder.rules.symptom import Symptom
from breakfinder.source.dataflow import Function

_CONTAINERS = r"builtins\.(list|dict|set)|collections\.(deque|defaultdict|OrderedDict)"


class Container(Rule):
    code = "BF606"
    name = "growing-container"
    title = "A list or dict that is kept between calls changes"
    why = """
        Dynamo compiles for the length of a list, and for the keys of a dict, as it found them, and checks
        them at each call. {guard} no longer held, so the function was compiled again. A cache that is
        filled as it goes does this whenever it grows.
        """
    remedy = """
        Fill the cache once, in `__init__`, up to the largest size, and slice it. Collect results outside
        the compiled function.
        """
    guards = r"___dict_contains|(^not |^len\()(self\b|G\[)"
    pattern_nodes = (ast.Call, ast.Subscript)
    fixes = ("cache_to_value", "guard_count")
    examples = (
        Example(
            broken="""
                import torch


                class Model(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.history = []

                    def forward(self, x):
                        self.history.append(x)  # <-- recompiles
                        return x * 2
                """,
            fixed="""
                import torch


                class Model(torch.nn.Module):
                    def forward(self, x):
                        return x * 2
                """,
            more="[(torch.randn(4, 8),) for _ in range(3)]",
            kind="recompilation",
            note="The caller keeps the history.",
        ),
        Example(
            broken="""
                import torch


                class Model(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.cache = {}

                    def forward(self, x):
                        size = x.shape[1]
                        if size not in self.cache:  # <-- recompiles
                            self.cache[size] = torch.arange(size) * 0.1
                        return x + self.cache[size]
                """,
            fixed="""
                import torch


                class Model(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.register_buffer("cache", torch.arange(64) * 0.1, persistent=False)

                    def forward(self, x):
                        return x + self.cache[: x.shape[1]]
                """,
            more="[(torch.randn(4, 8),) for _ in range(2)]",
            kind="recompilation",
            note="A largest size has to be known.",
        ),
    )

    @classmethod
    def matches(cls, symptom: Symptom) -> int:
        return DETAIL if cls._guard(symptom) else NO_MATCH

    @classmethod
    def placeholders(cls, symptom: Symptom) -> dict[str, str]:
        return {**super().placeholders(symptom), "guard": code(cls._guard(symptom))}

    @classmethod
    def _guard(cls, symptom: Symptom) -> str:
        """The guard on a container, or nothing.

        A cache by size fails on a size with newer entries and on its keys with older ones.
        """
        known = symptom.guards if "size mismatch" in symptom.guard else symptom.guards[:1]
        return next((guard for guard in known if re.search(cls.guards, guard)), "")

    @classmethod
    def pattern(cls, node: ast.AST, function: Function) -> Match | None:
        if isinstance(node, ast.Subscript):
            return cls._filled(node, function)
        grown = receiver_of(node, "append|extend|insert|appendleft|setdefault|update|add")
        first = kept.value(grown, function)
        if grown is None or first is None or not _is_empty(first, function):
            return None
        return None if _made_anew(grown, function) else match(node, "high")

    @classmethod
    def _filled(cls, node: ast.Subscript, function: Function) -> Match | None:
        """A dict that is filled as it goes: at the test whether the key is there, if there is one."""
        first = kept.value(node.value, function) if isinstance(node.ctx, ast.Store) else None
        if first is None or isinstance(first, ast.List) or not _is_empty(first, function):
            return None
        if _made_anew(node.value, function):
            return None
        asked = (
            other
            for other in ast.walk(function.node)
            if isinstance(other, ast.Compare) and isinstance(other.ops[0], ast.In | ast.NotIn)
        )
        same = (other for other in asked if _name(other.comparators[0]) == _name(node.value))
        return Match(next(same, node), "medium")


def _is_empty(value: ast.expr, function: Function) -> bool:
    """Whether a value is an empty list, dict, set or deque."""
    if isinstance(value, ast.List | ast.Dict):
        return not (value.elts if isinstance(value, ast.List) else value.keys)
    made = function.names.dotted(value.func) if isinstance(value, ast.Call) else ""
    return bool(re.fullmatch(_CONTAINERS, made))


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else kept.own(node)


def _made_anew(node: ast.expr, function: Function) -> bool:
    """Whether the function itself sets or empties an attribute that it fills."""
    name = kept.own(node)
    parts = ast.walk(function.node) if name else ()
    return any(
        kept.own_target(part) == name or kept.own(receiver_of(part, "clear|pop|popleft")) == name
        for part in parts
    )
