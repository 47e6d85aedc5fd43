"""One run of `lint`: which files, what is asked for, and what was found."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from breakfinder.lint.analyse import unreadable
from breakfinder.lint.cache import Cache
from breakfinder.lint.edits import Change, Edit, Task, may_be_fixable, with_fixability
from breakfinder.lint.files import Exclusion, Found, find_files, shown
from breakfinder.lint.finding import LintFinding
from breakfinder.lint.own import OWN_RULES
from breakfinder.lint.results import Judged, Wanted, judge
from breakfinder.lint.run import Analysed, analyse_files, analyse_text, stamp
from breakfinder.lint.selection import Selection
from breakfinder.lint.suppressions import Suppression
from breakfinder.lint.workers import each
from breakfinder.rules import all_rules
from breakfinder.rules.pattern import Confidence

MOST_TRIED = 30
"""Findings whose fixes are tried, to say which can be fixed: of more than these it would take too long."""


@dataclass
class Outcome:
    """What was found, in order; ``file`` of a finding is as a user reads it."""

    findings: list[LintFinding] = field(default_factory=list)
    suppressed: list[tuple[LintFinding, Suppression]] = field(default_factory=list)
    files: int = 0

    def add(self, judged: Judged) -> None:
        self.findings += judged.shown
        self.suppressed += judged.suppressed


@dataclass(frozen=True)
class Session:
    """What is asked for."""

    exclusion: Exclusion
    selection: Selection
    confidence: Confidence = "high"
    all_functions: bool = False
    jobs: int = 1
    cache: Cache = field(default_factory=lambda: Cache(None))

    def find(self, paths: Sequence[Path]) -> Found:
        """The files at the paths.  Raises UsageError for a path that does not exist."""
        return find_files(paths, self.exclusion)

    def lint(self, paths: Sequence[Path]) -> Outcome:
        """What is found in the files at the paths.

        Raises UsageError for a path that does not exist, and if a worker process dies.
        """
        found = self.find(paths)
        outcome = self.lint_files(found.files)
        outcome.findings += [unreadable(shown(path), reason) for path, reason in found.unreadable]
        outcome.findings.sort()
        return outcome

    def lint_files(self, files: Sequence[Path]) -> Outcome:
        """What is found in these files, to which nothing else belongs."""
        analysed = analyse_files(files, self.cache, self.jobs)
        self.cache.save(analysed.results)
        return self._judged(analysed)

    def lint_text(self, name: str, content: bytes) -> Outcome:
        """What is found in the content of one file that is called ``name``."""
        path = os.path.normpath(Path(name).absolute())
        return self._judged(analyse_text(path, content), {path: content})

    def edits(self, paths: Sequence[Path], change: Change) -> list[Edit]:
        """What ``change`` makes of the files at the paths, of those that it does change."""
        analysed = analyse_files(self.find(paths).files, self.cache, self.jobs)
        tasks = [self._task(path, analysed) for path, result in analysed.results.items() if result.findings]
        sizes = [max(stamp(task.path)[0], 0) for task in tasks]
        return [edit for edit in each(change, tasks, sizes, self.jobs) if edit]

    def text_edits(self, name: str, content: bytes, change: Change) -> list[Edit]:
        """The same for the content of one file that is called ``name``."""
        path = os.path.normpath(Path(name).absolute())
        edit = change(self._task(path, analyse_text(path, content), content))
        return [edit] if edit else []

    def _task(self, path: str, analysed: Analysed, content: bytes | None = None) -> Task:
        return Task(path, self._reached(path, analysed), self._wanted(path), content)

    def _judged(self, analysed: Analysed, contents: Mapping[str, bytes] | None = None) -> Outcome:
        outcome = Outcome(files=len(analysed.results))
        judged = {
            path: judge(shown(Path(path)), result, self._reached(path, analysed), self._wanted(path))
            for path, result in analysed.results.items()
        }
        candidates = sum(map(may_be_fixable, (one for file in judged.values() for one in file.shown)))
        for path, found in judged.items():
            if 0 < candidates <= MOST_TRIED:
                found.shown = with_fixability(path, found.shown, (contents or {}).get(path))
            outcome.add(found)
        return outcome

    def _reached(self, path: str, analysed: Analysed) -> Collection[str] | None:
        """The functions of a file that are looked into; None: all."""
        return None if self.all_functions else analysed.reached.get(path, frozenset())

    def _wanted(self, path: str) -> Wanted:
        """What is asked for in a file."""
        return Wanted(self.selection.rules_in(Path(path), self._rules), self.confidence, self._judgeable)

    @cached_property
    def _rules(self) -> frozenset[str]:
        return self.selection.rules(known_codes())

    @cached_property
    def _judgeable(self) -> frozenset[str]:
        return frozenset(rule.code for rule in all_rules() if rule.pattern_nodes)


def known_codes() -> list[str]:
    """The codes that can be selected."""
    return sorted({*OWN_RULES, *(rule.code for rule in all_rules())})
