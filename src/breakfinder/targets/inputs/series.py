"""Inputs of models that read time series."""

from __future__ import annotations

import torch

from breakfinder.targets.inputs import shapes
from breakfinder.targets.inputs.setting import Setting, rule


@rule("past_values")
def past_values(setting: Setting) -> torch.Tensor | None:
    """The series so far, as long as the model looks back; several variables have an axis of their own."""
    if setting.size("num_input_channels"):
        return shapes.shaped(setting, "float[batch, context_length, num_input_channels]")
    several = ", input_size" if (setting.size("input_size") or 1) > 1 else ""
    return shapes.shaped(setting, f"float[batch, history{several}]")


@rule("past_observed_mask")
def past_observed_mask(setting: Setting) -> torch.Tensor | None:
    """Nothing is missing."""
    values = setting.get("past_values")
    return None if values is None else torch.ones_like(values, dtype=torch.bool)


@rule("future_values")
def future_values(setting: Setting) -> torch.Tensor | None:
    """What is to be predicted, for models that read it while they learn."""
    if not setting.takes("future_time_features"):
        return None
    several = ", input_size" if (setting.size("input_size") or 1) > 1 else ""
    return shapes.shaped(setting, f"float[batch, prediction_length{several}]")
