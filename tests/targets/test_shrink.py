"""Small configs: models of them can be built and called for real, and have all their kinds of layers."""

import copy

import pytest
import torch
import transformers

from breakfinder.targets.shrink import build_on_meta, shrink


def ids(config):
    return {"input_ids": torch.arange(16).reshape(1, 16) + 3}


def pair(config):
    return {"input_ids": torch.arange(16).reshape(1, 16), "decoder_input_ids": torch.arange(8).reshape(1, 8)}


def image(config):
    size = config.vision_config.image_size if hasattr(config, "vision_config") else 224
    return {"pixel_values": torch.zeros(1, 3, size, size)}


def both(config):
    return {**ids(config), **image(config)}


def speech(config):
    features = torch.zeros(1, config.num_mel_bins, 2 * config.max_source_positions)
    return {"input_features": features, "decoder_input_ids": torch.arange(4).reshape(1, 4)}


def wave(config):
    return {"input_values": torch.zeros(1, 16000)}


MODELS = {
    "llama": ids,
    "gemma2": ids,
    "gemma3n_text": ids,
    "mixtral": ids,
    "deepseek_v3": ids,
    "qwen3_next": ids,
    "jamba": ids,
    "zamba2": ids,
    "mamba": ids,
    "gpt2": ids,
    "bert": ids,
    "longformer": ids,
    "deberta-v2": ids,
    "qwen2_vl": ids,
    "t5": pair,
    "bart": pair,
    "whisper": speech,
    "wav2vec2": wave,
    "vit": image,
    "swin": image,
    "clip": both,
}


@pytest.mark.parametrize("name", MODELS)
def test_default_models_become_small_and_can_be_called(name):
    config = transformers.CONFIG_MAPPING[name]()
    before = copy.deepcopy(config).to_dict()

    def call(smaller):
        with torch.no_grad():
            return transformers.AutoModel.from_config(smaller).eval()(**MODELS[name](smaller))

    smaller, changes = shrink(config, call)
    assert config.to_dict() == before
    parameters = sum(parameter.numel() for parameter in build_on_meta(smaller).parameters())
    assert parameters < 100e6
    assert parameters < sum(parameter.numel() for parameter in build_on_meta(config).parameters()) / 20
    assert any(change.startswith("widths / ") for change in changes) and any(
        "layers" in change for change in changes
    )
    assert torch.isfinite(call(smaller)[0]).all()


def test_what_a_large_config_becomes():
    config = transformers.CONFIG_MAPPING["deepseek_v3"]()
    smaller, changes = shrink(config)
    assert changes == ["widths / 16", "vocabulary 129280 to 256", "experts 256 to 16", "4 of 61 layers"]
    assert (smaller.hidden_size, smaller.moe_intermediate_size, smaller.vocab_size) == (448, 128, 256)
    assert (smaller.n_routed_experts, smaller.num_experts_per_tok, smaller.num_hidden_layers) == (16, 2, 4)


def test_heads_stay_as_wide_where_their_number_allows():
    smaller, _ = shrink(transformers.CONFIG_MAPPING["llama"]())
    assert (smaller.hidden_size, smaller.num_attention_heads, smaller.num_key_value_heads) == (256, 2, 2)
    assert (smaller.head_dim, smaller.intermediate_size) == (128, 688)


def test_special_tokens_fit_into_the_vocabulary_and_stay_apart():
    config = transformers.CONFIG_MAPPING["gemma3"]()
    assert config.image_token_index > 200_000
    smaller, _ = shrink(config)
    size = smaller.text_config.vocab_size
    found = {smaller.image_token_index, smaller.boi_token_index, smaller.eoi_token_index}
    assert len(found) == 3 and max(found) < size == 256


def test_kinds_of_layers_stay():
    smaller, _ = shrink(transformers.CONFIG_MAPPING["jamba"]())
    layers = build_on_meta(smaller).layers
    assert {type(layer).__name__ for layer in layers} == {
        "JambaAttentionDecoderLayer",
        "JambaMambaDecoderLayer",
    }
    assert {type(layer.feed_forward).__name__ for layer in layers} == {"JambaMLP", "JambaSparseMoeBlock"}


def test_a_step_that_does_not_work_is_undone():
    tried = []

    def only_wide(smaller):
        tried.append(smaller.hidden_size)
        if smaller.hidden_size < 300:
            raise ValueError("too narrow")

    smaller, changes = shrink(transformers.CONFIG_MAPPING["gpt2"](n_embd=1536, n_head=8), only_wide)
    assert smaller.n_embd == 384 and "widths / 4" in changes
    assert tried[-1] == 384 and min(tried) < 300


def test_where_nothing_works_the_smallest_that_can_be_built_is_given():
    tried = []

    def never(smaller):
        tried.append(smaller)
        raise RuntimeError("no")

    smaller, changes = shrink(transformers.CONFIG_MAPPING["llama"](), never)
    assert "widths / 16" in changes and 1 < len(tried) <= 12
    assert smaller.to_dict() == shrink(transformers.CONFIG_MAPPING["llama"]())[0].to_dict()


def test_a_config_that_builds_no_model_is_given_back():
    config = transformers.CONFIG_MAPPING["llama"]()
    config.hidden_act = "no such activation"
    assert shrink(config) == (config, [])
