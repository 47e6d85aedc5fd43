"""A small config of the same kind of model, so that it can be built for real on any machine."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from typing import Any

import torch
import transformers
from torch import nn

from breakfinder.targets.depth import reduce
from breakfinder.targets.layer_configs import is_config

_WIDTH = re.compile(
    r"(hidden|intermediate|embed|embedding|output|pooler|proj|projection|projector|classifier|lru|state_proj)_sizes?(_mlp)?$"
    r"|hidden_sizes?$|hidden_size_per_layer_input$|width$|d_model$|d_inner$|d_ff$|d_kv$|d_embed$|n_embd$|n_inner$"
    r"|head_dim(_\w+)?$|head_width$|_rank$|dims?$|ffn_dim$|channels$|conv_dim$|filters$|headdim$|n_units$|attention_dim$"
)
_NO_WIDTH = re.compile(
    r"num_channels|in_channels|in_chans|input_channels|out_channels_in|image|patch|kernel|state_dim|d_state|codebook"
    r"|vocab|mask|window|spatial|temporal|label|num_|audio_channels|^dim_head_count$|feat_dim|input_dim|time_dim"
)
_EXPERTS = re.compile(r"^(n_routed_experts|num_experts|num_local_experts|moe_num_experts|n_experts)$")
_PER_TOKEN = re.compile(
    r"^(num_experts_per_tok|num_experts_per_token|moe_k|top_k_experts|moe_topk|expert_top_k)$"
)
_VOCABULARY = re.compile(r"(^|_)vocab_size(_\w+)?$|^n_vocab$|^n_tokens$")
_TOKEN_ID = re.compile(r"_token_ids?$|_token_index$|_id$|^\w+_tokens?_ids?$|_idx$")
_HEADS = re.compile(r"(^|_)heads?$")
_KEY_VALUE = re.compile(r"key_value|kv")
_HEAD_WIDTH = re.compile(r"head_?dim|d_kv$|head_width$|rotary")
_WAYS = (
    *((factor, True) for factor in (16, 12, 8, 6)),
    *((factor, False) for factor in (16, 8, 4, 2)),
    *((factor, True) for factor in (4, 3, 2)),
)
"""By what widths are divided, and whether heads become fewer rather than narrower, in the order tried.

