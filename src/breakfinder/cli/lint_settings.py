"""What `breakfinder lint` is asked for, by its options and by the settings in pyproject.toml."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakfinder.errors import UsageError

if TYPE_CHECKING:
    from breakfinder.config import Config
    from breakfinder.lint.session import Session


def config_of(options: dict[str, Any]) -> Config:
    """The settings that hold.  Raises UsageError for those that cannot be used."""
    from breakfinder.config import Config, find_config, read_config

    if options["isolated"] and options["config"]:
        raise UsageError("--isolated and --config exclude each other", "leave one of them out")
    if options["isolated"]:
        return Config(Path.cwd())
    return read_config(options["config"]) if options["config"] else find_config(Path.cwd())


def session_of(config: Config, options: dict[str, Any]) -> Session:
    """What is asked for: by the options, and where they say nothing by the settings.

    Raises UsageError for codes and patterns that are none.
    """
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
            Patterns.of(config.root.absolute(), excludes, everywhere=True),
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
