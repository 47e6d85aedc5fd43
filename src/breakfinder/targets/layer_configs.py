"""What a model's configs say of its layers, and how to make them fit fewer layers."""

from __future__ import annotations

import copy
import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import nn

from breakfinder.targets.layer_kinds import token

_COUNT = re.compile(r"layer|depth|block")
_NO_COUNT = re.compile(
    r"size|dim|rank|width|ratio|window|norm|drop|prob|eps|token|head|kernel|stride|chunk|shared"
)
_COUNTS = re.compile(r"depth|num|layers$|blocks$")
_POSITIONS = re.compile(r"layer|block|stage|index|indices|idx|ids|_at$")
_TAPPED = re.compile(r"out|feature|deepstack|select|hook|return")
_PER_LAYER_PROPERTY = re.compile(r"layer|block|sharing|pattern")
_COUNTED_FROM_THE_END = ("num_kv_shared_layers",)
_UNREADABLE = (
    AttributeError,
    TypeError,
    ValueError,
    KeyError,
    IndexError,
    NotImplementedError,
    ZeroDivisionError,
)


@dataclass
class LayerFacts:
    """What the configs say of lists of ``length`` layers."""

    length: int
    per_layer: list[Hashable]
    """For each position, all that per-layer lists say."""
    tapped: list[int] = field(default_factory=list)
    """Positions whose outputs are used besides; their number must not change, so these layers stay."""
    properties: dict[tuple[int, str], list[Any]] = field(default_factory=dict)
    """Per-layer lists that a config computes, by the config's number and the name of the property."""

    @staticmethod
    def is_count(name: str) -> bool:
        """Whether an attribute of this name may be a number of layers."""
        return bool(_COUNT.search(name)) and not _NO_COUNT.search(name)


class ConfigCopies:
    """Copies of all configs that a model's modules hold, put in the place of the originals."""

    def __init__(self, model: nn.Module, config: Any) -> None:
        memo: dict[int, Any] = {}
        self.configs: list[Any] = []
        seen: set[int] = set()
        for module in model.modules():
            for name, value in vars(module).items():
                if value is config is not None or is_config(value):
                    vars(module)[name] = copy.deepcopy(value, memo)
        for module in model.modules():
            for value in vars(module).values():
                for found in _with_sub_configs(value):
                    if id(found) not in seen:
                        seen.add(id(found))
                        self.configs.append(found)
        if config is not None and not is_config(config) and id(config) in memo:
            self.configs.append(memo[id(config)])

    def may_count(self, length: int) -> bool:
        """Whether the configs, if there are any, know of a list of this many layers."""
        return not self.configs or any(
            value == length or (isinstance(value, (list, tuple)) and length in value and _COUNTS.search(name))
            for config in self.configs
            for name, value in vars(config).items()
            if LayerFacts.is_count(name)
        )

    def facts(self, length: int) -> LayerFacts:
        """What the configs say of lists of this length."""
        columns: list[Sequence[Any]] = []
        facts = LayerFacts(length, [])
        for number, config in enumerate(self.configs):
            for name, value in vars(config).items():
                if self._has_count(config, length) and _is_positions(name, value, length):
                    columns.append([position in value for position in range(length)])
                    if _TAPPED.search(name):
                        facts.tapped += value
                elif _is_per_layer(name, value, length):
                    columns.append(value)
            for name in _computed(type(config)):
                value = _read(config, name)
                if _is_per_layer(name, value, length) and name not in vars(config):
                    facts.properties[number, name] = list(value)
                    columns.append(value)
        facts.per_layer = [tuple(token(column[position]) for column in columns) for position in range(length)]
        return facts

    def adapt(self, facts: LayerFacts, kept: Sequence[int]) -> None:
        """Make the configs describe the ``kept`` layers alone."""
        length, new = facts.length, {old: position for position, old in enumerate(kept)}
        for config in self.configs:
            counted = self._has_count(config, length)
            overrides = _overrides(config) if counted else {}
            for name, value in list(vars(config).items()):
                if counted and _is_positions(name, value, length):
                    vars(config)[name] = type(value)(new[old] for old in value if old in new)
                elif _is_per_layer(name, value, length):
                    vars(config)[name] = type(value)(value[old] for old in kept)
                elif counted and name in _COUNTED_FROM_THE_END and value:
                    vars(config)[name] = sum(old >= length - value for old in kept)
            for name, value in list(vars(config).items()):
                if type(value) is int and value == length and LayerFacts.is_count(name):
                    vars(config)[name] = len(kept)
            if overrides:
                config.per_layer_config = {new[old]: item for old, item in overrides.items() if old in new}
        for (number, name), values in facts.properties.items():
            _fix(self.configs[number], name, [values[old] for old in kept])

    @staticmethod
    def _has_count(config: Any, length: int) -> bool:
        return any(
            type(value) is int and value == length and LayerFacts.is_count(name)
            for name, value in vars(config).items()
        )


def is_config(value: Any) -> bool:
    """Whether this is a config of a Transformers model."""
    return (
        hasattr(type(value), "model_type")
        and hasattr(value, "to_dict")
        and not isinstance(value, (type, nn.Module))
    )


def _with_sub_configs(value: Any) -> Iterator[Any]:
    if is_config(value):
        yield value
        for part in vars(value).values():
            yield from _with_sub_configs(part)


def _is_per_layer(name: str, value: Any, length: int) -> bool:
    if not isinstance(value, (list, tuple)) or len(value) != length:
        return False
    plain = all(item is None or isinstance(item, (bool, int, float, str)) for item in value)
    return plain and (length > 4 or bool(_COUNT.search(name)))


def _is_positions(name: str, value: Any, length: int) -> bool:
    return (
        isinstance(value, (list, tuple))
        and bool(_POSITIONS.search(name))
        and len(value) > 0
        and all(type(item) is int and 0 <= item < length for item in value)
        and len(set(value)) == len(value)
    )


def _computed(cls: type) -> list[str]:
    return [
        name
        for name in dir(cls)
        if _PER_LAYER_PROPERTY.search(name) and isinstance(getattr(cls, name, None), property)
    ]


def _read(config: Any, name: str) -> Any:
    try:
        return getattr(config, name)
    except _UNREADABLE:
        return None


def _overrides(config: Any) -> dict[int, Any]:
    """What a config says of single layers, by position, where layers may differ in any value."""
    if not getattr(config, "is_heterogeneous", False):
        return {}
    return {int(position): item for position, item in config.to_dict()["per_layer_config"].items()}


def _fix(config: Any, name: str, values: list[Any]) -> None:
    """Make a property give ``values``, where it does not already.

    A property cannot be hidden by an attribute of the object, so the object gets a class of its own.
    """
    if list(_read(config, name) or ()) != values:
        cls = type(config)
        config.__class__ = type(cls.__name__, (cls,), {name: values, "__module__": cls.__module__})
