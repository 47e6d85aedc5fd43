"""docs/cli.md is what the commands say now."""

from pathlib import Path

import click

from breakfinder.cli import cli, docs

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == docs.page(), "run `python -m breakfinder.cli.docs`"


def test_every_command_and_option_is_there():
    page = docs.page()
    context = click.Context(cli)
    for name in cli.list_commands(context):
        section = page.split(f"\n## breakfinder {name}\n")[1].split("\n## ")[0]
        for option in cli.get_command(context, name).params:
            if isinstance(option, click.Option):
                assert section.count(f"`{option.opts[0]}`") == 1


def test_a_choice_in_a_table_stays_in_its_cell():
    (row,) = [line for line in docs.page().splitlines() if line.startswith("| `--confidence`")]
    assert (
        row
        == "| `--confidence` `high\\|medium\\|low` | The least confidence of what is shown. [default: high] |"
    )
