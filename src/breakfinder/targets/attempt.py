"""One way to build a target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from breakfinder.targets.subject import Subject


@dataclass(frozen=True)
class Attempt:
    """One way to build a target; ``note`` says why it was taken, where it is not the first.

    ``applies`` says whether it may help after an earlier attempt failed with this exception.
    """

    build: Callable[[], Subject]
    note: str = ""
    applies: Callable[[BaseException], bool] = lambda error: True
    deeper: Callable[[], Subject | None] = lambda: None
    """Builds it with more layers, for when frames are compiled anew within one call: whether that meets the
    recompile limit shows only with more layers than the limit.  None if there are no more."""
    with_values: Callable[[], Subject | None] = lambda: None
    """Builds it small with real tensors, to compare results on where the subject itself has none; None if it
    cannot be."""
