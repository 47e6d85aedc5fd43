"""The reference page of the command line, made from the commands: ``python -m breakfinder.cli.docs``.

Writes ``docs/cli.md`` below the working directory, or the file given.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

from breakfinder.cli import cli

_GENERATED = "<!-- Made from the commands by `python -m breakfinder.cli.docs`; do not edit. -->"


def page() -> str:
    """The text of the page."""
    parts = [_GENERATED, "# Commands", _prose(cli.help or "")]
    with click.Context(cli, info_name="breakfinder") as context:
        for name in cli.list_commands(context):
            command = cli.get_command(context, name)
            assert command is not None
            parts += _command(command, click.Context(command, context, name))
    return "\n\n".join(parts) + "\n"


def _command(command: click.Command, context: click.Context) -> list[str]:
    usage = " ".join(command.collect_usage_pieces(context))
    parts = [
        f"## breakfinder {command.name}",
        f"    {context.command_path} {usage}",
        _prose(command.help or ""),
    ]
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    if options:
        rows = [_row(option, context) for option in options if not option.hidden]
        parts.append("\n".join(["| option | |", "|---|---|", *rows]))
    return parts


def _row(option: click.Option, context: click.Context) -> str:
    names = ", ".join(f"`{name}`" for name in sorted(option.opts, key=len, reverse=True))
    names += "".join(f" / `{name}`" for name in option.secondary_opts)
    text = " ".join((option.help or "").split())
    default = option.default
    if option.show_default and default not in (None, "", ()) and not option.is_flag:
        shown = ", ".join(map(str, default)) if isinstance(default, tuple | list) else default
        text = f"{text} [default: {shown}]"
    return f"| {_cell(names + _value(option, context))} | {_cell(text.strip())} |"


def _value(option: click.Option, context: click.Context) -> str:
    """What an option is given, as its help shows it; empty for a flag."""
    if option.is_flag:
        return ""
    if isinstance(option.type, click.IntRange | click.FloatRange):
        return " `N`"
    shown = option.make_metavar(context)
    return f" `{shown[1:-1] if shown.startswith('[') and shown.endswith(']') else shown}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _prose(text: str) -> str:
    """The paragraphs of a command's help, each on one line."""
    paragraphs = re.split(r"\n\s*\n", text.strip())
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def write(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("docs/cli.md"))
