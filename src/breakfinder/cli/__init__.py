"""The command line: one module per command, loaded when it is used."""

from __future__ import annotations

import importlib
from typing import Any

import click

from breakfinder import __version__
from breakfinder.errors import UsageError

_COMMANDS = {
    "check": "find, explain and report a model's graph breaks",
    "init": "write a start for the configuration, from what the repository holds",
    "lint": "find likely graph breaks in source, without running it",
    "fix": "apply the source fixes that were proved",
    "rules": "list the rules, or explain one",
    "schema": "print the JSON schema of report.json",
}


class _LazyGroup(click.Group):
    """Imports a command's module only when the command is used, so that --help stays fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"breakfinder.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        import difflib

        if args and not args[0].startswith("-") and args[0] not in _COMMANDS:
            close = difflib.get_close_matches(args[0], _COMMANDS, 1)
            hint = f"did you mean '{close[0]}'?" if close else f"the commands are: {', '.join(_COMMANDS)}"
            raise UsageError(f"no command '{args[0]}'", hint)
        return super().resolve_command(ctx, args)


@click.group(
    cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="breakfinder")
@click.option("--debug", is_flag=True, help="Show a traceback for every error.")
def cli(debug: bool) -> None:
    """Find, explain and fix what keeps a PyTorch model from compiling to one graph."""


def main(arguments: list[str] | None = None) -> None:
    """Entry of the ``breakfinder`` command.

    Exit codes: 0 no findings, 1 findings, 2 usage, 3 the model could not be run.
    """
    import io
    import sys

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # paths and sources may hold what its encoding lacks
            stream.reconfigure(errors="backslashreplace")
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in arguments
    if debug:
        arguments.remove("--debug")
    try:
        cli.main(args=arguments, prog_name="breakfinder", standalone_mode=True)
    except UsageError as error:
        if debug:
            raise
        click.echo(f"error: {error.message}", err=True)
        if error.hint:
            click.echo(f"  try: {error.hint}", err=True)
        sys.exit(2)
    except OSError as error:
        if debug:
            raise
        click.echo(
            f"error: {error.strerror or error}" + (f": {error.filename}" if error.filename else ""), err=True
        )
        sys.exit(2)
