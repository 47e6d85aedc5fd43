"""The ways in which a Transformers model is called: one forward pass, decoding with a cache, training."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
import transformers

from breakfinder.errors import UsageError
from breakfinder.options import BuildOptions
from breakfinder.targets.inputs import synthesise
from breakfinder.targets.inputs.labels import with_labels
from breakfinder.targets.inputs.multimodal import running
from breakfinder.targets.subject import Call, Calls, Scenario

STEPS = 3
"""Single-token steps after the prefill of a decode scenario."""

DECODE = ("decode-dynamic", "decode-static")
NAMES = ("forward", *DECODE, "train")
_GROUPS = {"decode": DECODE, "all": NAMES}


def scenarios(model: Any, config: Any, options: BuildOptions) -> list[Scenario]:
    """The scenarios that are asked for, in the order of `NAMES`.

    ``decode`` stands for both ways to decode, ``all`` for all scenarios: those of them that fit the model.
    Raises UsageError for a scenario that there is not, or where nothing of what is asked for fits the model.
    """
    reasons = {name: _unfit(model, config, name) for name in NAMES}
    makers: dict[str, Callable[[], Scenario]] = {
        "forward": lambda: _forward(model, config, options),
        "decode-dynamic": lambda: _decode(model, config, options, static=False),
        "decode-static": lambda: _decode(model, config, options, static=True),
        "train": lambda: _train(model, config, options),
    }
    wanted: set[str] = set()
    for name in options.scenarios:
        group = _GROUPS.get(name, (name,))
        if not set(group) <= set(NAMES):
            raise UsageError(f"no scenario '{name}'", f"choose {', '.join(NAMES)}, decode or all")
        fitting = {member for member in group if not reasons[member]}
        if not fitting:
            raise UsageError(
                f"the scenario '{name}' does not fit {type(model).__name__}: {reasons[group[0]]}",
                "choose forward",
            )
        wanted |= fitting
    return [makers[name]() for name in NAMES if name in wanted]


def _unfit(model: Any, config: Any, name: str) -> str:
    """Why a scenario does not fit a model; empty if it does."""
    if name not in DECODE:
        return ""
    if not isinstance(model, transformers.GenerationMixin):
        return "it does not generate"
    if not cache_argument(model):
        return "its forward method takes no KV cache"
    if name == "decode-static" and not getattr(model, "_can_compile_fullgraph", False):
        return "transformers does not support a static cache for it"
    return ""


def cache_argument(model: Any) -> str:
    """The parameter that takes the KV cache: ``cache`` from transformers 5.2x on, before that
    ``past_key_values``.
    """
    parameters = inspect.signature(model.forward).parameters
    return next((name for name in ("cache", "past_key_values") if name in parameters), "")


def _inputs(model: Any, config: Any, options: BuildOptions, variant: int = 0) -> dict[str, Any]:
    return synthesise(
        model,
        config,
        batch_size=options.batch_size,
        seq_len=options.seq_len,
        device=options.device,
        variant=variant,
    )


def _fresh(value: Any) -> Any:
    """A copy, so that what a model does to its inputs stays with one run."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    if isinstance(value, (list, tuple)):
        return type(value)(_fresh(item) for item in value)
    if isinstance(value, dict):
        return {key: _fresh(item) for key, item in value.items()}
    return value


def _forward(model: Any, config: Any, options: BuildOptions) -> Scenario:
    """Two calls, the second with other sizes."""
    first, second = (_inputs(model, config, options, variant) for variant in (0, 1))

    def calls() -> Calls:
        yield Call(kwargs=_fresh(first))
        yield Call(kwargs=_fresh(second))

    return Scenario("forward", calls, training=False, grad=not options.no_grad)


def _train(model: Any, config: Any, options: BuildOptions) -> Scenario:
    """Forward and backward, twice."""
    both = [with_labels(model, config, _inputs(model, config, options, variant)) for variant in (0, 1)]

    def calls() -> Calls:
        for inputs in both:
            output = yield Call(kwargs=_fresh(inputs))
            loss_of(output).backward()
            model.zero_grad()

    return Scenario("train", calls, training=True, grad=True, backends=("eager", "aot_eager"))


def loss_of(output: Any) -> torch.Tensor:
    """The loss that a model gives, else the sum of its differentiable outputs."""
    loss = getattr(output, "loss", None)
    if isinstance(loss, torch.Tensor):
        return loss
    terms = [
        tensor.float().sum()
        for tensor in _tensors(output)
        if tensor.requires_grad and not tensor.is_complex()
    ]
    if not terms:
        raise UsageError("none of the model's outputs can be differentiated", "choose the forward scenario")
    return torch.stack(terms).sum()


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value] if value.is_floating_point() else []
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [tensor for item in items for tensor in _tensors(item)]


def _decode(model: Any, config: Any, options: BuildOptions, static: bool) -> Scenario:
    """The prompt, then single tokens, each given with the cache that the call before filled."""
    inputs = _inputs(model, config, options)
    cache_name = cache_argument(model)
    ids_name = "decoder_input_ids" if "decoder_input_ids" in inputs else "input_ids"
    prompt = inputs[ids_name]
    source = _encoded_length(model, inputs) if static else 0
    takes_use_cache = "use_cache" in inspect.signature(model.forward).parameters

    def calls() -> Calls:
        kwargs = _fresh(inputs)
        if takes_use_cache:
            kwargs["use_cache"] = True
        if static:
            kwargs[cache_name] = _static_cache(config, prompt.shape[1] + STEPS, source)
        output = yield Call(kwargs=kwargs)
        for _ in range(STEPS):
            kwargs = _step(kwargs, output, ids_name, cache_name)
            output = yield Call(kwargs=kwargs)

    return Scenario("decode-static" if static else "decode-dynamic", calls, training=False, grad=False)


def _static_cache(config: Any, length: int, source: int) -> Any:
    """An empty cache for ``length`` tokens, and for ``source`` encoded ones if there are any."""
    cache = transformers.StaticCache(config=config, max_cache_len=length)
    if not source:
        return cache
    return transformers.EncoderDecoderCache(
        cache, transformers.StaticCache(config=config, max_cache_len=source)
    )


def _encoded_length(model: Any, inputs: dict[str, Any]) -> int:
    """How many tokens, frames or patches the encoder gives for these inputs; 0 if there is none."""
    if "decoder_input_ids" not in inputs:
        return 0
    encoder = model.get_encoder()
    accepted = inspect.signature(encoder.forward).parameters
    with running(model):
        encoded = encoder(**{name: value for name, value in inputs.items() if name in accepted})
    return int(encoded[0].shape[1])


def _step(kwargs: dict[str, Any], output: Any, ids_name: str, cache_name: str) -> dict[str, Any]:
    """The arguments of the next single-token call."""
    ids = kwargs[ids_name]
    step = {name: value for name, value in kwargs.items() if name in ("use_cache", "attention_mask")}
    step[ids_name] = ids[:, -1:].clone()
    step[cache_name] = getattr(output, cache_name, None)
    if step[cache_name] is None:
        raise UsageError("the model gives no KV cache to decode with", "choose the forward scenario")
    if ids_name == "decoder_input_ids":
        step["encoder_outputs"] = kwargs.get("encoder_outputs") or (output.encoder_last_hidden_state,)
    elif "attention_mask" in step:
        mask = step["attention_mask"]
        step["attention_mask"] = torch.cat([mask, mask.new_ones(mask.shape[0], 1)], 1)
    return step
