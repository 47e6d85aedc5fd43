"""Narrow Transformers models with many layers, and inputs for each: repeats enough, quick to trace."""

import torch

_NARROW = {"vocab_size": 99, "hidden_size": 32, "intermediate_size": 40, "num_attention_heads": 4}
_DECODER = {**_NARROW, "num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 64}
_EXPERTS = {"num_experts": 4, "num_local_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 24}
_MAMBA = {"mamba_d_state": 4, "mamba_dt_rank": 4, "mamba_d_conv": 4, "mamba_expand": 2}
_LINEAR = {
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
}


def _ids(*shape):
    return torch.arange(torch.Size(shape).numel()).reshape(shape) % 90 + 3


def _text(length=7):
    return lambda: {"input_ids": _ids(2, length)}


def _pair():
    return {"input_ids": _ids(2, 7), "decoder_input_ids": _ids(2, 5)}


def _image(size):
    return lambda: {"pixel_values": torch.ones(1, 3, size, size)}


MODELS = {
    # model class, config values, inputs
    "llama": ("LlamaForCausalLM", {**_DECODER, "num_hidden_layers": 12}, _text()),
    "gemma2": ("Gemma2ForCausalLM", {**_DECODER, "num_hidden_layers": 12, "sliding_window": 4}, _text()),
    "gemma3_text": ("Gemma3ForCausalLM", {**_DECODER, "num_hidden_layers": 13, "sliding_window": 4}, _text()),
    "mixtral": ("MixtralForCausalLM", {**_DECODER, **_EXPERTS, "num_hidden_layers": 12}, _text()),
    "deepseek_v3": (
        "DeepseekV3ForCausalLM",
        {
            **{key: value for key, value in _DECODER.items() if key != "head_dim"},
            "num_key_value_heads": 4,
            "num_hidden_layers": 11,
            "first_k_dense_replace": 3,
            "n_routed_experts": 8,
            "n_group": 2,
            "topk_group": 1,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 24,
            "kv_lora_rank": 8,
            "q_lora_rank": 8,
            "qk_rope_head_dim": 8,
            "qk_nope_head_dim": 8,
            "v_head_dim": 8,
        },
        _text(),
    ),
    "qwen2_moe": (
        "Qwen2MoeForCausalLM",
        {
            **_DECODER,
            **_EXPERTS,
            "num_hidden_layers": 12,
            "decoder_sparse_step": 2,
            "mlp_only_layers": [3, 5],
            "shared_expert_intermediate_size": 24,
        },
        _text(),
    ),
    "llama4_text": (
        "Llama4ForCausalLM",
        {
            **_DECODER,
            **_EXPERTS,
            "num_experts_per_tok": 1,
            "intermediate_size_mlp": 40,
            "num_hidden_layers": 12,
            "interleave_moe_layer_step": 2,
            "attention_chunk_size": 4,
        },
        _text(),
    ),
    "jamba": ("JambaForCausalLM", {**_DECODER, **_EXPERTS, **_MAMBA, "num_hidden_layers": 17}, _text(3)),
    "qwen3_next": (
        "Qwen3NextForCausalLM",
        {**_DECODER, **_EXPERTS, **_LINEAR, "num_hidden_layers": 12},
        _text(),
    ),
    "zamba2": (
        "Zamba2ForCausalLM",
        {
            **_NARROW,
            "num_hidden_layers": 14,
            "layers_block_type": (["mamba"] * 3 + ["hybrid"]) * 3 + ["mamba"] * 2,
            "mamba_d_state": 4,
            "mamba_expand": 2,
            "n_mamba_heads": 4,
            "mamba_headdim": 16,
            "num_key_value_heads": 4,
            "attention_head_dim": 16,
            "adapter_rank": 4,
            "chunk_size": 4,
        },
        _text(),
    ),
    "t5": (
        "T5ForConditionalGeneration",
        {"vocab_size": 99, "d_model": 32, "d_kv": 8, "d_ff": 40, "num_heads": 4, "num_layers": 11},
        _pair,
    ),
    "whisper": (
        "WhisperForConditionalGeneration",
        {
            "vocab_size": 99,
            "d_model": 32,
            "encoder_layers": 11,
            "decoder_layers": 9,
            "encoder_attention_heads": 4,
            "decoder_attention_heads": 4,
            "encoder_ffn_dim": 40,
            "decoder_ffn_dim": 40,
            "max_source_positions": 20,
            "max_target_positions": 20,
            "num_mel_bins": 8,
            "pad_token_id": 0,
            "decoder_start_token_id": 1,
        },
        lambda: {"input_features": torch.ones(1, 8, 40), "decoder_input_ids": _ids(1, 5)},
    ),
    "swin": (
        "SwinForImageClassification",
        {"image_size": 112, "window_size": 7, "embed_dim": 16, "depths": [2, 10, 2], "num_heads": [2, 2, 4]},
        _image(112),
    ),
    "big_bird": (
        "BigBirdModel",
        {
            **_NARROW,
            "num_hidden_layers": 10,
            "block_size": 4,
            "num_random_blocks": 1,
            "max_position_embeddings": 64,
        },
        _text(48),
    ),
    "longformer": (
        "LongformerModel",
        {**_NARROW, "num_hidden_layers": 10, "attention_window": [8] * 10, "max_position_embeddings": 64},
        _text(16),
    ),
    "sam_vision_model": (
        "SamVisionModel",
        {
            "hidden_size": 32,
            "num_hidden_layers": 11,
            "num_attention_heads": 4,
            "image_size": 32,
            "patch_size": 4,
            "mlp_dim": 40,
            "output_channels": 8,
            "window_size": 2,
            "global_attn_indexes": [2, 5, 8],
            "num_pos_feats": 4,
        },
        _image(32),
    ),
}
"""Every kind of depth: plain, alternating attention, attention and state-space mixes, dense and sparse mixes,
encoder with decoder, stages, index lists."""


def make(name):
    """A model of ``MODELS`` with real weights, and its inputs."""
    import transformers

    cls, values, inputs = MODELS[name]
    torch.manual_seed(0)
    config = transformers.CONFIG_MAPPING[name](**values)
    return getattr(transformers, cls)(config).eval(), inputs()
