"""``breakfinder schema``: print the JSON schema of report.json."""

from __future__ import annotations

import json

import click


@click.command("schema")
@click.option(
    "--collection", is_flag=True, help="Of the report.json of several targets: it has a list 'reports'."
)
def command(collection: bool) -> None:
    """Print the JSON schema of report.json."""
    from breakfinder.report.collection import Collection
    from breakfinder.report.model import Report
    from breakfinder.report.render.json import json_schema

    click.echo(json.dumps(json_schema(Collection if collection else Report), indent=2))
