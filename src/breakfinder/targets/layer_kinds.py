"""Which layers of a list are of the same kind, and the numbers by which a layer knows its place."""

from __future__ import annotations

import enum
import functools
from collections.abc import Hashable, Sequence
from typing import Any, cast

import torch
from torch import nn

_OF_EVERY_MODULE = frozenset(vars(nn.Module()))


class Kinds:
    """The kinds of one list's layers.

    ``keys[i]`` is equal for layers of one kind.  An attribute that counts along with the position in every
    layer that has it (``layer_idx``) does not tell kinds apart; it is renumbered when layers go.
    """

    def __init__(self, layers: Sequence[nn.Module], per_layer: Sequence[Hashable]) -> None:
        self._layers = layers
        described = [_describe(layer) for layer in layers]
        self._places = _counting(described)
        self.keys: list[Hashable] = [
            (frozenset((name, value) for name, value in facts.items() if name not in self._places), extra)
            for facts, extra in zip(described, per_layer, strict=True)
        ]

    def renumber(self, kept: Sequence[int]) -> None:
        """Give the layers that stay the numbers of their new positions."""
        for new, old in enumerate(kept):
            if new == old:
                continue
            modules = dict(self._layers[old].named_modules())
            for (path, name), step in self._places.items():
                holder = modules.get(path)
                if holder is not None and name in vars(holder):
                    setattr(holder, name, getattr(holder, name) + step * (new - old))


def kinds_of(layers: Sequence[nn.Module], per_layer: Sequence[Hashable]) -> Kinds:
    """The kinds of ``layers``, of which ``per_layer`` holds what is known besides."""
    return Kinds(layers, per_layer)


def _describe(layer: nn.Module) -> dict[tuple[str, str], Hashable]:
    """Everything about a layer on which a trace can depend, by module path and name."""
    facts: dict[tuple[str, str], Hashable] = {}
    for path, module in layer.named_modules():
        facts[path, "class"] = cast(Hashable, type(module))
        for name, tensor in (*module._parameters.items(), *module._buffers.items()):
            facts[path, name] = token(tensor)
        for name, value in vars(module).items():
            if name not in _OF_EVERY_MODULE:
                facts[path, name] = token(value)
    return facts


def _counting(described: Sequence[dict[tuple[str, str], Hashable]]) -> dict[tuple[str, str], int]:
    """By how much from layer to layer an integer grows, for those that grow evenly wherever they occur.

    Two occurrences are taken for such only if they grow by one a layer.
    """
    seen: dict[tuple[str, str], list[tuple[int, Hashable]]] = {}
    for position, facts in enumerate(described):
        for name, value in facts.items():
            seen.setdefault(name, []).append((position, value))
    steps = {name: _step(found) for name, found in seen.items()}
    return {name: step for name, step in steps.items() if step}


def _step(found: list[tuple[int, Hashable]]) -> int:
    """The growth per layer of values at positions; 0 if they do not grow evenly."""
    if len(found) < 2 or any(type(value) is not int for _, value in found):
        return 0
    numbers: list[tuple[int, int]] = found  # type: ignore[assignment]
    (first, low), (second, high) = numbers[:2]
    step, rest = divmod(high - low, second - first)
    even = rest == 0 and all(value == low + step * (position - first) for position, value in numbers)
    return step if even and (step == 1 or (step > 1 and len(found) > 2)) else 0


def token(value: Any) -> Hashable:
    """A value as far as a trace can depend on it; of a float only its sign and whether it is one."""
    if type(value) is float:
        return ("float", (value > 0) - (value < 0), value == 1.0)
    if value is None or isinstance(value, (bool, int, str, bytes, enum.Enum, torch.dtype, torch.device)):
        return value
    if isinstance(value, torch.Tensor):
        return ("tensor", type(value), tuple(value.shape), value.dtype, value.requires_grad)
    if isinstance(value, (list, tuple, torch.Size)):
        return (type(value), tuple(token(item) for item in value))
    if isinstance(value, dict):
        return ("dict", tuple((token(key), token(item)) for key, item in value.items()))
    if isinstance(value, functools.partial):
        return ("partial", token(value.func), token(value.args), token(value.keywords))
    if isinstance(value, type) or hasattr(value, "__qualname__"):
        return (getattr(value, "__module__", ""), value.__qualname__)
    return cast(Hashable, type(value))
