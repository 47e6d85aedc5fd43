"""The options of every command that runs a model: how it is built, called and limited."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click

from breakfinder.errors import UsageError
from breakfinder.options import BuildOptions, CheckOptions

_SIZES = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def parse_size(text: str) -> int:
    """``8G``, ``512M``, ``1.5GiB`` or a number of bytes.  Raises UsageError for anything else."""
    cleaned = text.strip().lower().removesuffix("ib").removesuffix("b")
    factor = _SIZES.get(cleaned[-1:], 1)
    number = cleaned[:-1] if cleaned[-1:] in _SIZES else cleaned
    try:
        size = int(float(number) * factor)
    except (ValueError, OverflowError):
        size = 0
    if size <= 0:
        raise UsageError(f"'{text}' is no amount of memory", "e.g. 8G or 512M")
    return size


def parse_json_object(text: str, option: str) -> dict[str, Any]:
    """A JSON object given on the command line.  Raises UsageError if it is none."""
    if not text:
        return {}
    try:
        value = json.loads(text)
    except ValueError as error:
        raise UsageError(
            f"{option} is no JSON: {error}", f"""e.g. {option} '{{"hidden_size": 64}}'"""
        ) from error
    if not isinstance(value, dict):
        raise UsageError(f"{option} is no JSON object", f"""e.g. {option} '{{"hidden_size": 64}}'""")
    return value


def parse_config(pairs: tuple[str, ...]) -> dict[str, Any]:
    """``name=value`` pairs, the values in JSON.  Raises UsageError for anything else."""
    config = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        try:
            config[name] = json.loads(text.lower() if text.lower() in ("true", "false") else text)
        except ValueError:
            equals = ""
        if not equals or not name.isidentifier():
            raise UsageError(
                f"--dynamo-config {pair} is no NAME=VALUE", "e.g. --dynamo-config capture_scalar_outputs=true"
            )
    return config


_OPTIONS = [
    click.option(
        "--scenario",
        "scenarios",
        multiple=True,
        default=("forward",),
        show_default=True,
        metavar="NAME",
        help="forward, decode, train, or all that fit the model; repeats.",
    ),
    click.option(
        "--weights",
        type=click.Choice(["none", "random", "real"]),
        help="none: fake tensors, nothing downloaded but the config; random; real: safetensors.  "
        "[default: none; a Python target of up to 1 GiB is built as it is]",
    ),
    click.option(
        "--shrink",
        is_flag=True,
        help="Make a small model of the same kinds of layers (with --weights random).",
    ),
    click.option(
        "--depth",
        default="auto",
        show_default=True,
        metavar="auto|full|N",
        help="auto: one of each distinct kind of repeated layer; full: all; or N layers.",
    ),
    click.option("--task", default="", help="Task of the model's head, e.g. text-classification."),
    click.option(
        "--class", "class_name", default="", help="Transformers class to build, e.g. BertForMaskedLM."
    ),
    click.option(
        "--inputs", default="", metavar="FILE.py:FUNCTION", help="Where the example inputs come from."
    ),
    click.option("--model-kwargs", default="", metavar="JSON", help="Arguments of the class's constructor."),
    click.option("--batch-size", type=click.IntRange(1), help="Rows in synthesised inputs."),
    click.option("--seq-len", type=click.IntRange(1), help="Tokens in synthesised inputs."),
    click.option("--dtype", default="", help="e.g. bfloat16."),
    click.option(
        "--device", default="cpu", show_default=True, help="e.g. cuda (needs --weights random or real)."
    ),
    click.option("--attn-implementation", default="", help="e.g. eager, sdpa, flex_attention."),
    click.option(
        "--training", is_flag=True, help="Leave a Python target in training mode in the forward scenario."
    ),
    click.option("--no-grad", is_flag=True, help="Call a Python target under torch.no_grad()."),
    click.option("--revision", default="", help="Branch, tag or commit of a hub repository."),
    click.option(
        "--trust-remote-code",
        is_flag=True,
        help="Run the repository's own code; needs --revision with a full commit hash.",
    ),
    click.option(
        "--dynamo-config",
        multiple=True,
        metavar="NAME=VALUE",
        help="A value of torch._dynamo.config; repeats.",
    ),
    click.option(
        "--fix-timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=60.0,
        show_default=True,
        help="Seconds for all trials of fixes and settings.",
    ),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=600.0,
        show_default=True,
        help="Seconds after which the model is stopped.",
    ),
    click.option(
        "--memory-limit", default="", metavar="SIZE", help="e.g. 8G.  [default: 85 % of what is available]"
    ),
]


def target_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the argument TARGET and these options, which `check_options` takes."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return click.argument("target")(command)


def optional_target_options(command: Callable[..., None]) -> Callable[..., None]:
    """`target_options` where TARGET may be left out."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return click.argument("target", required=False)(command)


def check_options(
    *,
    memory_limit: str,
    model_kwargs: str,
    dynamo_config: tuple[str, ...],
    timeout: float,
    fix_timeout: float,
    fixes: bool = True,
    knobs: bool = True,
    conditional_fixes: bool = True,
    **build: Any,
) -> CheckOptions:
    """The options as they were given on the command line.  Raises UsageError for what cannot be used."""
    build["model_kwargs"] = parse_json_object(model_kwargs, "--model-kwargs")
    return CheckOptions(
        build=BuildOptions(**build),
        dynamo_config=parse_config(dynamo_config),
        fixes=fixes,
        knobs=knobs,
        conditional_fixes=conditional_fixes,
        fix_timeout=fix_timeout,
        timeout=timeout,
        memory_limit=parse_size(memory_limit) if memory_limit else None,
    )
