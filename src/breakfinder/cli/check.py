"""``breakfinder check``: from a model's name to a report."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from breakfinder.errors import UsageError
from breakfinder.options import BuildOptions, CheckOptions

EXIT_CODES = {"ok": 0, "findings": 1, "failed": 3}
EXIT_INTERRUPTED = 130
_DEFAULT_FOLDER = Path("breakfinder-report")
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


@click.command("check", context_settings={"max_content_width": 100})
@click.argument("target")
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    metavar="FORMAT[=FILE]",
    help="Write text, html, json, sarif, markdown, github, gitlab or junit to FILE, '-' for standard output; "
    "repeats.  [default: text on the terminal, html and json under ./breakfinder-report/]",
)
@click.option("--open", "open_page", is_flag=True, help="Open the HTML report in the browser.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
@click.option(
    "--scenario",
    "scenarios",
    multiple=True,
    default=("forward",),
    show_default=True,
    metavar="NAME",
    help="forward, decode, train, or all that fit the model; repeats.",
)
@click.option(
    "--weights",
    type=click.Choice(["none", "random", "real"]),
    help="none: fake tensors, nothing downloaded but the config; random; real: safetensors.  "
    "[default: none; a Python target of up to 1 GiB is built as it is]",
)
@click.option(
    "--shrink", is_flag=True, help="Make a small model of the same kinds of layers (with --weights random)."
)
@click.option(
    "--depth",
    default="auto",
    show_default=True,
    metavar="auto|full|N",
    help="auto: one of each distinct kind of repeated layer; full: all; or N layers.",
)
@click.option("--task", default="", help="Task of the model's head, e.g. text-classification.")
@click.option("--class", "class_name", default="", help="Transformers class to build, e.g. BertForMaskedLM.")
@click.option("--inputs", default="", metavar="FILE.py:FUNCTION", help="Where the example inputs come from.")
@click.option("--model-kwargs", default="", metavar="JSON", help="Arguments of the class's constructor.")
@click.option("--batch-size", type=click.IntRange(1), help="Rows in synthesised inputs.")
@click.option("--seq-len", type=click.IntRange(1), help="Tokens in synthesised inputs.")
@click.option("--dtype", default="", help="e.g. bfloat16.")
@click.option(
    "--device", default="cpu", show_default=True, help="e.g. cuda (needs --weights random or real)."
)
@click.option("--attn-implementation", default="", help="e.g. eager, sdpa, flex_attention.")
@click.option(
    "--training", is_flag=True, help="Leave a Python target in training mode in the forward scenario."
)
@click.option("--no-grad", is_flag=True, help="Call a Python target under torch.no_grad().")
@click.option("--revision", default="", help="Branch, tag or commit of a hub repository.")
@click.option(
    "--trust-remote-code",
    is_flag=True,
    help="Run the repository's own code; needs --revision with a full commit hash.",
)
@click.option(
    "--dynamo-config", multiple=True, metavar="NAME=VALUE", help="A value of torch._dynamo.config; repeats."
)
@click.option(
    "--fixes/--no-fixes", default=True, show_default=True, help="Try and prove fixes, and try settings."
)
@click.option(
    "--fix-timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=180.0,
    show_default=True,
    help="Seconds for all trials of fixes and settings.",
)
@click.option(
    "--patch", "patch_file", default="", metavar="FILE", help="Write the fixes that held, for 'git apply'."
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=600.0,
    show_default=True,
    help="Seconds after which the model is stopped.",
)
@click.option(
    "--memory-limit", default="", metavar="SIZE", help="e.g. 8G.  [default: 85 % of what is available]"
)
def command(
    target: str,
    outputs: tuple[str, ...],
    open_page: bool,
    quiet: bool,
    memory_limit: str,
    model_kwargs: str,
    dynamo_config: tuple[str, ...],
    fixes: bool,
    fix_timeout: float,
    patch_file: str,
    timeout: float,
    **build: Any,
) -> None:
    """Find, explain and report the graph breaks of TARGET.

    TARGET is a Transformers model type (llama; hf:gpt2 means the hub), a hub id (org/name), a local ./folder
    with config.json, path/to/file.py:Model, or package.module:attr.  Exit codes: 0 no findings, 1 findings,
    2 usage, 3 the model could not be run (its report is still written).
    """
    build["model_kwargs"] = parse_json_object(model_kwargs, "--model-kwargs")
    options = CheckOptions(
        build=BuildOptions(**build),
        dynamo_config=parse_config(dynamo_config),
        fixes=fixes,
        fix_timeout=fix_timeout,
        timeout=timeout,
        memory_limit=parse_size(memory_limit) if memory_limit else None,
    )
    from breakfinder.cli.output import Outputs, ShownProgress, check_writable
    from breakfinder.pipeline import check_target
    from breakfinder.report.write import write_text

    destinations = Outputs.parse(outputs, _DEFAULT_FOLDER, quiet)
    destinations.prepare()
    if patch_file:
        check_writable(Path(patch_file))
    with ShownProgress(shown=not quiet) as progress:
        result = check_target(target, options, progress.update, ["breakfinder", *sys.argv[1:]])
    destinations.write(result.report)
    if patch_file:
        write_text(Path(patch_file), result.report.patch)
    if open_page:
        destinations.open_page()
    sys.exit(EXIT_INTERRUPTED if result.interrupted else EXIT_CODES[result.report.status])
