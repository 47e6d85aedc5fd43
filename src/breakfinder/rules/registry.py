"""All rules: every module of this package named after a code holds the rule of that code."""

from __future__ import annotations

import importlib
import pkgutil
import re
from functools import cache

from breakfinder.rules.rule import Rule

_MODULE = re.compile(r"bf\d{3}_\w+")


@cache
def all_rules() -> tuple[type[Rule], ...]:
    """Every rule, by code."""
    package = importlib.import_module("breakfinder.rules")
    rules = []
    for module in pkgutil.iter_modules(package.__path__):
        if _MODULE.fullmatch(module.name):
            loaded = importlib.import_module(f"breakfinder.rules.{module.name}")
            rules += [
                item
                for item in vars(loaded).values()
                if isinstance(item, type) and issubclass(item, Rule) and item.__module__ == loaded.__name__
            ]
    return tuple(sorted(rules, key=lambda rule: rule.code))


def by_code(code: str) -> type[Rule]:
    """The rule of a code such as ``BF101``.  Raises KeyError if there is none."""
    for rule in all_rules():
        if rule.code == code:
            return rule
    raise KeyError(code)
