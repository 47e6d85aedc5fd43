"""Markdown, for a comment on a pull request and for a job's summary: the result in a few lines, the rest folded."""

from __future__ import annotations

import re

from breakfinder.report.render.problem import Problem, Problems, path_text
from breakfinder.report.render.visible import one_line, visible

FEW = 10
"""Problems that are seen at once."""
MOST = 60
"""Problems that are listed: a comment holds 65 536 characters."""
LONGEST = 160

_CODE = re.compile(r"(``?)(?=\S)(.+?)(?<=\S)\1")
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~-])")


def render_markdown(found: Problems) -> str:
    problems = found.shown
    lines = [f"### breakfinder {_prose(found.command)}", "", _prose(found.headline), ""]
    lines += _table(found)
    if found.failure:
        lines += [f"**{_prose(found.failure.stage)}**: {_prose(found.failure.message)}", ""]
    lines += [_item(problem) for problem in problems[:FEW]]
    rest = problems[FEW:MOST]
    if rest:
        lines += ["", f"<details><summary>{len(problems) - FEW} more</summary>", ""]
        lines += [_item(problem) for problem in rest]
        if len(problems) > MOST:
            lines.append(f"- and {len(problems) - MOST} that are not listed here")
        lines += ["", "</details>"]
    lines += _explained(found)
    lines += [f"\n> {_prose(note)}" for note in found.notes]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n") + "\n"


def _table(found: Problems) -> list[str]:
    """A row for each target, where there are several."""
    if not found.parts:
        return []
    rows = [
        f"| {_cell(part.command.removeprefix('check '))} | {len(part.shown)} | {_cell(_outcome(part))} |"
        for part in found.parts
    ]
    return ["| target | findings | |", "|---|--:|---|", *rows, ""]


def _cell(text: str) -> str:
    return _escape(one_line(text))


def _outcome(found: Problems) -> str:
    return f"{found.failure.stage}: {found.failure.message}" if found.failure else found.headline


def _item(problem: Problem) -> str:
    cell = f": cell {problem.cell}" if problem.cell is not None else ""
    place = _code(f"{path_text(problem.file)}{cell}:{problem.line}:{problem.column}")
    expression = f": {_code(problem.expression)}" if problem.expression else ""
    targets = f" ({_escape(one_line(', '.join(problem.targets)))})" if problem.targets else ""
    return f"- {place} **{_escape(problem.rule)}** {_prose(problem.title)}{expression}{targets}"


def _explained(found: Problems) -> list[str]:
    """Why and what to do, once for each rule; and the fixes."""
    lines: list[str] = []
    for code in dict.fromkeys(problem.rule for problem in found.shown):
        text = found.rules.get(code)
        if text:
            lines += ["", f"<details><summary>{_html(code)}: {_html(one_line(text.title))}</summary>", ""]
            lines += [f"{text.why}\n\n{text.remedy}", "", "</details>"]
    for problem in found.shown[:FEW]:
        for fix in problem.fixes:
            if fix.diff and fix.verdict in ("proved", "conditional"):
                title = f"Fix ({fix.verdict}) of {path_text(problem.file)}:{problem.line}: {fix.title}"
                lines += ["", f"<details><summary>{_html(one_line(title))}</summary>", ""]
                lines += [_fenced(fix.diff, "diff"), "", "</details>"]
    return lines


def _prose(text: str) -> str:
    """One line of text in which words in backticks are code and nothing else is markup."""
    parts, end = [], 0
    line = one_line(text)
    for match in _CODE.finditer(line):
        parts += [_escape(line[end : match.start()]), _code(match[2])]
        end = match.end()
    return "".join([*parts, _escape(line[end:])])


def _escape(text: str) -> str:
    return _html(_SPECIAL.sub(r"\\\1", text), code=False)


def _html(text: str, *, code: bool = True) -> str:
    """One line of text as HTML; no word in it is taken for the name of a user or a link."""
    shown = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    shown = shown.replace("@", "&#64;").replace("://", "&#58;//")
    return _CODE.sub(r"<code>\2</code>", shown) if code else shown


def _code(text: str) -> str:
    """A code span of one line, cut if it is long."""
    line = one_line(text)
    if len(line) > LONGEST:
        line = line[: LONGEST - 1] + "…"
    fence = "`" * (max((len(run) for run in re.findall(r"`+", line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") or not line else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def _fenced(text: str, language: str) -> str:
    fence = "`" * max(3, max((len(run) for run in re.findall(r"`+", text)), default=0) + 1)
    return f"{fence}{language}\n{visible(text).rstrip()}\n{fence}"
