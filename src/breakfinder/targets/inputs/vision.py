"""Inputs of models that see: images and videos."""

from __future__ import annotations

from typing import Any

import torch

from breakfinder.targets.inputs.setting import Setting, rule

VISION = ("vision", "image", "vq", "vlm", "thinker", "backbone", "encoder")
_SIDE = 224


def height_and_width(size: Any) -> tuple[int, int]:
    """An image size as configs give it: a number, two of them, or a dict."""
    if isinstance(size, dict):
        return int(size["height"]), int(size["width"])
    if isinstance(size, (list, tuple)):
        return (int(size[-2]), int(size[-1])) if len(size) > 1 else (int(size[0]), int(size[0]))
    return int(size), int(size)


def image_size(setting: Setting) -> tuple[int, int]:
    """Height and width; models without a size of their own get a larger image the second time."""
    size = setting.size("image_size", "img_size", "input_size", of=VISION)
    if size is None:
        return (_SIDE, _SIDE + 32 * setting.variant)
    return height_and_width(size)


def patch_size(setting: Setting) -> int:
    """Pixels along each side of a patch."""
    size = setting.size("patch_size", of=VISION, default=16)
    return int(size if isinstance(size, int) else size[-1])


def channels(setting: Setting) -> int:
    """Channels of an image."""
    names = ("num_channels", "in_channels", "in_chans", "num_input_channels", "input_channels")
    values = (setting.size(name, of=VISION) for name in names)
    return next((value for value in values if type(value) is int), 3)


@rule("pixel_values", "hidden_states", "image")
def pixel_values(setting: Setting) -> torch.Tensor | None:
    """Images in the layout that the parameters beside them tell."""
    from breakfinder.targets.inputs import multimodal, patches, shapes

    if setting.lacks("vision_config"):
        return None
    name = next(name for name in ("pixel_values", "image", "hidden_states") if setting.takes(name))
    if name == "hidden_states" and not setting.takes("grid_thw"):
        return shapes.from_description(setting, name)
    if patches.is_flat(setting):
        return patches.flat_patches(setting, name)
    if setting.takes("target_sizes"):
        return patches.strip(setting)
    if setting.takes("spatial_shapes"):
        side = patch_size(setting)
        return setting.floats(setting.batch, _SHAPE[0] * _SHAPE[1], channels(setting) * side * side)
    picture = (channels(setting), *image_size(setting))
    if setting.takes("aspect_ratio_ids"):
        return setting.floats(
            setting.batch, 1, int(setting.size("max_num_tiles", of=VISION, default=4)), *picture
        )
    if multimodal.has_images(setting):
        return multimodal.images(setting, picture)
    frames = setting.size("num_frames", of=VISION)
    if frames and not setting.takes("pixel_values_videos"):
        return setting.floats(setting.batch, int(frames), *picture)
    return setting.floats(setting.batch, *picture)


_SHAPE = (16, 16)
"""Patches of an image along height and width, where images of any shape are padded to one number of them.
"""


@rule("spatial_shapes")
def spatial_shapes(setting: Setting) -> torch.Tensor:
    return torch.tensor([_SHAPE] * setting.batch)


@rule("pixel_attention_mask")
def pixel_attention_mask(setting: Setting) -> torch.Tensor | None:
    if not setting.takes("spatial_shapes"):
        return None
    return setting.ones(setting.batch, _SHAPE[0] * _SHAPE[1])


@rule("aspect_ratio_ids")
def aspect_ratio_ids(setting: Setting) -> torch.Tensor:
    """One tile: the first of the ratios."""
    return setting.ones(setting.batch, 1)


@rule("aspect_ratio_mask")
def aspect_ratio_mask(setting: Setting) -> torch.Tensor:
    return setting.ones(setting.batch, 1, int(setting.size("max_num_tiles", of=VISION, default=4)))


@rule("cross_attention_mask")
def cross_attention_mask(setting: Setting) -> torch.Tensor | None:
    """Which tiles each token sees: all of them."""
    ids = setting.get("input_ids")
    if ids is None or not setting.takes("aspect_ratio_ids"):
        return None
    return setting.ones(*ids.shape, 1, int(setting.size("max_num_tiles", of=VISION, default=4)))


@rule("pixel_values_videos")
def pixel_values_videos(setting: Setting) -> torch.Tensor | None:
    """A few frames, for models that read nothing else."""
    optional = not setting.needs("pixel_values_videos")
    if setting.lacks("vision_config") or (optional and setting.takes("pixel_values")):
        return None
    frames = int(setting.size("num_frames", of=VISION, default=4))
    return setting.floats(setting.batch, frames, channels(setting), *image_size(setting))
