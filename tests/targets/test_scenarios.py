"""The ways in which models are called."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers

from breakfinder.errors import UsageError
from breakfinder.options import BuildOptions
from breakfinder.targets.scenarios import cache_argument, scenarios
from breakfinder.targets.shrink import shrink
from breakfinder.targets.subject import Call, Scenario
from breakfinder.targets.transformers_models import choose_class, default_config, instantiate


def small(model_type: str) -> Any:
    config, _ = shrink(default_config(model_type))
    return instantiate(choose_class(config), config)


def made(model: Any, *names: str) -> list[Scenario]:
    return scenarios(model, model.config, BuildOptions(scenarios=names))


def run(model: Any, scenario: Scenario) -> list[tuple[Call, Any]]:
    """Make all calls of a scenario; gives each with its output."""
    model.train(bool(scenario.training))
    seen: list[tuple[Call, Any]] = []
    with torch.set_grad_enabled(scenario.grad):
        calls = scenario.calls()
        call = next(calls)
        try:
            while True:
                output = model(**call.kwargs)
                seen.append((call, output))
                call = calls.send(output)
        except StopIteration:
            return seen


def test_forward_is_two_calls_of_other_sizes() -> None:
    model = small("bert")
    (scenario,) = made(model, "forward")
    (first, _), (second, _) = run(model, scenario)
    assert first.kwargs["input_ids"].shape != second.kwargs["input_ids"].shape
    assert (scenario.training, scenario.grad, scenario.backends) == (False, True, ("eager",))


def test_each_run_starts_from_equal_inputs() -> None:
    (scenario,) = made(small("bert"), "forward")
    first = next(scenario.calls())
    first.kwargs["input_ids"].zero_()
    assert next(scenario.calls()).kwargs["input_ids"].any()


@pytest.mark.parametrize("model_type", ["llama", "gpt2"])
@pytest.mark.parametrize("name", ["decode-dynamic", "decode-static"])
def test_a_decoder_reads_the_prompt_and_then_single_tokens(model_type: str, name: str) -> None:
    model = small(model_type)
    (scenario,) = made(model, name)
    seen = run(model, scenario)
    assert [call.kwargs["input_ids"].shape[1] for call, _ in seen] == [32, 1, 1, 1]
    assert [call.kwargs["attention_mask"].shape[1] for call, _ in seen] == [32, 33, 34, 35]
    cache = seen[-1][0].kwargs[cache_argument(model)]
    assert int(cache.get_seq_length()) == 35
    assert isinstance(cache, transformers.StaticCache) == (name == "decode-static")


@pytest.mark.parametrize("model_type", ["t5", "whisper"])
@pytest.mark.parametrize("name", ["decode-dynamic", "decode-static"])
def test_an_encoder_runs_once(model_type: str, name: str) -> None:
    model = small(model_type)
    (scenario,) = made(model, name)
    encoded: list[int] = []
    model.get_encoder().register_forward_hook(lambda *_: encoded.append(1))
    seen = run(model, scenario)
    assert [call.kwargs["decoder_input_ids"].shape[1] for call, _ in seen] == [16, 1, 1, 1]
    assert len(encoded) == 1
    cache = seen[-1][0].kwargs[cache_argument(model)]
    assert isinstance(cache, transformers.EncoderDecoderCache)
    assert int(cache.get_seq_length()) == 19


def test_decoding_step_by_step_gives_what_one_pass_gives() -> None:
    model = small("llama")
    (scenario,) = made(model, "decode-static")
    seen = run(model, scenario)
    ids = torch.cat([call.kwargs["input_ids"] for call, _ in seen], 1)
    with torch.no_grad():
        whole = model(input_ids=ids).logits
    torch.testing.assert_close(seen[-1][1].logits[:, -1], whole[:, -1], rtol=1e-4, atol=1e-4)


def test_training_goes_backward_from_the_loss_and_leaves_no_gradients() -> None:
    model = small("bert")
    gradients: list[torch.Tensor] = []
    next(model.parameters()).register_hook(gradients.append)
    (scenario,) = made(model, "train")
    seen = run(model, scenario)
    assert all("labels" in call.kwargs and output.loss is not None for call, output in seen)
    assert len(gradients) == 2
    assert all(gradient.abs().sum() > 0 for gradient in gradients)
    assert all(parameter.grad is None for parameter in model.parameters())
    assert scenario.backends == ("eager", "aot_eager")


def test_training_without_a_loss_goes_backward_from_the_outputs() -> None:
    config, _ = shrink(default_config("bert"))
    model = instantiate(transformers.BertModel, config)
    gradients: list[torch.Tensor] = []
    next(model.parameters()).register_hook(gradients.append)
    run(model, made(model, "train")[0])
    assert len(gradients) == 2


def test_decode_stands_for_both_ways_and_all_for_those_that_fit() -> None:
    llama, vit = small("llama"), small("vit")
    assert [scenario.name for scenario in made(llama, "decode")] == ["decode-dynamic", "decode-static"]
    assert [scenario.name for scenario in made(llama, "all")] == [
        "forward",
        "decode-dynamic",
        "decode-static",
        "train",
    ]
    assert [scenario.name for scenario in made(vit, "all")] == ["forward", "train"]


def test_a_scenario_that_does_not_fit_says_why() -> None:
    with pytest.raises(UsageError, match="does not fit ViTForImageClassification: it does not generate"):
        made(small("vit"), "decode")


def test_decode_leaves_out_the_static_cache_where_there_is_none() -> None:
    model = small("mamba")
    (scenario,) = made(model, "decode")
    assert scenario.name == "decode-dynamic"
    assert [call.kwargs["input_ids"].shape[1] for call, _ in run(model, scenario)] == [32, 1, 1, 1]
    with pytest.raises(UsageError, match="does not support a static cache"):
        made(model, "decode-static")


def test_an_unknown_scenario_lists_those_that_there_are() -> None:
    with pytest.raises(UsageError) as raised:
        made(small("vit"), "fly")
    assert "forward" in raised.value.hint
