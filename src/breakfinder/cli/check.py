"""``breakfinder check``: from a model's name to a report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from breakfinder.cli.target_options import check_options, optional_target_options
from breakfinder.errors import UsageError

if TYPE_CHECKING:
    from breakfinder.pipeline import CheckResult
    from breakfinder.several import SeveralResult

EXIT_CODES = {"ok": 0, "findings": 1, "failed": 3}
EXIT_INTERRUPTED = 130
EXIT_UNUSABLE = 2
_DEFAULT_FOLDER = Path("breakfinder-report")


@click.command("check", context_settings={"max_content_width": 100})
@optional_target_options
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    help="Of the targets in pyproject.toml, check this one; repeats.",
)
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
@click.pass_context
def command(
    context: click.Context,
    /,
    target: str | None,
    only: tuple[str, ...],
    outputs: tuple[str, ...],
    open_page: bool,
    quiet: bool,
    patch_file: str,
    **given: Any,
) -> None:
    """Find, explain and report the graph breaks of TARGET, or of all targets in pyproject.toml.

    TARGET is a Transformers model type (llama; hf:gpt2 means the hub), a hub id (org/name), a local ./folder
    with config.json, path/to/file.py:Model, or package.module:attr.  Without it, the targets of
    [tool.breakfinder.targets] are checked, and the exit code is the worst; options that are given go before
    those of the file.  Exit codes: 0 no findings, 1 findings, 2 usage, 3 the model could not be run (its
    report is still written).
    """
    from breakfinder.cli.output import Outputs, ShownProgress, check_writable
    from breakfinder.report.write import write_text

    if target is not None and only:
        raise UsageError("--only is about the targets in pyproject.toml", "leave out TARGET, or --only")
    if target is None:
        from breakfinder.cli.configured_targets import find_targets

        root, asked = find_targets(context, only, given)
        if patch_file and len(asked) > 1:
            raise UsageError("--patch is about one target", "choose one with --only NAME")
    else:
        options = check_options(**given)
    destinations = Outputs.parse(outputs, _DEFAULT_FOLDER, quiet)
    if patch_file:
        check_writable(Path(patch_file))
        patch_file = str(Path(patch_file).absolute())
    if target is None:
        destinations.enter(root)
    destinations.prepare()
    invoked = ["breakfinder", *sys.argv[1:]]
    done: CheckResult | SeveralResult
    with ShownProgress(shown=not quiet) as progress:
        if target is None:
            from breakfinder.several import check_several

            done = check_several(asked, progress.update_of, invoked)
        else:
            from breakfinder.pipeline import check_target

            done = check_target(target, options, progress.update, invoked)
    destinations.write(done.document)
    if patch_file:
        write_text(Path(patch_file), done.patch)
    if open_page:
        destinations.open_page()
    sys.exit(EXIT_INTERRUPTED if done.interrupted else exit_code(done))


def exit_code(done: CheckResult | SeveralResult) -> int:
    """Of one check; of several, the worst."""
    from breakfinder.pipeline import CheckResult

    if isinstance(done, CheckResult):
        return EXIT_UNUSABLE if done.unusable else EXIT_CODES[done.report.status]
    return max(exit_code(result) for result in done.results)
