"""The table of hints: all that it says is of use."""

from __future__ import annotations

import inspect
import json
from importlib import resources
from typing import Any

import pytest
import torch
import transformers

from breakfinder.targets.inputs import synthesise
from breakfinder.targets.inputs.hints import hint
from breakfinder.targets.transformers_models import choose_class, default_config, instantiate, model_types

TABLE: dict[str, dict[str, Any]] = json.loads(
    resources.files("breakfinder.targets.inputs").joinpath("hints.json").read_text(encoding="utf-8")
)
FIELDS = {"config", "parts", "class", "sizes", "inputs", "omit"}


def test_every_entry_is_of_a_model_type_and_has_known_fields() -> None:
    assert set(TABLE) <= set(model_types())
    assert all(set(entry) <= FIELDS for entry in TABLE.values())


def test_the_table_is_in_order_and_small() -> None:
    assert list(TABLE) == sorted(TABLE)
    assert len(TABLE) < len(model_types()) / 6


@pytest.mark.parametrize("model_type", sorted(name for name, entry in TABLE.items() if "inputs" in entry))
def test_every_input_is_one_that_the_model_takes(model_type: str) -> None:
    parameters = inspect.signature(choose_class(default_config(model_type)).forward).parameters
    assert set(TABLE[model_type]["inputs"]) <= set(parameters)


@pytest.mark.parametrize("model_type", sorted(name for name, entry in TABLE.items() if "class" in entry))
def test_every_class_is_that_of_its_model_type(model_type: str) -> None:
    assert choose_class(default_config(model_type)).__name__ == TABLE[model_type]["class"]


def test_a_shape_in_the_table_is_the_shape_of_the_input() -> None:
    assert (
        hint("pix2struct_vision_model", "inputs", {}) or "flattened_patches" in TABLE["pix2struct"]["inputs"]
    )
    config = default_config("efficientloftr")
    with torch.device("meta"):
        model = instantiate(choose_class(config), config)
    assert synthesise(model, config, batch_size=2)["pixel_values"].shape[:2] == (2, 2)


def test_a_model_type_without_an_entry_has_no_hints() -> None:
    assert hint(transformers.LlamaConfig(), "inputs", {}) == {}
