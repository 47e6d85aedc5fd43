"""Which class a config is built as, and how."""

from __future__ import annotations

import pytest
import torch
import transformers

from breakfinder.errors import UsageError
from breakfinder.options import BuildOptions
from breakfinder.targets.transformers_models import (
    choose_class,
    default_config,
    instantiate,
    model_types,
    runs_as,
    tasks_of,
)


@pytest.mark.parametrize(
    ("model_type", "name"),
    [
        ("llama", "LlamaForCausalLM"),
        ("bert", "BertForMaskedLM"),
        ("t5", "T5ForConditionalGeneration"),
        ("vit", "ViTForImageClassification"),
        ("whisper", "WhisperForConditionalGeneration"),
        ("wav2vec2", "Wav2Vec2ForCTC"),
        ("detr", "DetrForObjectDetection"),
        ("llava", "LlavaForConditionalGeneration"),
        ("clip", "CLIPModel"),
        ("clip_vision_model", "CLIPVisionModel"),
        ("siglip_text_model", "SiglipTextModel"),
        ("patchtst", "PatchTSTForClassification"),
    ],
)
def test_the_most_specific_head_is_chosen(model_type: str, name: str) -> None:
    assert choose_class(default_config(model_type)).__name__ == name


def test_the_architecture_that_a_config_names_comes_first() -> None:
    config = transformers.BertConfig(architectures=["BertForQuestionAnswering"])
    assert choose_class(config) is transformers.BertForQuestionAnswering


def test_an_architecture_that_transformers_does_not_have_is_passed_over() -> None:
    config = transformers.BertConfig(architectures=["BertForNobody"])
    assert choose_class(config) is transformers.BertForMaskedLM


@pytest.mark.parametrize(
    ("task", "name"),
    [
        ("question-answering", "BertForQuestionAnswering"),
        ("text-classification", "BertForSequenceClassification"),
        ("fill-mask", "BertForMaskedLM"),
        ("causal_lm", "BertLMHeadModel"),
        ("base", "BertModel"),
    ],
)
def test_a_task_chooses_another_head(task: str, name: str) -> None:
    assert choose_class(default_config("bert"), task=task).__name__ == name


def test_a_misspelt_task_gets_a_suggestion() -> None:
    with pytest.raises(UsageError) as raised:
        choose_class(default_config("bert"), task="question-answerin")
    assert "no task 'question-answerin'" in raised.value.message
    assert "question-answering" in raised.value.hint


def test_a_task_that_the_model_has_no_head_for_lists_those_that_it_has() -> None:
    with pytest.raises(UsageError) as raised:
        choose_class(default_config("llama"), task="object-detection")
    assert "llama has no class for the task" in raised.value.message
    assert "causal-lm" in raised.value.hint


def test_a_class_can_be_named() -> None:
    assert choose_class(default_config("llama"), class_name="LlamaModel") is transformers.LlamaModel


def test_a_misspelt_class_gets_a_suggestion() -> None:
    with pytest.raises(UsageError) as raised:
        choose_class(default_config("llama"), class_name="LlamaForCausalML")
    assert "LlamaForCausalLM" in raised.value.hint


def test_a_class_of_another_model_is_refused() -> None:
    with pytest.raises(UsageError) as raised:
        choose_class(default_config("llama"), class_name="BertModel")
    assert "BertModel is built from BertConfig, not from LlamaConfig" in raised.value.message


def test_what_is_no_model_class_is_refused() -> None:
    with pytest.raises(UsageError, match="no model class 'LlamaConfig'"):
        choose_class(default_config("llama"), class_name="LlamaConfig")


def test_a_misspelt_model_type_gets_a_suggestion() -> None:
    with pytest.raises(UsageError) as raised:
        default_config("lama")
    assert "no model type 'lama'" in raised.value.message
    assert "llama" in raised.value.hint


def test_a_part_that_is_no_model_says_so() -> None:
    with pytest.raises(UsageError, match="no model class for SamMaskDecoderConfig"):
        choose_class(default_config("sam_mask_decoder"))


def test_all_model_types_are_known() -> None:
    assert {"llama", "detr", "clip_vision_model"} <= set(model_types())
    assert len(model_types()) == len(list(transformers.CONFIG_MAPPING.keys()))


def test_tasks_come_most_specific_first() -> None:
    tasks = list(tasks_of(default_config("whisper")))
    assert tasks[0] == "speech-seq-2-seq"
    assert tasks.index("audio-classification") < tasks.index("base")


def test_placeholders_that_defaults_leave_open_are_filled_in() -> None:
    config = default_config("voxtral")
    assert 0 <= config.audio_token_id < config.text_config.vocab_size


def small_llama() -> transformers.LlamaConfig:
    return transformers.LlamaConfig(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2, vocab_size=99
    )


def test_a_model_is_built_on_the_active_device_in_evaluation_mode() -> None:
    with torch.device("meta"):
        model = instantiate(transformers.LlamaForCausalLM, small_llama())
    assert not model.training
    assert {parameter.device.type for parameter in model.parameters()} == {"meta"}
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}


def test_dtype_and_attention_are_as_asked_for() -> None:
    model = instantiate(transformers.LlamaForCausalLM, small_llama(), "bfloat16", "eager")
    assert {parameter.dtype for parameter in model.parameters()} == {torch.bfloat16}
    assert model.config._attn_implementation == "eager"
    assert torch.get_default_dtype() == torch.float32


@pytest.mark.parametrize("dtype", ["float31", "int8", "nn"])
def test_what_is_no_floating_dtype_is_refused(dtype: str) -> None:
    with pytest.raises(UsageError, match=f"no floating dtype '{dtype}'"):
        instantiate(transformers.LlamaForCausalLM, small_llama(), dtype)


def test_an_attention_implementation_that_there_is_not_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot use the attention implementation 'quick'"):
        instantiate(transformers.LlamaForCausalLM, small_llama(), "", "quick")


def test_sizes_that_defaults_leave_open_or_at_odds_are_made_to_agree() -> None:
    ministral = default_config("ministral")
    assert ministral.head_dim == ministral.hidden_size // ministral.num_attention_heads
    qwen = default_config("qwen2_5_vl")
    assert qwen.vision_config.out_hidden_size == qwen.text_config.hidden_size
    idefics = default_config("idefics3")
    side = idefics.vision_config.image_size // idefics.vision_config.patch_size
    assert side % idefics.scale_factor == 0


def test_a_config_that_cannot_be_called_is_found_out() -> None:
    runs = runs_as(transformers.LlamaForCausalLM, BuildOptions())
    runs(small_llama())
    config = small_llama()
    config.num_key_value_heads = 3
    with pytest.raises(RuntimeError):
        runs(config)
