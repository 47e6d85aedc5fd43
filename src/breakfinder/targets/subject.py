"""The subject: the callable under test, and the ways in which it is called."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

from breakfinder.report.model import Subject as SubjectFacts


@dataclass(frozen=True)
class Call:
    """The arguments of one call of the subject."""

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)


Calls = Generator[Call, Any, None]
"""Yields each call and is sent its output, so that a later call can use it (a KV cache) or a loss can
be taken from it and go backward."""


@dataclass(frozen=True)
class Scenario:
    """One way to call the subject.

    ``calls`` starts over with fresh, equal inputs each time that it is called.
    """

    name: str
    calls: Callable[[], Calls]
    training: bool | None = False
    """The mode that the module is put into for it; None leaves every submodule in the mode that it has."""
    grad: bool = True
    backends: tuple[str, ...] = ("eager",)
    """Backends to compile it with; ``aot_eager`` also traces the backward pass."""
    given: int | None = None
    """How many of the calls have inputs that the user vouches for; None: all.  A model that raises on a
    later one has not failed: the inputs were a guess at other sizes."""


@dataclass
class Subject:
    """The callable under test with its scenarios, in the order in which they run.

    ``run_context`` makes the context in which every call must happen (the fake tensor mode of a model
    that has no weights, for one).
    """

    callable: Callable[..., Any]
    facts: SubjectFacts
    scenarios: list[Scenario]
    run_context: Callable[[], contextlib.AbstractContextManager[Any]] = contextlib.nullcontext
