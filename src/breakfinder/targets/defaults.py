"""Configs with default values, made whole where a default leaves open what every checkpoint says."""

from __future__ import annotations

from typing import Any

from transformers import CONFIG_MAPPING

from breakfinder.targets.inputs.hints import hint
from breakfinder.targets.inputs.multimodal import AUDIO, IMAGE, VIDEO
from breakfinder.targets.layer_configs import is_config

_VOCABULARY = 32
_WIDTH_OUT = "out_hidden_size"
_FACTORS = ("pixel_shuffle_factor", "scale_factor")
_WRAPPED = ("vlm_config", "thinker_config")


def whole_config(model_type: str) -> Any:
    """The config of a model type that transformers knows, with its default values and those of the hints.

    Values that are None by default and that a model cannot do without are filled in: the size of the
    vocabulary, the number of key heads and the width of heads, the ids of placeholders.  Features of a vision
    part get the width of the text, and images a size that fits.  Raises what the class of the config raises.
    """
    values = dict(hint(model_type, "config", {}))
    for name, part in hint(model_type, "parts", {}).items():
        values[name] = whole_config(part)
    config = CONFIG_MAPPING[model_type](**values)
    _fill(config)
    return config


def _fill(config: Any) -> None:
    if getattr(config, "vocab_size", 0) is None:
        config.vocab_size = _VOCABULARY
    text = config.get_text_config(decoder=True)
    _fill_heads(text)
    size = getattr(text, "vocab_size", None)
    for place, modality in enumerate((IMAGE, VIDEO, AUDIO), 1):
        names = [name for name in modality.token_ids if hasattr(config, name)]
        if names and type(size) is int and all(getattr(config, name) is None for name in names):
            setattr(config, names[0], size - place)
    vision = getattr(config, "vision_config", None)
    if is_config(vision):
        if hasattr(vision, _WIDTH_OUT) and text is not config:
            setattr(vision, _WIDTH_OUT, text.hidden_size)
        _fit_shuffle(config, vision)
    for name in _WRAPPED:
        if is_config(getattr(config, name, None)):
            _fill(getattr(config, name))


def _fill_heads(config: Any) -> None:
    heads, width = getattr(config, "num_attention_heads", None), getattr(config, "hidden_size", None)
    if type(heads) is not int or type(width) is not int:
        return
    # Configs of which the layers differ do not give one value for all.
    if vars(config).get("head_dim", 0) is None:
        config.head_dim = width // heads
    if vars(config).get("num_key_value_heads", 0) is None:
        config.num_key_value_heads = heads


def _fit_shuffle(config: Any, vision: Any) -> None:
    """Give images a size of which the patches can be merged by the config's factor."""
    factor = next((value for name in _FACTORS if type(value := getattr(config, name, None)) is int), None)
    image, patch = getattr(vision, "image_size", None), getattr(vision, "patch_size", None)
    if factor and type(image) is int and type(patch) is int and image // patch % factor:
        vision.image_size = -(-image // (patch * factor)) * patch * factor
