"""Labels, for heads that have a loss."""

from __future__ import annotations

import inspect
from typing import Any

import torch


def with_labels(model: Any, config: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The inputs with labels, where the model takes them and they can be told from its head and its
    inputs.
    """
    if "labels" not in inspect.signature(model.forward).parameters:
        return inputs
    labels = _labels(type(model).__name__, config, inputs)
    return inputs if labels is None else {**inputs, "labels": labels}


def _labels(name: str, config: Any, inputs: dict[str, Any]) -> torch.Tensor | None:
    batch = next((len(value) for value in inputs.values() if isinstance(value, torch.Tensor)), 1)
    device = next((value.device for value in inputs.values() if isinstance(value, torch.Tensor)), None)
    classes = getattr(config, "num_labels", 2)
    ids = inputs.get("decoder_input_ids", inputs.get("input_ids"))
    if name.endswith(("ForSequenceClassification", "ForImageClassification", "ForVideoClassification")):
        return torch.arange(batch, device=device) % classes
    if ids is None or ids.dim() != 2:
        return None
    if name.endswith("ForTokenClassification"):
        return torch.arange(ids.numel(), device=device).reshape(ids.shape) % classes
    if name.endswith(("LM", "LMHeadModel", "ForConditionalGeneration", "ForSpeechSeq2Seq")):
        return ids.clone()
    return None
