"""Images cut into patches, those of all images in one flat batch, with the grid of each (Qwen2-VL and
kin).
"""

from __future__ import annotations

import torch

from breakfinder.targets.inputs import shapes, vision
from breakfinder.targets.inputs.setting import Setting, rule

GRIDS = ("grid_thw", "image_grid_thw", "video_grid_thw")
_CELLS = 4
"""Cells of merged patches along each side of an image."""


def merge_size(setting: Setting) -> int:
    """Patches along each side of what becomes one token."""
    size = setting.size("spatial_merge_size", "merge_size", "adapter_merge_size", of=vision.VISION, default=1)
    return int(size if isinstance(size, int) else size[0])


def grid_of(setting: Setting) -> tuple[int, int, int]:
    """Patches of one image along time, height and width."""
    side = merge_size(setting) * _CELLS
    return (1, side, side + merge_size(setting) * 2 * setting.variant)


def is_flat(setting: Setting) -> bool:
    """Whether the model reads images as flat patches."""
    return setting.takes(*GRIDS)


def tokens(setting: Setting) -> int:
    """Tokens that one image becomes."""
    _, height, width = grid_of(setting)
    return height * width // merge_size(setting) ** 2


def flat_patches(setting: Setting, name: str) -> torch.Tensor:
    """The patches of all images, each with all its values in one row, unless the docstring says
    otherwise.
    """
    number = setting.batch * grid_of(setting)[1] * grid_of(setting)[2]
    side = int(vision.patch_size(setting))
    time = int(setting.size("temporal_patch_size", of=vision.VISION, default=1))
    channels = vision.channels(setting)
    merged = "patch_size * spatial_merge_size" in shapes.documented(setting, name)
    if merged or setting.size("merged_patches"):
        side *= merge_size(setting)
        return setting.floats(number // merge_size(setting) ** 2, side, side, channels)
    if axes := setting.size("square_patches"):
        return setting.floats(*[1] * (axes - 1), number, channels, side, side)
    return setting.floats(number, channels * time * side * side)


def strip(setting: Setting) -> torch.Tensor:
    """The patches of all images one beside the other, as one image that is one patch high (MiniCPM-V)."""
    side = vision.patch_size(setting)
    number = sum(height * width for height, width in setting.get("target_sizes").tolist())
    return setting.floats(1, vision.channels(setting), side, number * side)


@rule("target_sizes")
def target_sizes(setting: Setting) -> torch.Tensor | None:
    """Patches of each image along height and width."""
    return (
        torch.tensor([[8, 8 + 4 * setting.variant]] * setting.batch)
        if setting.takes("pixel_values")
        else None
    )


@rule("image_grid_thw", "grid_thw")
def grid(setting: Setting) -> torch.Tensor | None:
    """The grid of each image; of those in a text, one for each row."""
    return torch.tensor([grid_of(setting)] * setting.batch)


@rule("merge_sizes", "image_merge_sizes")
def merge_sizes(setting: Setting) -> torch.Tensor:
    return setting.ones(setting.batch)
