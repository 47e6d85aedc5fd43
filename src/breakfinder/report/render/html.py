"""The report as one HTML page that needs nothing but itself."""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import re
from collections import Counter
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from breakfinder.report.collection import Collection, name_of
from breakfinder.report.model import Finding, Frame, Report, Scenario
from breakfinder.report.render import timeline, wording
from breakfinder.report.render.diff import diff_lines
from breakfinder.report.render.excerpt import excerpt
from breakfinder.report.render.highlight import highlight
from breakfinder.report.render.visible import visible

OPEN_AT_FIRST = 12
"""Findings that are unfolded when the page opens, if there are no more of them."""
MOST_FRAMES = 200
LIBRARIES = ("torch", "python")


def render_html(document: Report | Collection) -> str:
    """The page.  All text of the report is escaped; its scripts and styles are allowed by their hashes."""
    return _report_page(document) if isinstance(document, Report) else _collection_page(document)


def in_frame(document: Report | Collection) -> str:
    """The page, in a frame of its own, for notebooks."""
    page = html.escape(render_html(document), quote=True)
    return f'<iframe srcdoc="{page}" title="breakfinder" style="width:100%;height:640px;border:0"></iframe>'


def _report_page(report: Report) -> str:
    style, script = _source("report.css"), _source("report.js")
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            report=report,
            style=Markup(style),
            script=Markup(script),
            policy=_policy(style, script),
            open_findings=OPEN_AT_FIRST if len(report.findings) <= OPEN_AT_FIRST else 3,
            filters=_filters(report),
        )
    )


def _collection_page(collection: Collection) -> str:
    """A table of the targets, and a section for each; findings are numbered per target."""
    style, script, sorting = _source("report.css"), _source("report.js"), _source("collection.js")
    return (
        _environment()
        .get_template("collection.html.j2")
        .render(
            collection=collection,
            pages=[_numbered(report, number) for number, report in enumerate(collection.reports, 1)],
            style=Markup(style),
            script=Markup(script),
            sorting=Markup(sorting),
            policy=_policy(style, script, sorting),
        )
    )


def _numbered(report: Report, number: int) -> Report:
    findings = [finding.model_copy(update={"id": f"{number}-{finding.id}"}) for finding in report.findings]
    return report.model_copy(update={"findings": findings})


def _captured_share(report: Report) -> float:
    """For sorting; below all others where nothing ran."""
    captured = sum(scenario.default.captured_ops for scenario in report.scenarios)
    ops = captured + sum(scenario.default.eager_ops for scenario in report.scenarios)
    return captured / ops if ops else -1.0


def _policy(style: str, *scripts: str) -> str:
    return "; ".join(
        [
            "default-src 'none'",
            f"style-src '{_hash(style)}'",
            "script-src " + " ".join(f"'{_hash(script)}'" for script in scripts),
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _templates() -> Path:
    """The templates' folder: inside the installed package, or beside ``src`` in a checkout."""
    package = Path(str(resources.files("breakfinder")))
    installed = package / "templates"
    return installed if installed.is_dir() else package.parents[1] / "templates"


def _source(name: str) -> str:
    return (_templates() / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_templates()),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        prose=prose,
        inline=inline,
        path=path,
        unbroken=unbroken,
        code_lines=code_lines,
        diff_lines=diff_lines,
        patch_name=patch_name,
        base64=lambda text: base64.b64encode(text.encode()).decode(),
    )
    environment.globals.update(
        wording=wording,
        count=wording.count,
        runs=timeline.runs,
        frame_rows=frame_rows,
        libraries=LIBRARIES,
        name_of=name_of,
        captured_share=_captured_share,
    )
    return environment


def _finalize(value: Any) -> Any:
    """Every string that a template prints passes here before it is escaped."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


_CODE = re.compile(r"(``?)(?=\S)(.+?)(?<=\S)\1")


def prose(text: str) -> Markup:
    """Paragraphs of plain text; `` `words` `` in backticks are code, indented paragraphs are code blocks."""
    blocks = []
    for paragraph in re.split(r"\n[ \t]*\n", visible(text).strip("\n")):
        if all(line.startswith(("    ", "\t")) for line in paragraph.split("\n")):
            blocks.append(Markup("<pre><code>{}</code></pre>").format(_unindent(paragraph)))
        else:
            blocks.append(Markup("<p>{}</p>").format(inline(paragraph.strip())))
    return Markup("\n").join(blocks)


def inline(text: str) -> Markup:
    """One line of plain text with `` `words` `` in backticks as code."""
    return Markup(_CODE.sub(r"<code>\2</code>", str(escape(visible(text)))))


def path(text: str) -> Markup:
    """A path that may be wrapped after a slash; of an installed package, the part below site-packages."""
    short = re.sub(r"^.*/(?:site|dist)-packages/(?=.)", "", visible(text))
    return Markup(str(escape(short)).replace("/", "/<wbr>"))


def unbroken(text: str) -> Markup:
    """Text in which a number keeps to the word that it counts."""
    return Markup(re.sub(r"(\d) (?=\w|%)", "\\1\N{NO-BREAK SPACE}", str(escape(visible(text)))))


def _unindent(text: str) -> str:
    return "\n".join(line[4:] if line.startswith("    ") else line[1:] for line in text.split("\n"))


def code_lines(finding: Finding) -> list[tuple[int, bool, Markup]]:
    """Number, whether it is marked, and markup of each source line."""
    lines = excerpt(finding.location)
    place = finding.location
    return [
        (line.number, place.line <= line.number <= place.end_line, markup)
        for line, markup in zip(lines, highlight(lines), strict=True)
    ]


def patch_name(report: Report) -> str:
    """The name of the patch's file, after the target."""
    return (re.sub(r"[^A-Za-z0-9]+", "-", report.target.text).strip("-")[-60:] or "breakfinder") + ".patch"


@dataclass
class FrameRow:
    """Consecutive frames that are alike."""

    frame: Frame
    name: str
    times: int
    ops: int
    seconds: float
    finding: Finding | None


def frame_rows(scenario: Scenario, findings: list[Finding]) -> list[FrameRow]:
    """The frames of a scenario in order, the first `MOST_FRAMES` rows of them."""
    rows: list[FrameRow] = []
    for frame in scenario.frames:
        name = timeline.frame_name(frame)
        last = rows[-1] if rows else None
        if last and _alike(last.frame, frame):
            last.times += 1
            last.ops += frame.ops
            last.seconds += frame.seconds
        elif len(rows) < MOST_FRAMES:
            rows.append(FrameRow(frame, name, 1, frame.ops, frame.seconds, timeline.cause(frame, findings)))
        else:
            break
    return rows


def _alike(one: Frame, other: Frame) -> bool:
    same = ("function", "file", "line", "outcome", "reason")
    return all(getattr(one, name) == getattr(other, name) for name in same)


def _filters(report: Report) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Attribute, name and (value, label) choices of each filter that can tell findings apart."""
    findings = report.findings
    labels = {finding.rule: f"{finding.rule} {finding.title.replace('`', '')}" for finding in findings}
    labels.update(wording.KIND_NAMES)
    choices: dict[str, Counter[str]] = {
        "rule": Counter(finding.rule for finding in findings),
        "owner": Counter(finding.location.owner for finding in findings),
        "kind": Counter(finding.kind for finding in findings),
        "scenario": Counter(name for finding in findings for name in finding.scenarios),
    }
    return [
        (
            name,
            name.capitalize(),
            [(value, f"{labels.get(value, value)} ({n})") for value, n in sorted(values.items())],
        )
        for name, values in choices.items()
        if len(values) > 1
    ]
