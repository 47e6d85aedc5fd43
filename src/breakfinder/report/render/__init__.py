"""Output formats: each is a pure function of the report.

The modules behind them are imported when a format is asked for, so that naming the formats costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from breakfinder.errors import UsageError

if TYPE_CHECKING:
    from breakfinder.report.model import Report


def _html(report: Report) -> str:
    from breakfinder.report.render.html import render_html

    return render_html(report)


def _json(report: Report) -> str:
    from breakfinder.report.render.json import render_json

    return render_json(report)


def _text(report: Report) -> str:
    from breakfinder.report.render.text import render_text

    return render_text(report, width=None, color=False)


FORMATS: dict[str, Callable[[Report], str]] = {"text": _text, "html": _html, "json": _json}
"""Every format by name.  ``text`` here is the plain form, for files and pipes."""


def render(report: Report, format: str) -> str:
    """The report in a format of `FORMATS`, ending in a newline.

    Raises UsageError for any other format.
    """
    if format not in FORMATS:
        raise UsageError(f"unknown output format '{format}'", f"use one of: {', '.join(FORMATS)}")
    return FORMATS[format](report)
