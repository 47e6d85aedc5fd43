"""Inputs of models that hear: waveforms, and features of them such as mel spectrograms."""

from __future__ import annotations

import torch

from breakfinder.targets.inputs import shapes
from breakfinder.targets.inputs.setting import Setting, rule

AUDIO = ("audio", "encoder", "speech", "semantic")
_SAMPLES = 38400
"""Samples of a waveform: a multiple of the hop lengths in use (320, 512, 1920, 3200)."""
_FRAMES = 200
"""Frames of features, two seconds at the usual rate."""
_MEL = ("num_mel_bins", "n_mel_bins", "n_mels")
_FEATURES = (
    *_MEL,
    "feature_size",
    "input_feat_per_channel",
    "input_feat_size",
    "feature_projection_input_dim",
    "input_dim",
    "input_size",
)


def features(setting: Setting) -> int:
    """Features of one frame."""
    return int(setting.size(*_FEATURES, of=AUDIO, default=128))


def frames(setting: Setting) -> int:
    """Frames of sound; Whisper-like encoders read exactly two for each of their positions."""
    if setting.size(*_MEL, of=AUDIO) and (positions := setting.size("max_source_positions", of=AUDIO)):
        return 2 * int(positions)
    return _FRAMES * (1 + setting.variant)


def _features_first(setting: Setting) -> bool:
    """Whether features come before time: the model begins with a convolution over time that reads them."""
    if setting.size("features_first"):
        return True
    if not setting.size(*_MEL, of=AUDIO):
        return False
    convolutions = (module for module in setting.model.modules() if isinstance(module, torch.nn.Conv1d))
    return any(module.in_channels == features(setting) for module in convolutions)


@rule("input_features", "audio_input_features", "audio_mel")
def input_features(setting: Setting) -> torch.Tensor | None:
    if setting.lacks("audio_config"):
        return None
    if _features_first(setting):
        return setting.floats(setting.batch, features(setting), frames(setting))
    return setting.floats(setting.batch, frames(setting), features(setting))


@rule("input_features_mask", "feature_attention_mask", "audio_mel_mask")
def features_mask(setting: Setting) -> torch.Tensor | None:
    if not setting.gives("input_features", "audio_mel"):
        return None
    return setting.ones(setting.batch, frames(setting))


@rule("input_values")
def input_values(setting: Setting) -> torch.Tensor | None:
    """A waveform, with an axis for its channels where the model reads one, or a spectrogram."""
    if setting.lacks("audio_config"):
        return None
    samples = _SAMPLES * (1 + setting.variant)
    dimensions = shapes.documented(setting, "input_values")
    if "mel_bins" in dimensions:
        return setting.floats(
            setting.batch, int(setting.size("max_length", default=_FRAMES)), features(setting)
        )
    if dimensions.count(",") == 2:
        return setting.floats(setting.batch, int(setting.size("audio_channels", default=1)), samples)
    return setting.floats(setting.batch, samples)


@rule("spectrogram", "mel_spectrogram")
def spectrogram(setting: Setting) -> torch.Tensor:
    """What a vocoder makes sound of."""
    return setting.floats(
        setting.batch, _FRAMES, int(setting.size("model_in_dim", "mel_dim", *_MEL, default=80))
    )
