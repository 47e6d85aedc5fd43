"""``breakfinder lint``: likely graph breaks, found by reading source."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from breakfinder.cli.lint_settings import config_of, session_of
from breakfinder.errors import UsageError

if TYPE_CHECKING:
    from breakfinder.config import Config
    from breakfinder.lint.edits import Change, Edit
    from breakfinder.lint.session import Outcome, Session

Command = TypeVar("Command", bound=Callable[..., Any])

FORMATS = ("text", "json", "github", "gitlab", "sarif", "junit", "markdown")
EXIT_INTERRUPTED = 130
STANDARD_INPUT = "-"
MOST_ROUNDS = 10
"""A fix may bring more code into reach of what is compiled, in this file or another."""


def _split(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> list[str]:
    """Comma-separated values of an option that may be repeated."""
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def _codes(name: str, text: str) -> Callable[[Command], Command]:
    return click.option(name, multiple=True, metavar="CODES", callback=_split, help=text)


@click.command("lint", context_settings={"max_content_width": 100})
@click.argument("paths", nargs=-1, metavar="PATH...")
@_codes("--select", "Rules to look for: codes, how they begin (BF1), or ALL; commas, or repeated.")
@_codes("--ignore", "Rules not to look for; of --select and --ignore the longer code decides.")
@click.option(
    "--per-file-ignores",
    multiple=True,
    metavar="PATTERN:CODES",
    help="Rules not to look for in some files, e.g. 'tests/:BF2'; repeats.",
)
@click.option(
    "--exclude",
    multiple=True,
    metavar="PATTERN",
    callback=_split,
    help="Files and folders to leave out, as in .gitignore, beside those of the settings.",
)
@click.option("--force-exclude", is_flag=True, help="Leave out excluded files even if they are named.")
@click.option("--no-gitignore", is_flag=True, help="Look into what .gitignore leaves out.")
@click.option("--all-functions", is_flag=True, help="Look into code that is not known to be compiled, too.")
@click.option(
    "--confidence",
    type=click.Choice(["high", "medium", "low"]),
    help="The least confidence of what is shown.  [default: high]",
)
@click.option("--output-format", type=click.Choice(FORMATS), help="[default: text]")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to a file.", metavar="FILE"
)
@click.option("--statistics", is_flag=True, help="Show how often each rule was found, not where.")
@click.option("--add-noqa", is_flag=True, help="Add a `# noqa: CODE` comment for everything that is found.")
@click.option("--fix", is_flag=True, help="Apply the fixes that are safe.")
@click.option(
    "--unsafe-fixes", is_flag=True, help="Apply those that need a review, too (with --fix or --diff)."
)
@click.option("--diff", is_flag=True, help="Print what --fix would change, and change nothing.")
@click.option("--show-files", is_flag=True, help="List the files that would be looked at.")
@click.option("--stdin-filename", metavar="FILE", help="What standard input (PATH -) is called.")
@click.option("--jobs", type=click.IntRange(1), help="Processes at most.  [default: one for each core]")
@click.option("--no-cache", is_flag=True, help="Neither use nor keep what is known of unchanged files.")
@click.option(
    "--cache-dir",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Where it is kept.",
)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A pyproject.toml to read settings from.",
)
@click.option("--isolated", is_flag=True, help="Read no settings.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever is found.")
@click.option("-q", "--quiet", is_flag=True, help="Print what is found, and nothing else.")
def command(paths: tuple[str, ...], **options: Any) -> None:
    """Find likely graph breaks in Python files and notebooks, without running them.

    PATH is a file or a folder; '-' is standard input; the working directory if there is none.  Settings are read
    from [tool.breakfinder] of the nearest pyproject.toml.  Exit codes: 0 nothing found, 1 something found,
    2 usage.
    """
    try:
        found = _run([Path(path) for path in paths or (".",)], options)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    sys.exit(int(found and not options["exit_zero"]))


@dataclass
class _Input:
    """What the user wants looked at: files, or one text on standard input."""

    session: Session
    paths: list[Path]
    name: str = ""
    """What standard input is called; empty: it is files."""
    content: bytes = b""

    def lint(self) -> Outcome:
        if self.name:
            return self.session.lint_text(self.name, self.content)
        return self.session.lint(self.paths)

    def edits(self, change: Change) -> list[Edit]:
        if self.name:
            return self.session.text_edits(self.name, self.content, change)
        return self.session.edits(self.paths, change)

    def apply(self, change: Change) -> int:
        """Carry out a change, and again as long as it changes anything; how many findings are gone."""
        count = 0
        for _ in range(MOST_ROUNDS):
            edits = self.edits(change)
            for edit in edits:
                count += edit.count
                if self.name:
                    self.content = edit.after
                else:
                    edit.write()
            if not edits:
                break
        return count


def _run(paths: list[Path], options: dict[str, Any]) -> bool:
    """Do what the options say; whether anything is left to complain about."""
    chosen = [name for name in ("fix", "diff", "add_noqa", "show_files") if options[name]]
    if len(chosen) > 1 and chosen != ["fix", "diff"]:
        names = " and ".join(f"--{name.replace('_', '-')}" for name in chosen)
        raise UsageError(f"{names} exclude each other", "give one of them")
    if options["unsafe_fixes"] and not (options["fix"] or options["diff"]):
        raise UsageError("--unsafe-fixes changes nothing by itself", "add --fix or --diff")
    config = config_of(options)
    session = session_of(config, options)
    if options["show_files"]:
        from breakfinder.lint.files import shown

        _write(b"".join(os.fsencode(f"{shown(file)}\n") for file in session.find(paths).files))
        return False
    given = _given(session, paths, options)
    if options["diff"] or options["add_noqa"] or options["fix"]:
        found = _change(given, config, options)
    else:
        outcome = given.lint()
        _show(outcome, config, options)
        found = bool(outcome.findings)
    if session.cache.fault and not options["quiet"]:
        click.echo(f"note: the cache cannot be written: {session.cache.fault}", err=True)
    return found


def _given(session: Session, paths: list[Path], options: dict[str, Any]) -> _Input:
    if Path(STANDARD_INPUT) not in paths:
        return _Input(session, paths)
    if len(paths) > 1:
        raise UsageError("standard input cannot be looked at together with files", "give '-' alone")
    return _Input(session, [], options["stdin_filename"] or "stdin.py", sys.stdin.buffer.read())


def _change(given: _Input, config: Config, options: dict[str, Any]) -> bool:
    """Change the files, or show how they would be changed; whether anything is left to complain about."""
    from breakfinder.lint import edits

    change = edits.fix_all if options["unsafe_fixes"] else edits.fix_safe
    if options["diff"]:
        proposed = given.edits(change)
        _write(b"".join(edit.diff for edit in proposed))
        return bool(proposed)
    count = given.apply(edits.add_noqa if options["add_noqa"] else change)
    if given.name:
        _write(given.content)
    if options["add_noqa"]:
        if not options["quiet"]:
            click.echo(
                f"Added comments for {count} problem{'' if count == 1 else 's'}.", err=bool(given.name)
            )
        return False
    outcome = given.lint()
    _show(outcome, config, options, fixed=count, to_error=bool(given.name))
    return bool(outcome.findings)


def _write(content: bytes) -> None:
    """Bytes to standard output: what comes from files is not always text."""
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def _show(
    outcome: Outcome, config: Config, options: dict[str, Any], *, fixed: int = 0, to_error: bool = False
) -> None:
    from breakfinder.cli.output import check_writable
    from breakfinder.report.write import write_text

    rendering = _Rendering(
        options["output_format"] or config.settings.output_format,
        statistics=options["statistics"],
        quiet=options["quiet"],
        unsafe=options["unsafe_fixes"],
        fixed=fixed,
    )
    if options["output"] is not None:
        check_writable(options["output"])
        write_text(options["output"], rendering.render(outcome, terminal=False))
    else:
        terminal = (sys.stderr if to_error else sys.stdout).isatty()
        click.echo(rendering.render(outcome, terminal=terminal), nl=False, err=to_error)


@dataclass(frozen=True)
class _Rendering:
    """How to show an outcome."""

    format: str
    statistics: bool
    quiet: bool
    unsafe: bool
    fixed: int

    def render(self, outcome: Outcome, *, terminal: bool) -> str:
        from breakfinder.lint import problems, text

        if self.statistics:
            return text.statistics(outcome)
        if self.format == "text":
            color = terminal and not os.environ.get("NO_COLOR")
            last = "" if self.quiet else text.summary(outcome, fixed=self.fixed, unsafe=self.unsafe)
            return text.render_text(outcome, color=color, source=terminal) + last
        if self.format == "json":
            return problems.render_json(outcome)
        module = importlib.import_module(f"breakfinder.report.render.{self.format}")
        rendered: str = getattr(module, f"render_{self.format}")(problems.of_outcome(outcome))
        return rendered
