"""``breakfinder check``: from a model's name to a report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from breakfinder.cli.target_options import check_options, target_options

EXIT_CODES = {"ok": 0, "findings": 1, "failed": 3}
EXIT_INTERRUPTED = 130
_DEFAULT_FOLDER = Path("breakfinder-report")


@click.command("check", context_settings={"max_content_width": 100})
@target_options
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
    "--fixes/--no-fixes", default=True, show_default=True, help="Try and prove fixes, and try settings."
)
@click.option(
    "--patch", "patch_file", default="", metavar="FILE", help="Write the fixes that held, for 'git apply'."
)
def command(
    target: str,
    outputs: tuple[str, ...],
    open_page: bool,
    quiet: bool,
    patch_file: str,
    **given: Any,
) -> None:
    """Find, explain and report the graph breaks of TARGET.

    TARGET is a Transformers model type (llama; hf:gpt2 means the hub), a hub id (org/name), a local ./folder
    with config.json, path/to/file.py:Model, or package.module:attr.  Exit codes: 0 no findings, 1 findings,
    2 usage, 3 the model could not be run (its report is still written).
    """
    options = check_options(**given)
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
