"""Checks of several targets, one after another, each in a child process of its own."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from breakfinder import __version__
from breakfinder.errors import UsageError
from breakfinder.options import CheckOptions
from breakfinder.pipeline import CheckResult, Progress, check_target, unusable
from breakfinder.report.collection import Collection, collect
from breakfinder.report.model import Tool


@dataclass(frozen=True)
class Asked:
    """One target by the name that the configuration gives it."""

    name: str
    text: str
    options: CheckOptions | UsageError
    """Or why they cannot be used."""


@dataclass
class SeveralResult:
    collection: Collection
    results: list[CheckResult] = field(default_factory=list)
    interrupted: bool = False

    @property
    def document(self) -> Collection:
        return self.collection

    @property
    def patch(self) -> str:
        return "".join(result.report.patch for result in self.results)


def check_several(
    asked: Iterable[Asked],
    on_progress: Callable[[str, Progress], None] | None = None,
    command: list[str] | None = None,
) -> SeveralResult:
    """Check them all; one that cannot be used, or run, has a report that says so and stops no other.

    ``on_progress`` is told the name too.  What is left when the user interrupts is named in a note.
    """
    asked = list(asked)
    created = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    results: list[CheckResult] = []
    interrupted = False
    try:
        for one in asked:
            result = _check(one, on_progress, command)
            target = result.report.target.model_copy(update={"name": one.name})
            result.report = result.report.model_copy(update={"target": target})
            results.append(result)
            if result.interrupted:
                interrupted = True
                break
    except KeyboardInterrupt:  # between two child processes
        interrupted = True
    left = [one.name for one in asked[len(results) :]]
    notes = [f"Interrupted before {', '.join(left)}."] if left else []
    reports = [result.report for result in results]
    collection = collect(reports, Tool(version=__version__), created, command or [], notes)
    return SeveralResult(collection, results, interrupted)


def _check(
    one: Asked,
    on_progress: Callable[[str, Progress], None] | None,
    command: list[str] | None,
) -> CheckResult:
    def tell(progress: Progress) -> None:
        if on_progress:
            on_progress(one.name, progress)

    try:
        if isinstance(one.options, UsageError):
            raise one.options
        return check_target(one.text, one.options, tell, command)
    except UsageError as error:
        return CheckResult(unusable(one.text, error, command), unusable=True)
