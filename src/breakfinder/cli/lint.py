"""``breakfinder lint``: likely graph breaks, found by reading source."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from breakfinder.errors import UsageError

if TYPE_CHECKING:
    from breakfinder.config import Config
    from breakfinder.lint.session import Outcome, Session

FORMATS = ("text", "json", "github", "gitlab", "sarif", "junit", "markdown")
EXIT_INTERRUPTED = 130
STANDARD_INPUT = "-"


def _split(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> list[str]:
    """Comma-separated values of an option that may be repeated."""
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def _codes(name: str, text: str) -> Any:
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


def _run(paths: list[Path], options: dict[str, Any]) -> bool:
    """Do what the options say; whether anything is left to complain about."""
    config = _config(options)
    session = _session(config, options)
    standard_input = Path(STANDARD_INPUT) in paths
    if options["show_files"]:
        from breakfinder.lint.session import shown

        click.echo("".join(f"{shown(file)}\n" for file in session.find(paths).files), nl=False)
        return False
    if standard_input:
        if len(paths) > 1:
            raise UsageError("standard input cannot be looked at together with files", "give '-' alone")
        outcome = session.lint_text(options["stdin_filename"] or "stdin.py", sys.stdin.buffer.read())
    else:
        outcome = session.lint(paths)
    _show(outcome, config, options)
    return bool(outcome.findings)


def _config(options: dict[str, Any]) -> Config:
    from breakfinder.config import Config, find_config, read_config

    if options["isolated"] and options["config"]:
        raise UsageError("--isolated and --config exclude each other", "leave one of them out")
    if options["isolated"]:
        return Config(Path.cwd())
    return read_config(options["config"]) if options["config"] else find_config(Path.cwd())


def _session(config: Config, options: dict[str, Any]) -> Session:
    from breakfinder.lint.cache import Cache, default_folder
    from breakfinder.lint.files import DEFAULT_EXCLUDES, Exclusion, Patterns
    from breakfinder.lint.selection import Selection
    from breakfinder.lint.session import Session, known_codes

    settings = config.settings
    known = known_codes()
    configured = Selection(settings.select, settings.ignore, settings.per_file_ignores, config.root)
    configured.check(known, str(config.file))
    per_file = _per_file(options["per_file_ignores"])
    Selection(options["select"], options["ignore"], per_file).check(known, "command line")
    selection = Selection(
        options["select"] or settings.select,
        [*options["ignore"], *(() if options["select"] else settings.ignore)],
        {**settings.per_file_ignores, **per_file},
        config.root,
    )
    excludes = [*(DEFAULT_EXCLUDES if settings.exclude is None else settings.exclude)]
    excludes += [*settings.extend_exclude, *options["exclude"]]
    folder = options["cache_dir"] or (config.root / settings.cache_dir if settings.cache_dir else None)
    return Session(
        Exclusion(
            Patterns.of(config.root.absolute(), excludes),
            gitignore=settings.respect_gitignore and not options["no_gitignore"],
            force=options["force_exclude"],
        ),
        selection,
        options["confidence"] or settings.confidence,
        options["all_functions"] or settings.all_functions,
        options["jobs"] or os.cpu_count() or 1,
        Cache.open(None if options["no_cache"] else folder or default_folder(), config.root),
    )


def _per_file(values: tuple[str, ...]) -> dict[str, list[str]]:
    per_file: dict[str, list[str]] = {}
    for value in values:
        pattern, colon, codes = value.rpartition(":")
        named = [code.strip() for code in codes.split(",") if code.strip()]
        if not colon or not pattern or not named:
            raise UsageError(f"--per-file-ignores {value} is no PATTERN:CODES", "e.g. 'tests/:BF201,BF202'")
        per_file.setdefault(pattern, []).extend(named)
    return per_file


def _show(outcome: Outcome, config: Config, options: dict[str, Any]) -> None:
    from breakfinder.cli.output import check_writable
    from breakfinder.report.write import write_text

    format = options["output_format"] or config.settings.output_format
    if options["output"] is not None:
        check_writable(options["output"])
        write_text(options["output"], _rendered(outcome, format, options, terminal=False))
    else:
        click.echo(_rendered(outcome, format, options, terminal=sys.stdout.isatty()), nl=False)


def _rendered(outcome: Outcome, format: str, options: dict[str, Any], *, terminal: bool) -> str:
    from breakfinder.lint import problems, text

    if options["statistics"]:
        titles = {code: rule.title for code, rule in problems.of_outcome(outcome).rules.items()}
        return text.statistics(outcome, titles)
    if format == "text":
        color = terminal and not os.environ.get("NO_COLOR")
        last = "" if options["quiet"] else text.summary(outcome, unsafe=options["unsafe_fixes"])
        return text.render_text(outcome, color=color, source=terminal) + last
    if format == "json":
        return problems.render_json(outcome)
    import importlib

    module = importlib.import_module(f"breakfinder.report.render.{format}")
    rendered: str = getattr(module, f"render_{format}")(problems.of_outcome(outcome))
    return rendered