Narrower heads can fall out with rotary sections, fewer heads with the number of key and value heads.
"""
_SMALLEST = 2
_LARGE_ID = 128
"""Ids of special tokens from here on are renumbered."""

LARGEST = 100_000_000
"""Parameters above which a config is not tried out."""
TRIALS = 12
"""How many configs are tried out at most."""

Works = Callable[[Any], Any]
"""Raises if a model of this config cannot be used."""
Step = Callable[[Any], "Iterator[tuple[Any, str]]"]


def shrink(config: Any, works: Works | None = None) -> tuple[Any, list[str]]:
    """A smaller copy of a Transformers config, and what was changed, in words.

    All widths, the config's parts included, are divided by one factor, so that sums and products of them
    still agree.  The vocabulary, the experts and the layers become fewer, each kind of layer staying.  The
    result is the first for which ``works`` does not raise; pass one that builds and calls the model.  Without
    it, and if none works, it is the first that can be built on ``meta``, or ``config`` itself.
    """
    best: tuple[Any, list[str]] | None = None
    trials = 0
    for smaller, changes in _candidates(config):
        size = _parameters(smaller)
        if size is None or (best is not None and size > LARGEST):
            continue
        best = best or (smaller, changes)
        if works is None or (size <= LARGEST and _holds(works, smaller)):
            return smaller, changes
        trials += 1
        if trials == TRIALS:
            break
    return best or (config, [])


def _candidates(config: Any) -> Iterator[tuple[Any, list[str]]]:
    """Configs by falling likelihood that they are small and fit to be called."""
    for layers in (_layers, _as_is):
        for fewer, about_layers in layers(config):
            for sparser, about_experts in _first(_experts, fewer):
                for shorter, about_words in (*_vocabulary(sparser), (sparser, "")):
                    for narrower, about_widths in (*_widths(shorter), (shorter, "")):
                        changes = (about_widths, about_words, about_experts, about_layers)
                        yield narrower, [change for change in changes if change]


def _as_is(config: Any) -> Iterator[tuple[Any, str]]:
    yield config, ""


def _first(step: Step, config: Any) -> list[tuple[Any, str]]:
    """The first way of a step that leaves a config which can be built; else no change."""
    fitting = (found for found in step(config) if _parameters(found[0]) is not None)
    return [next(fitting, (config, ""))]


def _parameters(config: Any) -> int | None:
    """How many parameters the model has; None if it cannot be built."""
    # Whatever a constructor raises for sizes that do not agree, the answer is the same: not this way.
    try:
        model = build_on_meta(copy.deepcopy(config))
    except Exception:
        return None
    return sum(int(parameter.numel()) for parameter in model.parameters())


def build_on_meta(config: Any) -> nn.Module:
    """The bare model of a config, without storage.  Raises what its constructor does."""
    with torch.device("meta"):
        model: nn.Module = transformers.AutoModel.from_config(config)
    return model


def _holds(works: Works, config: Any) -> bool:
    try:
        works(copy.deepcopy(config))
    except Exception:
        return False
    return True


def _parts(config: Any) -> Iterator[Any]:
    """A config and the configs in it."""
    yield config
    for value in vars(config).values():
        if is_config(value):
            yield from _parts(value)


def _changed(config: Any, change: Callable[[str, Any], Any]) -> Any:
    """A copy with ``change(name, value)`` in the place of each value."""
    config = copy.deepcopy(config)
    for part in _parts(config):
        for name, value in vars(part).items():
            if not name.startswith("_") and not is_config(value):
                vars(part)[name] = change(name, value)
    return config


def _numbers(value: Any) -> list[int]:
    items = value if isinstance(value, (list, tuple)) else [value]
    return [item for item in items if type(item) is int]


def _widths(config: Any) -> Iterator[tuple[Any, str]]:
    values = [(name, value) for part in _parts(config) for name, value in vars(part).items()]
    widths = [number for name, value in values if _is_width(name) for number in _numbers(value)]
    heads = [
        number
        for name, value in values
        if _is_heads(name) and not _KEY_VALUE.search(name)
        for number in _numbers(value)
    ]
    for factor, fewer_heads in _WAYS:
        divisible = any(number % factor == 0 and number // factor >= _SMALLEST for number in widths)
        if divisible and not (fewer_heads and any(number % factor for number in heads)):

            def change(name: str, value: Any, by: int = factor, fewer_heads: bool = fewer_heads) -> Any:
                if fewer_heads and _is_heads(name):
                    return _divided(value, by, 1)
                if not _is_width(name) or (fewer_heads and _HEAD_WIDTH.search(name)):
                    return value
                return _divided(value, by, _SMALLEST)

            yield _changed(config, change), f"widths / {factor}"


def _is_width(name: str) -> bool:
    return bool(_WIDTH.search(name)) and not _NO_WIDTH.search(name)


def _is_heads(name: str) -> bool:
    return bool(_HEADS.search(name))


def _divided(value: Any, factor: int, least: int) -> Any:
    """A number, or all of a list, divided; unchanged if ``least`` is above 1 and one would not come out."""
    numbers = _numbers(value)
    if least > 1 and any(number % factor or number // factor < least for number in numbers):
        return value
    if isinstance(value, (list, tuple)):
        return type(value)(max(item // factor, least) if type(item) is int else item for item in value)
    return max(value // factor, least) if numbers else value


def _vocabulary(config: Any) -> Iterator[tuple[Any, str]]:
    """Two ways: large ids of special tokens renumbered, or kept and the vocabulary cut above them."""
    sizes = [v for part in _parts(config) for name, v in vars(part).items() if _is_vocabulary(name, v)]
    ids = sorted(
        {number for part in _parts(config) for name, v in vars(part).items() for number in _ids(name, v)}
    )
    if not sizes:
        return
    large = {old: _LARGE_ID + position for position, old in enumerate(i for i in ids if i >= _LARGE_ID)}
    for renumbered in (large, {}):
        size = 2 * _LARGE_ID if renumbered is large else max([0, *ids]) + _LARGE_ID
        size = max(size, _LARGE_ID + len(large) + 1)

        def change(name: str, value: Any, size: int = size, new: dict[int, int] = renumbered) -> Any:
            if _is_vocabulary(name, value):
                return min(value, size)
            if not _ids(name, value):
                return value
            return [new.get(i, i) for i in value] if isinstance(value, list) else new.get(value, value)

        if size < max(sizes):
            yield _changed(config, change), f"vocabulary {max(sizes)} to {size}"


def _is_vocabulary(name: str, value: Any) -> bool:
    return type(value) is int and bool(_VOCABULARY.search(name))


def _ids(name: str, value: Any) -> list[int]:
    return [number for number in _numbers(value) if number >= 0] if _TOKEN_ID.search(name) else []


def _experts(config: Any) -> Iterator[tuple[Any, str]]:
    smaller, most, fewest = copy.deepcopy(config), 0, 0
    for part in _parts(smaller):
        values = vars(part)
        chosen = min([2, *(v for name, v in values.items() if _PER_TOKEN.search(name) and type(v) is int)])
        # Where experts come in groups, at least two of a group are compared.
        groups = values.get("n_group") or 1
        count = max(4, 2 * groups, 2 * chosen)
        for name, value in values.items():
            if _EXPERTS.search(name) and type(value) is int and value > count:
                most, fewest = max(most, value), count
                values[name] = count
            elif _PER_TOKEN.search(name) and type(value) is int:
                values[name] = min(value, chosen)
    if most:
        yield smaller, f"experts {most} to {fewest}"


def _layers(config: Any) -> Iterator[tuple[Any, str]]:
    if _parameters(config) is None:
        return
    model = build_on_meta(copy.deepcopy(config))
    report = reduce(model, model.config, "auto")
    if report.traced < report.total and _parameters(model.config) is not None:
        yield model.config, f"{report.traced} of {report.total} layers"
