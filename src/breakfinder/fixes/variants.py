"""Other inputs like the ones that were given: old and new code must agree on them too."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

from breakfinder.targets.example_inputs import map_call
from breakfinder.targets.subject import Call


@dataclass(frozen=True)
class Variant:
    """One set of inputs.  ``extreme`` ones (NaN, infinity, nothing at all) may be outside of what the model is
    for: where only they differ, that is a condition and no failure."""

    name: str
    call: Call
    extreme: bool = False


_Change = Callable[[torch.Tensor], torch.Tensor]


def _floats(change: _Change) -> _Change:
    return lambda tensor: change(tensor) if tensor.is_floating_point() or tensor.is_complex() else tensor


def _masks(change: _Change) -> _Change:
    return lambda tensor: change(tensor) if tensor.dtype == torch.bool else tensor


def _whole_numbers(change: _Change) -> _Change:
    def changed(tensor: torch.Tensor) -> torch.Tensor:
        whole = not (tensor.is_floating_point() or tensor.is_complex() or tensor.dtype == torch.bool)
        return change(tensor) if whole and tensor.numel() else tensor

    return changed


def _with_first(value: float) -> _Change:
    def changed(tensor: torch.Tensor) -> torch.Tensor:
        copy = tensor.clone()
        copy.reshape(-1)[:1] = value
        return copy

    return changed


def _rows(change: _Change) -> _Change:
    return lambda tensor: change(tensor) if tensor.dim() else tensor


ORDINARY: dict[str, _Change] = {
    "other values": _floats(lambda t: torch.randn_like(t)),
    "negated": _floats(torch.neg),
    "zeros": _floats(torch.zeros_like),
    "all larger by 9": _floats(lambda t: t + 9),
    "all smaller by 9": _floats(lambda t: t - 9),
    "all positive": _floats(lambda t: t.abs() if not t.is_complex() else t),
    "all negative": _floats(lambda t: -t.abs() if not t.is_complex() else t),
    "tiny": _floats(lambda t: t * 1e-3),
    "masks inverted": _masks(torch.logical_not),
    "masks all true": _masks(torch.ones_like),
    "masks all false": _masks(torch.zeros_like),
    "whole numbers all the first": _whole_numbers(lambda t: t.reshape(-1)[:1].expand_as(t).clone()),
    "whole numbers reversed": _whole_numbers(lambda t: t.reshape(-1).flip(0).reshape_as(t)),
    "one row": _rows(lambda t: t[:1].clone()),
    "two more rows": _rows(lambda t: torch.cat([t, t[:1], t[:1]]) if t.shape[0] else t),
}
EXTREME: dict[str, _Change] = {
    "a NaN": _floats(_with_first(math.nan)),
    "all NaN": _floats(lambda t: torch.full_like(t, math.nan)),
    "an infinity": _floats(_with_first(math.inf)),
    "no rows": _rows(lambda t: t[:0].clone()),
}


def variants(call: Call) -> Iterator[Variant]:
    """The call itself and every variation of it that differs from it.  Each call is fresh and its own."""
    yield Variant("the example inputs", _own(call))
    for changes, extreme in ((ORDINARY, False), (EXTREME, True)):
        for name, change in changes.items():
            generator = torch.random.get_rng_state()
            torch.manual_seed(len(name))
            changed = map_call(call, _kept_alike(change))
            torch.random.set_rng_state(generator)
            if not _same(changed, call):
                yield Variant(name, changed, extreme)


def _own(call: Call) -> Call:
    return map_call(call, _kept_alike(lambda tensor: tensor.clone()))


def _kept_alike(change: _Change) -> _Change:
    """A change of values alone: strides where they fit, and whether a gradient is wanted, stay."""

    def changed(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.layout != torch.strided or tensor.is_quantized or type(tensor) is not torch.Tensor:
            return tensor
        return change(tensor.detach()).detach().clone().requires_grad_(tensor.requires_grad)

    return changed


def _same(one: Call, other: Call) -> bool:
    tensors: list[torch.Tensor] = []

    def note(tensor: torch.Tensor) -> torch.Tensor:
        tensors.append(tensor)
        return tensor

    map_call(one, note)
    count = len(tensors)
    map_call(other, note)
    pairs = zip(tensors[:count], tensors[count:], strict=True)
    return all(a is b or (a.shape == b.shape and torch.equal(a, b)) for a, b in pairs)
