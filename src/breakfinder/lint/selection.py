"""Which rules are looked for, and where: ``select``, ``ignore`` and ``per-file-ignores``."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from pathspec import GitIgnoreSpec

from breakfinder.errors import UsageError
from breakfinder.lint.files import Patterns

ALL = "ALL"


@dataclass(frozen=True)
class Selection:
    """Codes, or how they begin; of those that fit a rule the longest decides, and ``ignore`` over ``select``."""

    select: Sequence[str] = (ALL,)
    ignore: Sequence[str] = ()
    per_file: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Codes to ignore by pattern of file, as in .gitignore."""
    root: Path = Path()
    """What the patterns are relative to."""

    def check(self, known: Collection[str], where: str) -> None:
        """Raises UsageError for a code that no rule has; ``where`` is where the user wrote it."""
        named = [*self.select, *self.ignore, *(code for codes in self.per_file.values() for code in codes)]
        for name in named:
            if name.upper() != ALL and not (name and _known(name.upper(), known)):
                raise UsageError(f"{where}: no rule '{name}'", close_codes(name.upper(), known))
        for pattern in self.per_file:
            Patterns.of(self.root, [pattern])

    def rules(self, known: Iterable[str]) -> frozenset[str]:
        """Those of the known codes that are looked for at all."""
        return frozenset(code for code in known if _fit(code, self.select) > _fit(code, self.ignore))

    def rules_in(self, file: Path, rules: frozenset[str]) -> frozenset[str]:
        """Those of the ``rules`` that are looked for in a file."""
        for patterns, codes in self._per_file:
            if patterns.ignores(str(file.absolute()), is_folder=False):
                rules = frozenset(code for code in rules if _fit(code, codes) < 0)
        return rules

    @cached_property
    def _per_file(self) -> list[tuple[Patterns, Sequence[str]]]:
        root = str(self.root.absolute())
        return [
            (Patterns(root, GitIgnoreSpec.from_lines([pattern])), codes)
            for pattern, codes in self.per_file.items()
        ]


def _fit(code: str, names: Sequence[str]) -> int:
    """Length of the longest of ``names`` that the code begins with; 0 for ``ALL``, -1 for none."""
    fits = [0 if name.upper() == ALL else len(name) for name in names if _begins(code, name)]
    return max(fits, default=-1)


def _begins(code: str, name: str) -> bool:
    return name.upper() == ALL or code.startswith(name.upper())


def close_codes(name: str, known: Collection[str]) -> str:
    """What to do about a code that no rule has: those that begin most like it."""
    begin = next((name[:end] for end in range(len(name), 2, -1) if _known(name[:end], known)), None)
    close = sorted(code for code in known if begin and code.startswith(begin))
    close = difflib.get_close_matches(name, close, 3, cutoff=0) if close else []
    return f"did you mean {' or '.join(close)}?" if close else "`breakfinder rules` lists them"


def _known(begin: str, known: Collection[str]) -> bool:
    return any(code.startswith(begin) for code in known)
