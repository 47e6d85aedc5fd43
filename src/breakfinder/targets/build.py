"""Target → Subject: the ways in which a target can be built, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Iterator

from breakfinder.options import BuildOptions
from breakfinder.report.model import Target
from breakfinder.targets.attempt import Attempt


def attempts(target: Target, options: BuildOptions) -> Iterator[Attempt]:
    """Ways to build ``target``; a later one is for when the model cannot run as the one before built it."""
    if target.kind in ("file", "module"):
        from breakfinder.targets import python_targets

        yield Attempt(lambda: python_targets.build(target, options))
        return
    from breakfinder.targets import transformers_targets

    yield from transformers_targets.attempts(target, options)
