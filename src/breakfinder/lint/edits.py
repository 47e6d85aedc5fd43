"""Changes that `lint` makes to files: fixes, and comments that take findings away."""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from breakfinder.lint.analyse import analyse
from breakfinder.lint.files import shown
from breakfinder.lint.finding import LintFinding
from breakfinder.lint.own import OWN_RULES
from breakfinder.lint.results import FileResult, Wanted, judge
from breakfinder.lint.sources import Source, decode, read_bytes
from breakfinder.lint.suppressions import suppressions, with_noqa
from breakfinder.lint.unreadable import Unreadable
from breakfinder.report.model import Applicability
from breakfinder.report.write import write_bytes
from breakfinder.rules import all_rules, by_code
from breakfinder.source.diff import unified_diff
from breakfinder.source.text import SourceText

if TYPE_CHECKING:
    from breakfinder.rules.rewrites import Rewrite

SAFE: tuple[Applicability, ...] = ("safe",)
UNSAFE: tuple[Applicability, ...] = ("safe", "review")


@dataclass(frozen=True)
class Task:
    """A file to change, by what is found in it."""

    path: str
    reached: Collection[str] | None
    """The functions to look into; None: all."""
    wanted: Wanted
    content: bytes | None = None
    """What to change; None: what the file holds."""

    def find(self, text: str) -> list[LintFinding]:
        """What the rules find in a text of the file, what comments take away left out; in order."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of the source
            findings = analyse(self.path, SourceText(text), self.reached, all_rules())
        shown = judge(self.path, FileResult(findings, suppressions(text)), self.reached, self.wanted).shown
        return [finding for finding in shown if finding.rule not in OWN_RULES]


@dataclass(frozen=True)
class Edit:
    """A file before and after a change, and how many findings it took away."""

    path: str
    source: Source
    before: bytes
    text: str
    count: int

    @property
    def after(self) -> bytes:
        return self.source.encode(self.text)

    @property
    def diff(self) -> bytes:
        """As ``git apply`` takes it, in the file's own encoding and relative to the working directory."""
        mark = "\ufeff" * self.source.mark
        diff = unified_diff(shown(Path(self.path)).lstrip("/"), mark + self.source.text, mark + self.text)
        old, new, changes = diff.split("\n", 2)
        return os.fsencode(f"{old}\n{new}\n") + changes.encode(self.source.encoding)

    def write(self) -> None:
        """Write the file, all of it or none; its encoding, ends of lines and permissions stay.

        Raises OSError if it cannot be read or written, and if it is not what it was before.
        """
        path = Path(self.path)
        if path.read_bytes() != self.before:
            raise OSError(None, "it was changed in the meantime", self.path)
        write_bytes(path, self.after, keep_mode=True)


Change = Callable[[Task], Edit | None]


def fix_safe(task: Task) -> Edit | None:
    """The file after the fixes that are safe; None if nothing changes."""
    return _edit(task, lambda text: fixed(text, task.find, SAFE))


def fix_all(task: Task) -> Edit | None:
    """The same with the fixes that have to be reviewed."""
    return _edit(task, lambda text: fixed(text, task.find, UNSAFE))


def add_noqa(task: Task) -> Edit | None:
    """The file with a comment for everything that is found; None if there is nothing."""
    return _edit(task, lambda text: with_comments(text, task.find))


def _edit(task: Task, change: Callable[[str], tuple[str, int]]) -> Edit | None:
    source = _source(task.path, task.content)
    if source is None:
        return None
    text, count = change(source.text)
    return Edit(task.path, source, source.encode(source.text), text, count) if text != source.text else None


def _source(path: str, content: bytes | None) -> Source | None:
    """A file as text that can be changed; None for a notebook and for what cannot be read."""
    try:
        source = decode(read_bytes(Path(path)) if content is None else content, path)
    except Unreadable:
        return None  # a finding of its own
    return source if source.notebook is None else None


Find = Callable[[str], Sequence[LintFinding]]
"""What is found in a text."""


def with_comments(text: str, find: Find) -> tuple[str, int]:
    """A text with comments for what is found in it, and how many findings they take away."""
    findings = find(text)
    noted = with_noqa(text, [(one.rule, one.line, one.end_line) for one in findings])
    return noted, len(findings) - len(find(noted))


def fixed(text: str, find: Find, applicable: Collection[Applicability]) -> tuple[str, int]:
    """A text after fixes of these kinds, and their number, when none of them applies any more.

    Each must leave Python with fewer findings than before, so there is an end, and nothing is left to do then.
    """
    findings = find(text)
    count, before = 0, -1
    while before != count:
        before = count
        left = len(findings)
        while left:  # from the end up, so that what is still to be looked at stays where it is
            left -= 1
            step = _step(text, findings, findings[left], find, applicable)
            if step:
                text, findings = step
                left = min(left, len(findings))
                count += 1
    return text, count


def _step(
    text: str,
    findings: Sequence[LintFinding],
    finding: LintFinding,
    find: Find,
    applicable: Collection[Applicability],
) -> tuple[str, Sequence[LintFinding]] | None:
    """The text after the first fix of a finding that is of use, and what is found in it."""
    for fix in fixes_of(finding, applicable):
        changed = _rewritten(text, fix, finding)
        if changed is not None:
            left = find(changed)
            if len(left) < len(findings):
                return changed, left
    return None


def _rewritten(text: str, fix: type[Rewrite], finding: LintFinding) -> str | None:
    """The text after a fix of a finding; None if it does not apply."""
    from breakfinder.rules.rewrites import rewrite

    start, end = (finding.line, finding.column), (finding.end_line, finding.end_column)
    changed = rewrite(text, fix, start, end)
    return changed if changed is not None and changed != text and _is_python(changed) else None


def may_be_fixable(finding: LintFinding) -> bool:
    """Whether the rule of a finding has a fix at all."""
    return finding.rule not in OWN_RULES and finding.cell is None and bool(by_code(finding.rule).fixes)


def with_fixability(path: str, findings: Sequence[LintFinding], content: bytes | None) -> list[LintFinding]:
    """The findings in a file, or in what is given in its place, with what kind of fix applies to each."""
    source = _source(path, content) if any(map(may_be_fixable, findings)) else None
    if source is None:
        return list(findings)
    return [
        replace(finding, fixable=_fixability(source.text, finding)) if may_be_fixable(finding) else finding
        for finding in findings
    ]


def _fixability(text: str, finding: LintFinding) -> str:
    """``safe``, ``review`` or, if no fix applies, empty."""
    for kind in UNSAFE:
        for fix in fixes_of(finding, (kind,)):
            if _rewritten(text, fix, finding) is not None:
                return kind
    return ""


def fixes_of(finding: LintFinding, applicable: Collection[Applicability]) -> list[type[Rewrite]]:
    """The fixes of these kinds that a finding's rule has, in the order to try them."""
    from breakfinder.rules.rewrites import by_name

    return [fix for fix in map(by_name, by_code(finding.rule).fixes) if fix.applicability in applicable]


def _is_python(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
