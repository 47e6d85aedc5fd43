"""One run of `lint`: which files, what is asked for, and what was found."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from breakfinder.lint.analyse import unreadable
from breakfinder.lint.cache import Cache
from breakfinder.lint.files import Exclusion, Found, find_files
from breakfinder.lint.finding import LintFinding
from breakfinder.lint.own import OWN_RULES
from breakfinder.lint.results import Judged, Wanted, judge
from breakfinder.lint.run import Analysed, analyse_files, analyse_text
from breakfinder.lint.selection import Selection
from breakfinder.lint.suppressions import Suppression
from breakfinder.rules import all_rules
from breakfinder.rules.pattern import Confidence


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

        Raises UsageError for a path that does not exist, and if a worker process dies; OSError if the cache
        cannot be written.
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
        return self._judged(analyse_text(os.path.normpath(Path(name).absolute()), content))

    def _judged(self, analysed: Analysed) -> Outcome:
        outcome = Outcome(files=len(analysed.results))
        for path, result in analysed.results.items():
            file = Path(path)
            wanted = Wanted(
                lambda code, file=file: self.selection.wants_in(code, file),  # type: ignore[misc]
                self.confidence,
                self._judgeable,
            )
            reached = None if self.all_functions else analysed.reached.get(path, frozenset())
            outcome.add(judge(shown(file), result, reached, wanted))
        return outcome

    @cached_property
    def _judgeable(self) -> list[str]:
        return [rule.code for rule in all_rules() if rule.pattern_nodes]


def known_codes() -> list[str]:
    """The codes that can be selected."""
    return sorted({*OWN_RULES, *(rule.code for rule in all_rules())})


def shown(path: Path) -> str:
    """A path as a user reads it: relative to the working directory if it is below, with slashes."""
    absolute, here = os.path.normpath(path.absolute()), f"{Path.cwd()}{os.sep}"
    return Path(absolute.removeprefix(here)).as_posix()
