"""What ``breakfinder check`` checks where no TARGET is given: the targets in pyproject.toml."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from click.core import Context, ParameterSource

from breakfinder.cli.target_options import check_options
from breakfinder.config import Config, find_config
from breakfinder.errors import UsageError
from breakfinder.options import CheckOptions
from breakfinder.several import Asked


def find_targets(
    context: Context, only: tuple[str, ...], given: Mapping[str, Any]
) -> tuple[Path, list[Asked]]:
    """The folder that their paths are relative to, and the targets; all, or those that are named in ``only``.

    Options that stand on the command line go before those of the file.  Raises UsageError if there are none.
    """
    config = find_config(Path.cwd())
    names = _chosen(config, only)
    typed = {
        name: value
        for name, value in given.items()
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    asked = []
    for name in names:
        settings = config.targets[name]
        options = _options({**given, **settings.given(), **typed})
        asked.append(Asked(name, settings.target, options))
    return config.root, asked


def _chosen(config: Config, only: tuple[str, ...]) -> list[str]:
    if not config.targets:
        where = (
            f"and {config.file} has no [tool.breakfinder.targets]"
            if config.file
            else "and none is configured"
        )
        raise UsageError(f"no TARGET is given, {where}", "give a TARGET, or run `breakfinder init`")
    for name in only:
        if name not in config.targets:
            close = difflib.get_close_matches(name, config.targets, 1)
            hint = f"did you mean {close[0]}?" if close else f"the names are: {', '.join(config.targets)}"
            raise UsageError(f"no target '{name}' in {config.file}", hint)
    return [name for name in config.targets if not only or name in only]


def _options(given: Mapping[str, Any]) -> CheckOptions | UsageError:
    """Options, or why they cannot be used: that stops no other target."""
    try:
        return check_options(**given)
    except UsageError as error:
        return error
