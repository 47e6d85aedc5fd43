"""``breakfinder init``: write a start for the configuration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from breakfinder.config import FILE_NAME

if TYPE_CHECKING:
    from breakfinder.survey import Survey

_MOST = 10


@click.command("init")
@click.option(
    "--dry-run", is_flag=True, help="Print what would be written to pyproject.toml, and change nothing."
)
def command(dry_run: bool) -> None:
    """Look at the repository, and write a start for [tool.breakfinder] into pyproject.toml.

    The source is read, not run: module classes that no other is made of, compiled functions, folders with a
    config.json.  What lacks inputs or arguments is written as a comment that says so.
    """
    from breakfinder.starter import starter, with_starter, write_starter
    from breakfinder.survey import survey

    root = _root(Path.cwd())
    path = root / FILE_NAME
    found = survey(root)
    text = starter(found)
    if dry_run:
        with_starter(path, text)
        click.echo(text, nl=False)
    else:
        write_starter(path, text)
    _tell(found)
    ready = any(candidate.ready for candidate in found.candidates)
    where = "" if ready or dry_run else f"fill in a target in {path.name}, then "
    if not dry_run:
        click.echo(f"wrote {path.name}", err=True)
    click.echo(f"next: {where}`breakfinder {'init' if dry_run else 'check'}`", err=True)


def _root(folder: Path) -> Path:
    """The nearest folder, upwards, with a pyproject.toml or of a repository; else the folder itself."""
    for candidate in (folder, *folder.parents):
        if (candidate / FILE_NAME).is_file() or (candidate / ".git").exists():
            return candidate
    return folder


def _tell(found: Survey) -> None:
    for candidate in found.candidates:
        lacks = ["inputs"] * candidate.missing_inputs + ["a look at its inputs"] * candidate.unsure_inputs
        lacks += ["constructor arguments"] * bool(candidate.missing_arguments)
        click.echo(f"{candidate.target}: {'needs ' + ' and '.join(lacks) if lacks else 'ready'}", err=True)
    for name, places in (
        ("example_inputs", found.inputs),
        ("torch.compile", found.compiled),
        ("cannot be read", found.unreadable),
    ):
        if places:
            more = f" and {len(places) - _MOST} more" if len(places) > _MOST else ""
            click.echo(f"{name}: {', '.join(places[:_MOST])}{more}", err=True)
    if not found.candidates:
        click.echo("nothing to check was found", err=True)
