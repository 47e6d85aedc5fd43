"""Finding a rule by what a reader has at hand: its code, its name, or torch's own number of a graph break."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from breakfinder.rules.families import family_of
from breakfinder.rules.registry import all_rules, by_code
from breakfinder.rules.rule import Rule

_REGISTRY = Path("_dynamo", "graph_break_registry.json")
_GB_ID = re.compile(r"GB\d{4}", re.IGNORECASE)


@dataclass(frozen=True)
class TorchBreak:
    """One kind of graph break as the installed torch describes it."""

    gb_id: str
    gb_type: str
    explanation: str
    hints: Sequence[str]


@dataclass(frozen=True)
class Explanation:
    """What stands for one of torch's break types: the rules that name it, or the rule of its family."""

    rules: Sequence[type[Rule]]
    family: str = ""
    """The family's name; empty where a rule names the type itself, or nothing is known of it."""


def is_torch_id(text: str) -> bool:
    return _GB_ID.fullmatch(text) is not None


def torch_breaks() -> dict[str, TorchBreak]:
    """All that the installed torch lists, by number; empty without a torch.  torch itself is not imported."""
    spec = importlib.util.find_spec("torch")
    folders = spec.submodule_search_locations if spec else None
    file = Path(next(iter(folders))) / _REGISTRY if folders else None
    if file is None or not file.is_file():
        return {}
    listed = json.loads(file.read_text(encoding="utf-8"))
    return {
        gb_id: TorchBreak(
            gb_id, entries[0]["Gb_type"], entries[0].get("Explanation", ""), entries[0].get("Hints", [])
        )
        for gb_id, entries in listed.items()
        if entries
    }


def rules_of(gb_type: str) -> Explanation:
    """What stands for a break type."""
    naming = [rule for rule in all_rules() if gb_type in rule.gb_types]
    if naming:
        return Explanation(naming)
    family = family_of(gb_type)
    return Explanation([by_code(family.code)], family.name) if family else Explanation([by_code("BF900")])


def named(text: str) -> list[type[Rule]]:
    """The rules of this code, name or module; else those in whose name the words occur, in order of code."""
    wanted = text.lower().replace("_", "-")
    exact = [rule for rule in all_rules() if wanted in _names(rule)]
    return exact or [
        rule for rule in all_rules() if any(f"-{wanted}-" in f"-{name}-" for name in _names(rule))
    ]


def _names(rule: type[Rule]) -> tuple[str, ...]:
    module = rule.__module__.rsplit(".", 1)[1].partition("_")[2].replace("_", "-")
    return rule.code.lower(), rule.name, module
