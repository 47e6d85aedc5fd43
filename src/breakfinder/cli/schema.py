"""``breakfinder schema``: print the JSON schema of report.json."""

from __future__ import annotations

import json

import click


@click.command("schema")
def command() -> None:
    """Print the JSON schema of report.json."""
    from breakfinder.report.render.json import json_schema

    click.echo(json.dumps(json_schema(), indent=2))
