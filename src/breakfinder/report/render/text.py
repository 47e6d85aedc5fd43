"""The report in short, for a terminal or a log."""

from __future__ import annotations

import io
import textwrap

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from breakfinder.report.collection import Collection, name_of, shared
from breakfinder.report.model import Finding, Fix, Report, Scenario
from breakfinder.report.render import wording
from breakfinder.report.render.diff import changed
from breakfinder.report.render.excerpt import Line, excerpt
from breakfinder.report.render.visible import one_line, visible

MOST_FINDINGS = 20
MOST_MARKED_LINES = 4
MOST_REASONS = 3
MOST_CHANGED_LINES = 6
MOST_LIKELY = 5

_TONES = {"good": "bold green", "warn": "bold yellow", "bad": "bold red"}
_SEVERITIES = {"error": "red", "warning": "yellow", "info": "blue"}


def render_text(document: Report | Collection, *, width: int | None, color: bool) -> str:
    """The summary: verdict, figures, the worst findings.

    ``width`` is the terminal's, to which paragraphs are wrapped; None wraps nothing, for files and pipes.
    """
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=width or 200,
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        _environ={},
    )
    summary = _Summary(console, width)
    if isinstance(document, Report):
        summary.print(document)
    else:
        summary.print_collection(document)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


class _Summary:
    def __init__(self, console: Console, width: int | None) -> None:
        self.console = console
        self.width = width

    def print(self, report: Report) -> None:
        self._verdict(report)
        if report.failure:
            self._failure(report)
        shown = report.findings[:MOST_FINDINGS]
        for finding in shown:
            self._finding(finding)
        if more := len(report.findings) - len(shown):
            self._line()
            self._line(f"and {wording.count(more, 'more finding')}, all in the html and json reports")
        if report.scenarios:
            self._figures(report)
        self._ways_out(report)
        for note in report.notes + report.subject.notes:
            self._paragraph("note", note)

    def print_collection(self, collection: Collection) -> None:
        """A row for each target, what could not be run, and each finding once."""
        self._line((wording.collection_headline(collection), _TONES[wording.collection_tone(collection)]))
        self._line()
        self.console.print(_targets(collection))
        for report in collection.reports:
            if report.failure:
                self._line()
                self._line((name_of(report), "bold"))
                self._paragraph("failed", f"{report.failure.stage}: {report.failure.message}", "red")
        found = shared(collection.reports)
        for one in found[:MOST_FINDINGS]:
            self._finding(one.finding)
            self._paragraph("in", ", ".join(name_of(report) for report in one.reports))
        if (more := len(found) - MOST_FINDINGS) > 0:
            self._line()
            self._line(f"and {wording.count(more, 'more finding')}, all in the html and json reports")
        for note in collection.notes:
            self._paragraph("note", note)
        for report in collection.reports:
            for note in report.notes + report.subject.notes:
                self._paragraph("note", f"{name_of(report)}: {note}")

    def _line(self, *parts: str | tuple[str, str]) -> None:
        """Print one line; whatever its parts hold, a terminal gets no control character from them."""
        line = Text()
        for part in parts:
            text, style = (part, "") if isinstance(part, str) else part
            line.append(one_line(text) if "\n" in text else visible(text), style)
        self.console.print(line, soft_wrap=True)

    def _verdict(self, report: Report) -> None:
        target = report.target.text
        facts = [
            fact for fact in (report.subject.name, *wording.subject_facts(report)) if fact and fact != target
        ]
        self._line((wording.headline(report), _TONES[wording.tone(report)]))
        self._line((target, "bold"))
        for line in self._wrap(", ".join(facts), 0):
            self._line((line, "dim"))

    def _failure(self, report: Report) -> None:
        assert report.failure is not None
        self._line()
        self._line((f"{report.failure.stage}: ", "bold red"), report.failure.message)
        tail = report.failure.detail.strip().split("\n")[-12:]
        for line in tail:
            self._line(("  " + line, "dim"))

    def _finding(self, finding: Finding) -> None:
        place = finding.location
        self._line()
        self._line(
            (f"{place.file}:{place.line}:{place.column}", "bold"),
            ": ",
            (finding.rule, f"bold {_SEVERITIES[finding.severity]}"),
            f" {finding.title}",
        )
        self._source(finding)
        if place.note:
            self._paragraph("place", place.note)
        if finding.why:
            self._paragraph("why", _first_paragraph(wording.why(finding)))
        elif finding.torch.explanation:
            self._paragraph("torch", finding.torch.explanation)
        for reason in finding.reasons[:MOST_REASONS]:
            self._paragraph("guard", reason)
        if len(finding.reasons) > MOST_REASONS:
            self._paragraph("", f"and {len(finding.reasons) - MOST_REASONS} more")
        if finding.remedy:
            self._paragraph("do", _first_paragraph(finding.remedy))
        for fix in finding.fixes[:1]:
            self._fix(fix)
        inside = [f"in {place.qualname}"] if place.qualname else []
        kind = wording.KIND_NAMES[finding.kind]
        self._paragraph("", ", ".join([f"{finding.id}, {kind}", *inside, *wording.marks(finding)]), "dim")

    def _fix(self, fix: Fix) -> None:
        """The first fix, with its change in short; what it depends on where it does."""
        why = f" ({wording.why_failed(fix)})" if fix.verdict == "failed" else ""
        self._paragraph("fix", f"{fix.title}: {wording.FIX_VERDICTS[fix.verdict]}{why}")
        if fix.verdict == "failed":
            return
        if fix.verdict == "conditional":
            self._paragraph("if", fix.condition)
        lines = changed(fix.diff)
        for line in lines[:MOST_CHANGED_LINES]:
            self._line("          ", (line, "green" if line.startswith("+") else "red"))
        if len(lines) > MOST_CHANGED_LINES:
            self._line(("          …", "dim"))

    def _ways_out(self, report: Report) -> None:
        """Where the fixes lead, the settings that help, and what is likely in skipped frames."""
        if report.steps or report.likely or any(map(wording.knob_tone, report.knobs)):
            self._line()
        for finding in report.likely[:MOST_LIKELY]:
            place = finding.location
            self._paragraph("likely", f"{place.file}:{place.line}: {finding.rule} {finding.title}")
        if len(report.likely) > MOST_LIKELY:
            self._paragraph("", f"and {len(report.likely) - MOST_LIKELY} more in frames that were skipped")
        if report.steps:
            self._paragraph("fixes", wording.end_state(report) + " --patch FILE writes them, for git apply.")
        for knob in report.knobs:
            if knob.after is not None and wording.knob_tone(knob):
                equal = "" if knob.equal_outputs else ", outputs not compared"
                note = f". {knob.note}" if knob.note else ""
                self._paragraph("setting", f"{knob.name} clears every break{equal}{note}")

    def _source(self, finding: Finding) -> None:
        lines = excerpt(finding.location, context=0)
        gutter = len(str(lines[-1].number)) if lines else 0
        for line in lines[:MOST_MARKED_LINES]:
            self._line((f"  {line.number:>{gutter}} | ", "dim"), line.text)
            if line.mark:
                self._line((f"  {'':>{gutter}} | ", "dim"), *_carets(line))
        if len(lines) > MOST_MARKED_LINES:
            self._line((f"  {'':>{gutter}} | …", "dim"))

    def _paragraph(self, label: str, text: str, style: str = "") -> None:
        for index, line in enumerate(self._wrap(text, 10)):
            self._line((f"  {label if index == 0 else '':<7} ", "dim"), (line, style))

    def _wrap(self, text: str, indent: int) -> list[str]:
        text = one_line(text)
        if self.width is None:
            return [text]
        return textwrap.wrap(text, max(self.width - indent, 24), break_on_hyphens=False)

    def _figures(self, report: Report) -> None:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        table.add_column("scenario")
        for heading in ("graphs", "sites", "events", "skipped", "recompiled", "captured"):
            table.add_column(heading, justify="right")
        table.add_column("fullgraph")
        for scenario in report.scenarios:
            table.add_row(*_figures(scenario))
        self._line()
        self.console.print(table)
        for scenario in report.scenarios:
            if scenario.cross_check.agrees is False:
                self._paragraph("fault", f"{scenario.name}: {scenario.cross_check.message}", "yellow")
        for scenario in filter(wording.is_broken, report.scenarios):
            if not scenario.explain.error and scenario.explain.graph_count is not None:
                self._explain(report, scenario)
            if scenario.fullgraph.ok:
                self._paragraph("do", f"{scenario.name}: {wording.why_verdicts_differ(report, scenario)}")

    def _explain(self, report: Report, scenario: Scenario) -> None:
        missed = [finding.id for finding in wording.missed_by_explain(report, scenario)]
        ids = f"; it missed {', '.join(missed[:8])}{' and others' if len(missed) > 8 else ''}"
        said = f"{scenario.name}: said {wording.explain_verdict(scenario).lower()}"
        self._paragraph("explain", f"{said}{ids if missed else ''}")


