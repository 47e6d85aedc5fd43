"""Inputs of models that see: images and videos."""

from __future__ import annotations

from typing import Any

import torch

from breakfinder.targets.inputs.setting import Setting, rule

VISION = ("vision", "image", "backbone", "encoder")
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


def channels(setting: Setting) -> int:
    return int(
        setting.size("num_channels", "in_channels", "in_chans", "num_input_channels", of=VISION, default=3)
    )


@rule("pixel_values")
def pixel_values(setting: Setting) -> torch.Tensor | None:
    shape = (channels(setting), *image_size(setting))
    frames = setting.size("num_frames", of=VISION)
    if frames and not setting.takes("pixel_values_videos"):
        return setting.floats(setting.batch, frames, *shape)
    return setting.floats(setting.batch, *shape)
