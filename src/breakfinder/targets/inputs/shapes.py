"""Inputs whose shape can be written down: in a table, in hints, and in docstrings of forward methods."""

from __future__ import annotations

import inspect
import math
import re
from typing import Any

import torch

from breakfinder.targets.inputs.hints import hint
from breakfinder.targets.inputs.setting import RULES, Rule, Setting
from breakfinder.targets.layer_configs import is_config

ALWAYS = {
    # Decision transformers
    "states": "float[batch, length, state_dim]",
    "actions": "float[batch, length, act_dim]",
    "rewards": "float[batch, length, 1]",
    "returns_to_go": "float[batch, length, 1]",
    "timesteps": "zeros[batch, length]",
    # Regions of an image that a detector found
    "visual_feats": "float[batch, 36, visual_feat_dim]",
    "visual_pos": "float[batch, 36, 4]",
    "visual_embeds": "float[batch, 36, visual_embedding_dim]",
    # A point to segment around
    "input_points": "float[batch, 1, 1, 2]",
    # Time series
    "past_time_features": "float[batch, history, num_time_features]",
    "future_time_features": "float[batch, prediction_length, num_time_features]",
    "static_categorical_features": "zeros[batch, num_static_categorical_features]",
    "static_real_features": "float[batch, num_static_real_features]",
    # Robots
    "state": "float[batch, max_state_dim]",
    # Text and images cut up in advance
    "flattened_patches": "float[batch, 64, 2+channels*patch_size*patch_size]",
    "qformer_input_ids": "int[batch, length]",
}
"""Inputs that are given whenever a model takes them."""

_NAMES = {
    "batch": "batch batch_size bs num_images num_audios num_videos num_crops num_images_or_videos num_chunks",
    "length": "length sequence_length seq_length seq_len text_sequence_length num_tokens"
    " decoder_sequence_length text_seq_len image_num_patches encoder_sequence_length",
    "hidden_size": "hidden_size embed_dim hidden_dim dim d_model",
    "channels": "channels num_channels in_channels",
    "height": "height image_size frame_size",
    "width": "width",
    "frames": "num_frames frames time_steps",
    "grid": "grid_height grid_width",
    "features": "num_mel_bins n_mel_bins mel_bins feature_dim feature_size num_banks model_in_dim",
}
_MEANS = {name: meaning for meaning, names in _NAMES.items() for name in names.split()}
_SPEC = re.compile(r"(\w+)\[(.*)\]$")
_KINDS = {"LongTensor": "zeros", "IntTensor": "zeros", "BoolTensor": "bool"}


def shaped(setting: Setting, spec: str) -> torch.Tensor | None:
    """A tensor as ``kind[dimensions]`` says; None where a dimension is 0 or not known.

    Kinds are ``float``, ``int`` (token ids), ``zeros``, ``ones`` and ``bool`` (all true).  Dimensions are
    numbers, sizes of the setting (``batch``, ``length``, ...) and names of the config's values, and
    products of these.
    """
    match = _SPEC.match(spec.strip())
    if match is None:
        raise ValueError(f"'{spec}' is no kind[dimensions]")
    kind, text = match.groups()
    sizes = [_dimension(setting, part) for part in text.split(",") if part.strip()]
    if any(size is None or size < 1 for size in sizes):
        return None
    shape = [size for size in sizes if size is not None]
    if kind == "float":
        return setting.floats(*shape)
    if kind == "int":
        return setting.ids(*shape, vocabulary=int(setting.size("vocab_size", of=("text",), default=16)))
    fill = torch.zeros if kind == "zeros" else torch.ones
    return fill(shape, dtype=torch.bool if kind == "bool" else torch.long)


def _dimension(setting: Setting, text: str) -> int | None:
    """The value of one dimension: a sum of products."""
    terms = [[_size(setting, factor.strip()) for factor in term.split("*")] for term in text.split("+")]
    if any(size is None for factors in terms for size in factors):
        return None
    return sum(math.prod(size for size in factors if size is not None) for factors in terms)


def _size(setting: Setting, name: str) -> int | None:
    from breakfinder.targets.inputs import audio, text, vision

    if name.isdecimal():
        return int(name)
    match _MEANS.get(name.replace(" ", ""), name):
        case "batch":
            return setting.batch
        case "length":
            return text.text_length(setting)
        case "height":
            return vision.image_size(setting)[0]
        case "width":
            return vision.image_size(setting)[1]
        case "channels":
            return vision.channels(setting)
        case "frames":
            return int(setting.size("num_frames", of=vision.VISION, default=4))
        case "grid":
            return 8
        case "features":
            return audio.features(setting)
        case "tiles":
            return int(setting.size("tiles", default=1))
        case "history":
            context = setting.size("context_length") or setting.size("prediction_length") or 16
            return int(context) + int(max(setting.size("lags_sequence", default=[0])))
        case meaning:
            value = _found(setting.config, meaning.removeprefix("config."))
            return value if type(value) is int else None


def _found(config: Any, name: str) -> Any:
    """The value of a config, or of the first of its parts that has it."""
    value = getattr(config, name, None)
    if value is None:
        parts = (_found(part, name) for part in vars(config).values() if is_config(part))
        value = next((part for part in parts if part is not None), None)
    return value


def documented(setting: Setting, name: str) -> str:
    """The shape that the forward method's docstring gives for an input; empty if it gives none."""
    text = inspect.getdoc(type(setting.model).forward) or ""
    match = re.search(rf"^\s*{name} \((?P<type>.*?)of shape [`(\[]+(?P<shape>[^`\])]*)", text, re.MULTILINE)
    if match is None:
        return ""
    about = match["type"] + str(setting.parameters[name].annotation)
    kind = next((kind for word, kind in _KINDS.items() if word in about), "float")
    return f"{kind}[{match['shape']}]"


def _rule(name: str, spec: str) -> Rule:
    return lambda setting: shaped(setting, spec)


RULES.update({name: _rule(name, spec) for name, spec in ALWAYS.items()})


def from_description(setting: Setting, name: str) -> torch.Tensor | None:
    """An input that no rule makes: as the hints have it, or, if the model needs it, as its docstring
    says.
    """
    if spec := hint(setting.config, "inputs", {}).get(name):
        return shaped(setting, spec)
    if setting.needs(name) and (spec := documented(setting, name)):
        return shaped(setting, spec)
    return None
