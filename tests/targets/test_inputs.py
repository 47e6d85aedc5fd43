"""Inputs that models take: each is called for real, as small as it can be made."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers

from breakfinder.errors import UsageError
from breakfinder.targets.inputs import describe, synthesise
from breakfinder.targets.shrink import shrink
from breakfinder.targets.transformers_models import choose_class, default_config, instantiate


def small(model_type: str, class_name: str = "") -> Any:
    config, _ = shrink(default_config(model_type))
    return instantiate(choose_class(config, class_name=class_name), config)


@pytest.mark.parametrize(
    ("model_type", "names"),
    [
        ("llama", {"input_ids", "attention_mask"}),
        ("bert", {"input_ids", "attention_mask", "token_type_ids"}),
        ("t5", {"input_ids", "attention_mask", "decoder_input_ids"}),
        ("vit", {"pixel_values"}),
        ("resnet", {"pixel_values"}),
        ("segformer", {"pixel_values"}),
        ("yolos", {"pixel_values"}),
        ("videomae", {"pixel_values"}),
        ("clip", {"input_ids", "attention_mask", "pixel_values"}),
        ("siglip2_vision_model", {"pixel_values", "pixel_attention_mask", "spatial_shapes"}),
        ("whisper", {"input_features", "decoder_input_ids"}),
        ("speech_to_text", {"input_features", "decoder_input_ids"}),
        ("wav2vec2", {"input_values"}),
        ("audio-spectrogram-transformer", {"input_values"}),
        ("llava", {"input_ids", "attention_mask", "pixel_values"}),
        ("idefics3", {"input_ids", "attention_mask", "pixel_values"}),
        ("qwen2_vl", {"input_ids", "attention_mask", "pixel_values", "image_grid_thw", "mm_token_type_ids"}),
        ("voxtral", {"input_ids", "attention_mask", "input_features"}),
        ("layoutlm", {"input_ids", "attention_mask", "token_type_ids", "bbox"}),
        ("decision_transformer", {"states", "actions", "rewards", "returns_to_go", "timesteps"}),
        (
            "time_series_transformer",
            {
                "past_values",
                "past_time_features",
                "past_observed_mask",
                "future_values",
                "future_time_features",
            },
        ),
    ],
)
def test_models_of_each_kind_run(model_type: str, names: set[str]) -> None:
    model = small(model_type)
    for variant in (0, 1):
        inputs = synthesise(model, model.config, variant=variant)
        assert set(inputs) == names
        with torch.no_grad():
            model(**inputs)


def count(inputs: dict[str, Any], placeholder: int) -> list[int]:
    return (inputs["input_ids"] == placeholder).sum(1).tolist()  # type: ignore[no-any-return]


def test_llava_has_a_placeholder_for_each_patch() -> None:
    model = small("llava")
    inputs = synthesise(model, model.config, batch_size=2)
    side = model.config.vision_config.image_size // model.config.vision_config.patch_size
    assert count(inputs, model.config.image_token_id) == [side * side] * 2


def test_qwen2_vl_has_a_placeholder_for_each_merged_cell_of_the_grid() -> None:
    model = small("qwen2_vl")
    inputs = synthesise(model, model.config, batch_size=3)
    expected = inputs["image_grid_thw"].prod(1) // model.config.vision_config.spatial_merge_size**2
    assert count(inputs, model.config.image_token_id) == expected.tolist()
    assert inputs["mm_token_type_ids"].sum(1).tolist() == expected.tolist()
    assert len(inputs["pixel_values"]) == inputs["image_grid_thw"].prod(1).sum()


def test_voxtral_has_a_placeholder_for_each_feature_of_sound() -> None:
    model = small("voxtral")
    inputs = synthesise(model, model.config, batch_size=2)
    with torch.no_grad():
        features = model.model.get_audio_features(inputs["input_features"]).pooler_output
    rows = sum(item.shape[0] for item in features) if isinstance(features, (list, tuple)) else len(features)
    assert sum(count(inputs, model.config.audio_token_id)) == rows


def test_placeholders_are_counted_without_values_too() -> None:
    from breakfinder.targets.fake import build_fake

    config = default_config("llava")
    config.text_config.num_hidden_layers = config.vision_config.num_hidden_layers = 2
    model, _ = build_fake(lambda: instantiate(choose_class(config), config))
    inputs = synthesise(model, config, batch_size=2)
    assert count(inputs, config.image_token_id) == [(336 // 14) ** 2] * 2
    assert type(inputs["input_ids"]) is torch.Tensor


def test_sizes_are_as_asked_for() -> None:
    model = small("llama")
    assert synthesise(model, model.config, batch_size=5, seq_len=7)["input_ids"].shape == (5, 7)


def test_the_second_variant_differs_in_batch_and_length() -> None:
    model = small("llama")
    first, second = (synthesise(model, model.config, variant=variant)["input_ids"] for variant in (0, 1))
    assert first.shape[0] != second.shape[0]
    assert first.shape[1] != second.shape[1]


def test_models_of_one_image_size_get_another_batch() -> None:
    model = small("vit")
    first, second = (synthesise(model, model.config, variant=variant)["pixel_values"] for variant in (0, 1))
    assert first.shape[0] != second.shape[0]
    assert first.shape[1:] == second.shape[1:]


@pytest.mark.parametrize("variant", [0, 1])
def test_texts_are_no_longer_than_there_are_positions(variant: int) -> None:
    config = transformers.GPT2Config(n_embd=32, n_layer=1, n_head=2, n_positions=20, vocab_size=50)
    model = instantiate(transformers.GPT2LMHeadModel, config)
    inputs = synthesise(model, config, variant=variant)
    assert inputs["input_ids"].shape[1] <= 20
    model(**inputs)


def test_ids_are_valid_and_have_no_meaning_of_their_own() -> None:
    config = transformers.LlamaConfig(
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        vocab_size=12,
        bos_token_id=3,
        eos_token_id=[4, 5],
        pad_token_id=6,
    )
    model = instantiate(transformers.LlamaForCausalLM, config)
    used = set(synthesise(model, config)["input_ids"].flatten().tolist())
    assert used <= set(range(12)) - {3, 4, 5, 6}
    assert len(used) > 3


def test_values_are_the_same_each_time() -> None:
    model = small("clip")
    first, again = (synthesise(model, model.config) for _ in range(2))
    assert all(torch.equal(first[name], again[name]) for name in first)


def test_floating_inputs_have_the_dtype_of_the_model() -> None:
    config, _ = shrink(default_config("vit"))
    model = instantiate(choose_class(config), config, "bfloat16")
    assert synthesise(model, config)["pixel_values"].dtype == torch.bfloat16
    model(**synthesise(model, config))


def test_an_input_that_no_rule_makes_is_named() -> None:
    class Odd(torch.nn.Module):
        def forward(self, input_ids: torch.Tensor, tea_leaves: torch.Tensor) -> None: ...

    with pytest.raises(UsageError) as raised:
        synthesise(Odd(), transformers.BertConfig())
    assert "Odd: it needs tea_leaves" in raised.value.message
    assert "--inputs" in raised.value.hint


def test_inputs_are_described() -> None:
    inputs = {"input_ids": torch.zeros(2, 64, dtype=torch.long), "use_cache": True, "sizes": [torch.ones(3)]}
    assert describe(inputs) == "input_ids int64[2, 64], use_cache True, sizes [float32[3]]"
