"""The report as JSON, the contract that other tools read, and the way back."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from breakfinder.errors import UsageError
from breakfinder.report.collection import Collection
from breakfinder.report.model import SCHEMA_VERSION, Report


def render_json(document: Report | Collection) -> str:
    return document.model_dump_json(indent=2) + "\n"


def json_schema(document: type[Report] | type[Collection] = Report) -> dict[str, Any]:
    """The JSON Schema of ``report.json``, as it is written (every field present)."""
    schema = document.model_json_schema(mode="serialization")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": f"breakfinder {document.__name__.lower()} {SCHEMA_VERSION}",
    }


def read_json(text: str) -> Report:
    """The report of one target that `render_json` wrote.

    Raises UsageError as `read_document` does, and for the reports of several targets.
    """
    document = read_document(text)
    if isinstance(document, Collection):
        raise UsageError(
            f"it holds the reports of {len(document.reports)} targets, not of one",
            "check one of them with --only NAME",
        )
    return document


def read_document(text: str) -> Report | Collection:
    """The report, or the reports of several targets, that `render_json` wrote.

    Raises UsageError, naming the first fault, for text that is not JSON, for JSON that is not a breakfinder
    report, and for a report with a newer schema than this version knows.
    """
    try:
        data = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        where = f"line {error.lineno}: {error.msg}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise UsageError(
            f"not a breakfinder report: it is not valid JSON ({where})",
            "give a report.json that `breakfinder check` wrote",
        ) from error
    if not isinstance(data, dict) or not isinstance(data.get("schema_version"), str):
        raise UsageError(
            "not a breakfinder report: it has no schema_version",
            "give a report.json that `breakfinder check` wrote",
        )
    _check_version(data["schema_version"])
    try:
        return (Collection if "reports" in data else Report).model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the document"
        raise UsageError(
            f"not a valid breakfinder report: {place}: {first['msg']}",
            "`breakfinder schema` prints the format",
        ) from error


def _check_version(version: str) -> None:
    try:
        major, minor = (int(part) for part in version.split("."))
    except ValueError:
        raise UsageError(
            f"not a breakfinder report: schema_version '{version}' is not of the form 1.0",
            "give a report.json that `breakfinder check` wrote",
        ) from None
    known_major, known_minor = (int(part) for part in SCHEMA_VERSION.split("."))
    if (major, minor) > (known_major, known_minor):
        raise UsageError(
            f"the report has schema {version}, newer than {SCHEMA_VERSION}, the newest known here",
            "upgrade breakfinder",
        )
    if major < known_major:
        raise UsageError(
            f"the report has schema {version}, which breakfinder no longer reads",
            "run the check again",
        )
