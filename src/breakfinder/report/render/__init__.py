"""Output formats: each is a pure function of the report, or of the reports of several targets.

The modules behind them are imported when a format is asked for, so that naming the formats costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from breakfinder.errors import UsageError

if TYPE_CHECKING:
    from breakfinder.report.collection import Collection
    from breakfinder.report.model import Report


def _html(document: Report | Collection) -> str:
    from breakfinder.report.render.html import render_html

    return render_html(document)


def _json(document: Report | Collection) -> str:
    from breakfinder.report.render.json import render_json

    return render_json(document)


def _text(document: Report | Collection) -> str:
    from breakfinder.report.render.text import render_text

    return render_text(document, width=None, color=False)


def _github(document: Report | Collection) -> str:
    from breakfinder.report.render.github import render_github
    from breakfinder.report.render.problem import of_document

    return render_github(of_document(document))


def _gitlab(document: Report | Collection) -> str:
    from breakfinder.report.render.gitlab import render_gitlab
    from breakfinder.report.render.problem import of_document

    return render_gitlab(of_document(document))


def _junit(document: Report | Collection) -> str:
    from breakfinder.report.render.junit import render_junit
    from breakfinder.report.render.problem import of_document

    return render_junit(of_document(document))


def _markdown(document: Report | Collection) -> str:
    from breakfinder.report.render.markdown import render_markdown
    from breakfinder.report.render.problem import of_document

    return render_markdown(of_document(document))


def _sarif(document: Report | Collection) -> str:
    from breakfinder.report.render.problem import of_document
    from breakfinder.report.render.sarif import render_sarif

    return render_sarif(of_document(document))


FORMATS: dict[str, Callable[[Report | Collection], str]] = {
    "text": _text,
    "html": _html,
    "json": _json,
    "github": _github,
    "gitlab": _gitlab,
    "junit": _junit,
    "markdown": _markdown,
    "sarif": _sarif,
}
"""Every format by name.  ``text`` here is the plain form, for files and pipes."""
FILE_NAMES = {
    **{name: f"report.{name}" for name in FORMATS},
    "github": "report.github.txt",
    "gitlab": "report.gitlab.json",
    "junit": "report.junit.xml",
    "markdown": "report.md",
}
"""What the file of a format is called where no name is given."""


def render(document: Report | Collection, format: str) -> str:
    """The document in a format of `FORMATS`, ending in a newline unless it is empty.

    Raises UsageError for any other format.
    """
    if format not in FORMATS:
        raise UsageError(f"unknown output format '{format}'", f"use one of: {', '.join(FORMATS)}")
    return FORMATS[format](document)