def _targets(collection: Collection) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("target", overflow="fold")
    table.add_column("status")
    for heading in ("findings", "graphs", "captured", "seconds"):
        table.add_column(heading, justify="right")
    for report in collection.reports:
        table.add_row(
            one_line(name_of(report)),
            report.status,
            str(len(report.findings)),
            str(sum(scenario.default.graphs for scenario in report.scenarios)),
            wording.captured(report.scenarios) or "-",
            f"{report.total_seconds:.1f}",
        )
    return table


def _figures(scenario: Scenario) -> list[str]:
    figures = scenario.default
    numbers = [
        figures.graphs, figures.sites, figures.events, figures.skipped_frames, figures.recompilations,
    ]  # fmt: skip
    return [
        one_line(scenario.name),
        *[str(number) for number in numbers],
        wording.captured([scenario]) or "-",
        {True: "compiles", False: "raises", None: "-"}[scenario.fullgraph.ok],
    ]


def _carets(line: Line) -> list[str | tuple[str, str]]:
    """Carets under the marked range, counted in terminal cells."""
    assert line.mark is not None
    start, end = line.mark
    before = cell_len(visible(line.text[:start]))
    under = max(cell_len(visible(line.text[start:end])), 1)
    return [" " * before, ("^" * under, "bold red")]


def _first_paragraph(text: str) -> str:
    return text.strip().split("\n\n")[0]
