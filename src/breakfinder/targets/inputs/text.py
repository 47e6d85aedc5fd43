"""Inputs of models that read text: token ids, masks, positions on a page."""

from __future__ import annotations

from typing import Any

import torch

from breakfinder.targets.inputs import multimodal
from breakfinder.targets.inputs.setting import Setting, rule


def text_length(setting: Setting) -> int:
    """The wanted length, or as much as the model has positions for."""
    names = (
        "max_position_embeddings",
        "n_positions",
        "max_seq_len",
        "max_target_positions",
        "max_source_positions",
    )
    values = (getattr(setting.text, name, None) for name in names)
    most = next((value for value in values if type(value) is int), 0)
    if most < 2 or setting.length <= most:
        return setting.length
    return most if setting.variant == 0 else max(most // 2, 1)


def vocabulary(setting: Setting) -> int:
    return int(getattr(setting.text, "vocab_size", None) or setting.size("vocab_size", default=256))


def token_ids(setting: Setting) -> torch.Tensor:
    """Plain token ids; those of encoders end with the end token, which some heads look for."""
    shape = (setting.batch, text_length(setting))
    ids = setting.ids(*shape, vocabulary=vocabulary(setting))
    end = getattr(setting.text, "eos_token_id", None)
    if setting.encodes and type(end) is int and 0 <= end < vocabulary(setting):
        ids[:, -1] = end
    return ids


@rule("input_ids")
def input_ids(setting: Setting) -> torch.Tensor | None:
    if setting.takes("input_features", "input_values") and setting.takes("decoder_input_ids"):
        # Speech in, text out; ids would stand for other speech.
        return None
    return multimodal.with_placeholders(setting, token_ids(setting))


@rule("attention_mask")
def attention_mask(setting: Setting) -> torch.Tensor | None:
    ids = setting.get("input_ids")
    if ids is not None:
        return setting.ones(*ids.shape[:2])
    if setting.needs("attention_mask"):
        return setting.ones(setting.batch, text_length(setting))
    return None


@rule("token_type_ids")
def token_type_ids(setting: Setting) -> torch.Tensor | None:
    """All of the first kind; 1 where placeholders stand for images."""
    ids = setting.get("input_ids")
    placeholder = multimodal.token_id(setting, multimodal.IMAGE)
    if ids is None or (placeholder is None and not setting.size("type_vocab_size", of=("text",))):
        return None
    return (ids == placeholder).long() if placeholder is not None else torch.zeros_like(ids)


@rule("decoder_input_ids")
def decoder_input_ids(setting: Setting) -> torch.Tensor | None:
    if not setting.encodes and not setting.needs("decoder_input_ids"):
        return None
    decoder: Any = setting.config.get_text_config(decoder=True)
    size = getattr(decoder, "decoder_vocab_size", None) or getattr(decoder, "vocab_size", None)
    most = getattr(decoder, "max_target_positions", None)
    most = most or getattr(decoder, "max_position_embeddings", None)
    length = max(setting.length // 2, 2)
    length = min(length, most) if most else length
    return setting.ids(setting.batch, length, vocabulary=size or vocabulary(setting))


@rule("bbox")
def bbox(setting: Setting) -> torch.Tensor | None:
    """Boxes of words on a page, left, top, right and bottom from 0 to 1000."""
    ids = setting.get("input_ids")
    if ids is None:
        return None
    shape = ids.shape[:2]
    left = (torch.arange(ids.shape[1]) * 20 % 900).expand(shape)
    return torch.stack([left, left, left + 50, left + 20], -1)
