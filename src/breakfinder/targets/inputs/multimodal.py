"""Placeholders: the tokens in a text that stand for images, videos and sound."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from breakfinder.targets.inputs import patches, vision
from breakfinder.targets.inputs.setting import Setting, rule
from breakfinder.tracing.dynamo import is_fake


@dataclass(frozen=True)
class Modality:
    """How one kind of content comes into a text."""

    number: int
    """Its number in ``mm_token_type_ids``."""
    inputs: tuple[str, ...]
    token_ids: tuple[str, ...]
    """Config values that hold the id of its placeholder."""
    method: str
    """The model's method that turns the inputs into features, one for each placeholder."""
    sizes: tuple[str, ...]
    """Config values that hold the number of placeholders, for models without the method."""


IMAGE = Modality(
    1,
    ("pixel_values",),
    ("image_token_id", "image_token_index", "media_placeholder_token_id"),
    "get_image_features",
    ("image_seq_length", "mm_tokens_per_image", "num_image_tokens", "num_query_tokens"),
)
VIDEO = Modality(
    2,
    ("pixel_values_videos",),
    ("video_token_id", "video_token_index"),
    "get_video_features",
    ("video_seq_length",),
)
AUDIO = Modality(
    3,
    ("input_features", "input_values", "audio_input_features"),
    ("audio_token_id", "audio_token_index", "audio_token"),
    "get_audio_features",
    (),
)


def token_id(setting: Setting, modality: Modality) -> int | None:
    """The id that stands for a piece of this modality in a text; None: nothing does."""
    value = setting.size(*modality.token_ids, of=("vlm", "encoder"))
    return value if type(value) is int else None


def with_placeholders(setting: Setting, ids: torch.Tensor) -> torch.Tensor:
    """The ids, with a placeholder for each feature of other modalities after the first id of each row."""
    for modality in (IMAGE, VIDEO, AUDIO):
        placeholder = token_id(setting, modality)
        if placeholder is not None and setting.gives(*modality.inputs):
            number = _placeholders(setting, modality)
            filler = ids.new_full((ids.shape[0], number), placeholder)
            ids = torch.cat([ids[:, :1], filler, ids[:, 1:]], 1)
    return ids


def _placeholders(setting: Setting, modality: Modality) -> int:
    """Placeholders in each row."""
    number = _measured(setting, modality)
    if number is None and modality is IMAGE and patches.is_flat(setting):
        number = patches.tokens(setting)
    if number is None:
        # A model that merges by itself replaces one placeholder by all the features.
        number = setting.size(*modality.sizes, of=("vision", "image", "vlm", "text"), default=1)
    return int(number)


def _measured(setting: Setting, modality: Modality) -> int | None:
    """Features of one row as the model computes them; None where it cannot be asked."""
    method = feature_method(setting.model, modality)
    if method is None:
        return None
    accepted = inspect.signature(method).parameters
    inputs = {name: value for name in accepted if (value := setting.get(name)) is not None}
    # What it raises says only that these inputs are not in its layout, or that it needs values.
    try:
        with running(setting.model):
            features = method(**inputs)
            return _rows(getattr(features, "pooler_output", features)) // setting.batch
    except Exception:
        return None


def _rows(features: Any) -> int:
    if isinstance(features, torch.Tensor):
        return int(features.numel() // features.shape[-1])
    return sum(_rows(item) for item in features)


def feature_method(model: Any, modality: Modality) -> Callable[..., Any] | None:
    """The method that computes features, of the model or of the one that it wraps and passes all on to."""
    for owner in (model, getattr(model, "model", None), getattr(model, "vlm", None)):
        method: Callable[..., Any] | None = getattr(owner, modality.method, None)
        if method is not None and not {*modality.inputs}.isdisjoint(inspect.signature(method).parameters):
            return method
    return None


@contextlib.contextmanager
def running(model: Any) -> Any:
    """The context in which a model can be called: without gradients, under the mode of its fake tensors."""
    parameter = next(model.parameters(), None)
    fake: Any = parameter if parameter is not None and is_fake(parameter) else None
    with torch.no_grad(), contextlib.nullcontext() if fake is None else fake.fake_mode:
        yield


def has_images(setting: Setting) -> bool:
    """Whether the model puts features of images into a text."""
    return token_id(setting, IMAGE) is not None and feature_method(setting.model, IMAGE) is not None


def images(setting: Setting, picture: tuple[int, ...]) -> torch.Tensor:
    """Images in the first layout of which the model computes features; may set ``image_sizes``.

    Layouts: one image for each row, several for each row (tiles, crops), each without and with sizes.
    One image with its size may have any, so it is a small one.
    """
    small = (picture[0], *(min(side, 16 * vision.patch_size(setting)) for side in picture[1:]))
    size = torch.tensor([small[-2:]] * setting.batch)
    tiles, tiled = _tiles(setting, picture)
    layouts = [
        (setting.floats(setting.batch, *picture), None),
        (setting.floats(setting.batch, *small), size),
        (setting.floats(setting.batch, tiles, *picture), None),
        (setting.floats(setting.batch, tiles, *picture), tiled if setting.takes("image_sizes") else None),
    ]
    if setting.size("image_grid_pinpoints"):
        layouts.reverse()
    for values, sizes in layouts:
        if sizes is not None and not setting.takes("image_sizes"):
            continue
        setting.made.update(pixel_values=values, image_sizes=sizes)
        if _measured(setting, IMAGE):
            return values
    setting.made["image_sizes"] = None
    return layouts[0][0]


def _tiles(setting: Setting, picture: tuple[int, ...]) -> tuple[int, torch.Tensor]:
    """Tiles of an image of the first size in ``image_grid_pinpoints`` with its overview, and that size."""
    height, width = (setting.size("image_grid_pinpoints") or [picture[-2:]])[0]
    tiles = (height // picture[-2]) * (width // picture[-1]) + 1
    if not setting.size("image_grid_pinpoints"):
        tiles = 1
    return tiles, torch.tensor([[height, width]] * setting.batch)


@rule("image_sizes")
def image_sizes(setting: Setting) -> torch.Tensor | None:
    """Set along with the images, where it is optional."""
    setting.get("pixel_values")
    made = setting.made["image_sizes"]
    if made is None and setting.needs("image_sizes"):
        made = torch.tensor([setting.get("pixel_values").shape[-2:]] * setting.batch)
    return made


@rule("mm_token_type_ids")
def mm_token_type_ids(setting: Setting) -> torch.Tensor | None:
    """Which modality each token is of; 0 is text."""
    ids = setting.get("input_ids")
    if ids is None:
        return None
    kinds = torch.zeros_like(ids)
    for modality in (IMAGE, VIDEO, AUDIO):
        if (placeholder := token_id(setting, modality)) is not None:
            kinds[ids == placeholder] = modality.number
    return kinds
