"""What a file holds whatever is asked for, and what remains of it by reach, selection and comments."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from breakfinder.lint.finding import LintFinding
from breakfinder.lint.own import OWN_RULES, UNUSED_SUPPRESSION
from breakfinder.lint.suppressions import Suppression
from breakfinder.rules.pattern import Confidence

_RANKS: dict[Confidence, int] = {"low": 0, "medium": 1, "high": 2}


@dataclass(frozen=True)
class FileResult:
    """The findings of all rules, functions and confidences, and the comments that may take some of them away.

    Lines are those of the text: for a notebook, of its cells joined.
    """

    findings: Sequence[LintFinding] = ()
    suppressions: Sequence[Suppression] = ()
    cells: Sequence[tuple[int, int]] = ()
    """Number and first line of each cell of a notebook."""


@dataclass(frozen=True)
class Wanted:
    """What is asked for."""

    rules: frozenset[str]
    """Codes."""
    confidence: Confidence
    judgeable: frozenset[str]
    """The codes of the rules that can be found by reading: an idle comment about another may be of use to
    ``breakfinder check``."""


@dataclass
class Judged:
    """What is left of a file's findings, in order."""

    shown: list[LintFinding] = field(default_factory=list)
    suppressed: list[tuple[LintFinding, Suppression]] = field(default_factory=list)


def judge(file: str, result: FileResult, reached: Collection[str] | None, wanted: Wanted) -> Judged:
    """The findings in functions of ``reached`` (None: in all) that are wanted, those of them that comments take
    away, and the comments that take nothing away.

    A comment in a function that is not reached is not called unused for that: what calls it may be in files that
    are not looked at.
    """
    judged = Judged()
    for finding in result.findings:
        in_reach = reached is None or not finding.qualname or finding.qualname in reached
        sure = _RANKS[finding.confidence] >= _RANKS[wanted.confidence]
        if in_reach and sure and finding.rule in wanted.rules:
            by = _suppression(finding, result.suppressions)
            if by:
                judged.suppressed.append((_placed(file, finding, result), by))
            else:
                judged.shown.append(_placed(file, finding, result))
    if UNUSED_SUPPRESSION in wanted.rules:
        for suppression in result.suppressions:
            if what := _unused(suppression, result, wanted):
                judged.shown.append(_placed(file, _unused_finding(file, suppression, what), result))
    judged.shown.sort()
    return judged


def _suppression(finding: LintFinding, suppressions: Sequence[Suppression]) -> Suppression | None:
    return next(
        (one for one in suppressions if one.suppresses(finding.rule, finding.line, finding.end_line)), None
    )


def _unused(suppression: Suppression, result: FileResult, wanted: Wanted) -> str:
    """The codes of a comment that take nothing away, as they are shown; empty if there are none."""
    used = {finding.rule for finding in result.findings if suppression.covers(finding.line, finding.end_line)}
    judged = wanted.rules.intersection(wanted.judgeable)
    if suppression.codes:
        idle = [
            code
            for code in suppression.codes
            if not any(rule.startswith(code) for rule in used)
            and any(rule.startswith(code) for rule in judged)
        ]
        return ", ".join(f"`{code}`" for code in idle)
    blanket = suppression.kind != "noqa"  # a bare noqa may be meant for other tools
    everything = len(judged) == len(wanted.judgeable)
    return f"`{suppression.kind}`" if blanket and everything and not used else ""


def _unused_finding(file: str, suppression: Suppression, what: str) -> LintFinding:
    return LintFinding(
        file=file,
        line=suppression.line,
        column=suppression.column,
        end_line=suppression.line,
        end_column=suppression.end_column,
        rule=UNUSED_SUPPRESSION,
        title=f"{OWN_RULES[UNUSED_SUPPRESSION].title}: {what}",
    )


def _placed(file: str, finding: LintFinding, result: FileResult) -> LintFinding:
    """The finding with its file as it is shown and, in a notebook, its lines counted in its cell."""
    cell = next((cell for cell in reversed(result.cells) if cell[1] <= finding.line), None)
    if cell is None:
        return replace(finding, file=file)
    number, start = cell
    first, last = finding.line - start + 1, finding.end_line - start + 1
    return replace(finding, file=file, cell=number, line=first, end_line=last)
