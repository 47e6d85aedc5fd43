"""What `lint` found, for a terminal or a log: one line for each, and on a terminal its source."""

from __future__ import annotations

import io
from collections import Counter

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from breakfinder.lint.finding import LintFinding
from breakfinder.lint.own import OWN_RULES
from breakfinder.lint.problems import headline
from breakfinder.lint.session import Outcome
from breakfinder.report.model import Location
from breakfinder.report.render.excerpt import excerpt
from breakfinder.report.render.problem import path_text, rule_texts
from breakfinder.report.render.visible import one_line, visible
from breakfinder.report.render.wording import count
from breakfinder.source.text import read

MOST_MARKED_LINES = 4


def render_text(outcome: Outcome, *, color: bool, source: bool) -> str:
    """One line for each finding; with ``source`` followed by the lines of code, the expression marked."""
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=200,
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        _environ={},
    )
    for finding in outcome.findings:
        lines = _source(finding) if source else []
        for line in [_line(finding, expression=not lines), *lines]:
            console.print(line, soft_wrap=True)
    return stream.getvalue()


def _line(finding: LintFinding, *, expression: bool) -> Text:
    cell = f"cell {finding.cell}:" if finding.cell is not None else ""
    line = Text.assemble(
        (path_text(finding.file), "bold"),
        (f":{cell}{finding.line}:{finding.column}: ", "dim"),
        (finding.rule, "bold red"),
        " ",
    )
    if finding.fixable == "safe":
        line.append("[*] ", "cyan")
    line.append(one_line(finding.title))
    if expression and finding.expression:
        line.append(f": {one_line(finding.expression)}")
    return line


def _source(finding: LintFinding) -> list[Text]:
    text = read(finding.file)
    if text is None or finding.cell is not None or not finding.expression:
        return []
    lines = [text.line(number) for number in range(finding.line, finding.end_line + 1)]
    location = Location(
        file=finding.file,
        line=finding.line,
        column=finding.column,
        end_line=finding.end_line,
        end_column=finding.end_column,
        snippet="\n".join(lines) + "\n",
        snippet_line=finding.line,
    )
    shown = []
    gutter = len(str(finding.end_line))
    for row in excerpt(location)[:MOST_MARKED_LINES]:
        shown.append(Text.assemble((f"  {row.number:>{gutter}} | ", "dim"), visible(row.text)))
        if row.mark:
            start, end = row.mark
            before = " " * cell_len(visible(row.text[:start]))
            under = "^" * max(cell_len(visible(row.text[start:end])), 1)
            shown.append(Text.assemble((f"  {'':>{gutter}} | ", "dim"), before, (under, "bold red")))
    return shown


def summary(outcome: Outcome, *, fixed: int = 0, unsafe: bool = False) -> str:
    """The last lines: how much was found and fixed, and what ``--fix`` can do about the rest."""
    done = f"Fixed {count(fixed, 'problem')}. " if fixed else ""
    lines = [f"{done}{headline(outcome)}."]
    kinds = Counter(finding.fixable for finding in outcome.findings)
    if kinds["safe"]:
        lines.append(f"{kinds['safe']} fixable with `--fix`.")
    if kinds["review"] and not unsafe:
        lines.append(f"{kinds['review']} perhaps fixable with `--fix --unsafe-fixes`.")
    return "\n".join(lines) + "\n"


def statistics(outcome: Outcome) -> str:
    """How often each rule was found, the most frequent first."""
    counts = Counter(finding.rule for finding in outcome.findings)
    titles = rule_texts(set(counts)) | OWN_RULES
    width = max((len(str(number)) for number in counts.values()), default=0)
    return "".join(
        f"{number:>{width}}  {code}  {titles[code].title}\n"
        for code, number in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    )
