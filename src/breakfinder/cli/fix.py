"""``breakfinder fix``: apply the source fixes that were proved."""

from __future__ import annotations

import sys
from typing import Any

import click

from breakfinder.cli.check import EXIT_INTERRUPTED
from breakfinder.cli.target_options import check_options, target_options
from breakfinder.report.model import FixStep

_SAID = {"proved": "proved", "conditional": "proved under a condition", "failed": "did not hold"}


@click.command("fix", context_settings={"max_content_width": 100})
@target_options
@click.option("--write", is_flag=True, help="Change the files; without it the patch is printed.")
@click.option("--conditional", is_flag=True, help="Also take fixes that are proved only under a condition.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but the patch and errors.")
def command(target: str, write: bool, conditional: bool, quiet: bool, **given: Any) -> None:
    """Prove fixes for the graph breaks of TARGET, and print or apply them.

    Each fix is tried on the running model first: the problem must be gone and every result the same.  Files
    change only with --write, and only where they still are as they were analysed.  Exit codes: 0 nothing is
    left to fix, 1 problems are left, 2 usage, 3 the model could not be run.
    """
    options = check_options(conditional_fixes=conditional, knobs=False, **given)
    from breakfinder.cli.output import ShownProgress
    from breakfinder.fixes.patch import write as write_edits
    from breakfinder.pipeline import check_target

    with ShownProgress(shown=not quiet) as progress:
        result = check_target(target, options, progress.update, ["breakfinder", *sys.argv[1:]])
    report = result.report
    if report.failure is not None:
        click.echo(f"error: at '{report.failure.stage}': {report.failure.message}", err=True)
        sys.exit(EXIT_INTERRUPTED if result.interrupted else 3)
    if not write:
        click.echo(report.patch, nl=False)
    written = write_edits(result.edits) if write else []
    if not quiet:
        for step in report.steps:
            click.echo(_line(step), err=True)
        for path in written:
            click.echo(f"changed {path}", err=True)
        for text in report.notes:
            click.echo(f"note: {text}", err=True)
        click.echo(f"{_counted(len(result.left), 'problem')} left", err=True)
    sys.exit(1 if result.left else 0)


def _line(step: FixStep) -> str:
    condition = f" ({step.fix.condition})" if step.fix.verdict == "conditional" else ""
    said = _SAID.get(step.fix.verdict, step.fix.verdict)
    return f"{step.number}. {step.file}:{step.line}: {step.rule} {step.fix.title}: {said}{condition}"


def _counted(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"
