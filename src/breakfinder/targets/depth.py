"""Fewer layers: keep some of each distinct kind of repeated layer, so that a deep model is traced fast.

All lists of layers of one length in a model are cut at the same places, since they are often walked side
by side or built from one number in the config.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from torch import nn

from breakfinder.errors import UsageError
from breakfinder.targets.layer_configs import ConfigCopies, LayerFacts
from breakfinder.targets.layer_kinds import Kinds, kinds_of

SHORTEST = 3
"""Lists of fewer layers are left as they are."""


@dataclass(frozen=True)
class DepthReport:
    """How many of the model's repeated layers are left; ``description`` says it in words."""

    traced: int
    total: int
    description: str


@dataclass
class _Stack:
    """A list of layers and where it hangs."""

    name: str
    parent: nn.Module
    layers: nn.Module

    @property
    def children(self) -> list[nn.Module]:
        return list(self.layers._modules.values())

    def __len__(self) -> int:
        return len(self.layers._modules) or len(self.layers._parameters)


def reduce(model: nn.Module, config: Any, depth: str, each: int = 2) -> DepthReport:
    """Cut ``model``'s lists of layers, in place; it must not hold fake tensors yet.

    ``depth`` is ``full``, a number of layers, or ``auto``, which keeps the first and last layers of every
    kind, ``each`` in all.  A kind is class, parameter shapes, attributes, and what the config says of the
    layer.  The second layer of a kind shows that a frame is compiled anew for each layer; that it meets
    ``recompile_limit`` shows only if ``each`` is larger than the limit.

    The model gets copies of the configs that its modules hold, adapted to the layers that are left;
    ``config`` itself may be None and is not changed.  Raises UsageError if ``depth`` is none of the three.
    """
    wanted = _wanted(depth)
    configs = ConfigCopies(model, config)
    stacks = [stack for stack in _stacks(model) if configs.may_count(len(stack))]
    layers = _innermost(stacks)
    total = sum(len(stack) for stack in layers)
    if wanted is None:
        return _report(total, total)
    lengths = {len(stack) for stack in stacks if len(stack) >= SHORTEST}
    for length in sorted(lengths, reverse=True):
        group = [stack for stack in stacks if len(stack) == length]
        facts = configs.facts(length)
        kinds = [kinds_of(stack.children, facts.per_layer) for stack in group]
        kept = _kept(length, kinds, facts, wanted, each)
        if len(kept) == length:
            continue
        for kind in kinds:
            kind.renumber(kept)
        for stack in [*group, *_companions(group)]:
            _cut(stack, kept)
        configs.adapt(facts, kept)
        _adapt_attributes(group, length, kept)
    left = {id(module) for module in model.modules()}
    return _report(sum(len(stack) for stack in layers if id(stack.layers) in left), total)


def rebuild(model: nn.Module, construct: Callable[[Any], nn.Module]) -> nn.Module | None:
    """What ``construct`` makes of the adapted config of a reduced model, if its layers are of the same kinds.

    For models in which other widths depend on the number of layers, so that leaving layers out breaks them.
    None if it makes other layers.
    """
    rebuilt = construct(copy.deepcopy(model.config))
    return rebuilt if _all_kinds(rebuilt) == _all_kinds(model) else None


def _all_kinds(model: nn.Module) -> list[tuple[str, list[Hashable]]]:
    return [(stack.name, kinds_of(stack.children, [None] * len(stack)).keys) for stack in _stacks(model)]


def _wanted(depth: str) -> int | str | None:
    if depth == "full":
        return None
    if depth == "auto":
        return "auto"
    if depth.isdecimal() and int(depth) > 0:
        return int(depth)
    raise UsageError(f"--depth {depth} is no depth", "give auto, full or a number of layers")


def _report(traced: int, total: int) -> DepthReport:
    if traced == total:
        return DepthReport(traced, total, f"all {total} layers traced" if total else "no repeated layers")
    return DepthReport(traced, total, f"{traced} of {total} layers traced")


def _stacks(model: nn.Module) -> Iterable[_Stack]:
    """The lists of layers: some of their children are of one class, and each has modules and parameters.

    Lists of experts are walked by number, not one after the other, so they are none.
    """
    for parent in model.modules():
        for name, child in parent._modules.items():
            if isinstance(child, (nn.ModuleList, nn.Sequential)) and "expert" not in name:
                stack = _Stack(name, parent, child)
                repeated = len({type(layer) for layer in stack.children}) < len(stack)
                if repeated and all(layer._modules and _has_parameters(layer) for layer in stack.children):
                    yield stack


def _innermost(stacks: list[_Stack]) -> list[_Stack]:
    """The lists whose layers hold no list of layers themselves: what one would call the model's layers."""
    own = {id(stack.layers) for stack in stacks}
    return [
        stack
        for stack in stacks
        if not any(id(module) in own for layer in stack.children for module in layer.modules())
    ]


def _has_parameters(module: nn.Module) -> bool:
    return next(module.parameters(), None) is not None


def _kept(length: int, kinds: list[Kinds], facts: LayerFacts, wanted: int | str, each: int) -> list[int]:
    """Positions that stay, ascending."""
    occurrences: dict[Hashable, list[int]] = {}
    for number, kind in enumerate(kinds):
        for position, key in enumerate(kind.keys):
            occurrences.setdefault((number, key), []).append(position)
    chosen = [0, length - 1, *facts.tapped]
    if wanted == "auto":
        for positions in occurrences.values():
            chosen += positions[: (each + 1) // 2] + (positions[-(each // 2) :] if each > 1 else [])
    else:
        chosen += [positions[0] for positions in occurrences.values()]
        chosen += [positions[-1] for positions in occurrences.values()]
        chosen += range(length)
        chosen = list(dict.fromkeys(chosen))[: int(wanted)]
    return sorted(set(chosen))


def _companions(group: list[_Stack]) -> list[_Stack]:
    """Other lists of the same length beside the lists of a group: one norm, head or scale per layer."""
    taken = {id(stack.layers) for stack in group}
    return [
        _Stack(name, parent, child)
        for parent in {id(stack.parent): stack.parent for stack in group}.values()
        for name, child in parent._modules.items()
        if isinstance(child, (nn.ModuleList, nn.ParameterList)) and id(child) not in taken
        if len(child) == len(group[0]) and "expert" not in name
    ]


def _cut(stack: _Stack, kept: list[int]) -> None:
    for items in (stack.layers._modules, stack.layers._parameters):
        if not items:
            continue
        entries = list(items.items())
        numbered = all(name == str(position) for position, (name, _) in enumerate(entries))
        items.clear()
        for new, old in enumerate(kept):
            name, item = entries[old]
            items[str(new) if numbered else name] = item
    if isinstance(stack.layers, nn.ParameterList):
        stack.layers._size = len(kept)


def _adapt_attributes(group: list[_Stack], length: int, kept: list[int]) -> None:
    """Make what modules remember of the layers fit: their number, and dicts by position among them."""
    new = {old: position for position, old in enumerate(kept)}
    for stack in group:
        for name, value in vars(stack.parent).items():
            if type(value) is int and value == length and LayerFacts.is_count(name):
                vars(stack.parent)[name] = len(kept)
        for module in stack.layers.modules():
            for name, value in vars(module).items():
                if isinstance(value, dict) and value and "layer" in name and set(value) <= set(range(length)):
                    vars(module)[name] = {new[old]: item for old, item in value.items() if old in new}
