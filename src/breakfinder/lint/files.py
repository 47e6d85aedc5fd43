"""Which files to look at: from the paths that the user gave, without what .gitignore and the settings leave out."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pathspec import GitIgnoreSpec

from breakfinder.errors import UsageError

DEFAULT_EXCLUDES = (
    ".bzr/", ".direnv/", ".eggs/", ".git/", ".hg/", ".ipynb_checkpoints/", ".mypy_cache/", ".nox/",
    ".pytest_cache/", ".ruff_cache/", ".svn/", ".tox/", ".venv/", "__pycache__/", "__pypackages__/", "build/",
    "dist/", "node_modules/", "site-packages/", "venv/",
)  # fmt: skip
"""Folders that are left out wherever they are below a path that was given."""
SUFFIXES = (".py", ".ipynb")


@dataclass(frozen=True)
class Patterns:
    """Patterns of one .gitignore, or of the settings, and the folder that they are relative to."""

    folder: str
    spec: GitIgnoreSpec
    everywhere: bool = False
    """Whether those that are not about a certain place hold outside of the folder, too."""

    @classmethod
    def of(cls, folder: Path, lines: Iterable[str], *, everywhere: bool = False) -> Patterns:
        """Raises UsageError for a line that is no pattern."""
        try:
            return cls(str(folder), GitIgnoreSpec.from_lines(list(lines)), everywhere)
        except ValueError as error:
            raise UsageError(f"a pattern cannot be used: {error}", "write it as in .gitignore") from error

    def ignores(self, path: str, *, is_folder: bool) -> bool | None:
        """What they say about a path; None if nothing."""
        relative = self._relative(path)
        if relative is None:
            return None
        return self.spec.check_file(f"{relative}/" if is_folder else relative).include

    def without(self, path: str) -> Patterns:
        """Those that do not leave out a folder."""
        relative = self._relative(path)
        if relative is None:
            return self
        kept = [pattern for pattern in self.spec.patterns if pattern.match_file(f"{relative}/") is None]
        return Patterns(self.folder, GitIgnoreSpec(kept), self.everywhere)

    def _relative(self, path: str) -> str | None:
        prefix = self.folder.rstrip(os.sep) + os.sep
        if path.startswith(prefix):
            return path[len(prefix) :].replace(os.sep, "/")
        return path.replace(os.sep, "/").lstrip("/") if self.everywhere else None


@dataclass(frozen=True)
class Exclusion:
    """What to leave out."""

    patterns: Patterns | None = None
    """Of the settings."""
    gitignore: bool = True
    force: bool = False
    """Also what was given by name."""


@dataclass
class Found:
    """The files to look at, as they are shown, in order; and what could not be looked into, with why."""

    files: list[Path] = field(default_factory=list)
    unreadable: list[tuple[Path, str]] = field(default_factory=list)


def find_files(paths: Sequence[Path], exclusion: Exclusion, suffixes: tuple[str, ...] = SUFFIXES) -> Found:
    """The files with these endings at ``paths``, each once, in the order of their names.

    A file that is given by name is taken whatever it is called, and a folder that is given is looked into even
    if it would be left out (not with ``exclusion.force``).  Links to folders are not followed, unless given.
    Raises UsageError for a path that does not exist.
    """
    found = Found()
    seen: set[str] = set()
    for path in paths:
        if not path.exists():
            raise UsageError(f"no such file or folder: {path}", _close(path))
        for file in _Walk(path, exclusion, found, suffixes).files():
            identity = os.path.realpath(file)
            if identity not in seen:
                seen.add(identity)
                found.files.append(file)
    found.files.sort()
    return found


def _close(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return "give an existing path"
    close = difflib.get_close_matches(path.name, names, 1)
    return f"did you mean {path.with_name(close[0])}?" if close else "give an existing path"


class _Walk:
    """Through one path that was given."""

    def __init__(self, path: Path, exclusion: Exclusion, found: Found, suffixes: tuple[str, ...]) -> None:
        self.suffixes = suffixes
        self.path = path
        self.exclusion = exclusion
        self.found = found
        self.absolute = os.path.normpath(path.absolute())
        self.settings = [exclusion.patterns] if exclusion.patterns else []
        self.outer = _gitignores_above(Path(self.absolute)) if exclusion.gitignore else []
        if not exclusion.force:
            self.settings = [patterns.without(self.absolute) for patterns in self.settings]
            self.outer = [] if self._left_out() else self.outer

    def files(self) -> Iterator[Path]:
        if self.exclusion.force and self._left_out():
            return
        if self.path.is_dir():
            yield from self._folder(self.path, self.absolute, self.outer)
        elif self.path.suffix != ".pyi":
            yield self.path

    def _left_out(self) -> bool:
        """Whether the path or a folder that it is in is left out."""
        path = Path(self.absolute)
        parts = [*reversed(path.parents), path]
        return any(self._excluded(str(part), self.outer, is_folder=part.is_dir()) for part in parts)

    def _excluded(self, path: str, gitignores: Sequence[Patterns], *, is_folder: bool) -> bool:
        if any(patterns.ignores(path, is_folder=is_folder) for patterns in self.settings):
            return True
        for patterns in reversed(gitignores):  # the nearest decides
            said = patterns.ignores(path, is_folder=is_folder)
            if said is not None:
                return said
        return False

    def _folder(self, folder: Path, absolute: str, gitignores: Sequence[Patterns]) -> Iterator[Path]:
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            self.found.unreadable.append((folder, error.strerror or str(error)))
            return
        if self.exclusion.gitignore and any(entry.name == ".gitignore" for entry in entries):
            gitignores = [*gitignores, *_gitignore(Path(absolute))]
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            if not is_folder and not entry.name.endswith(self.suffixes):
                continue
            path, below = folder / entry.name, f"{absolute.rstrip(os.sep)}{os.sep}{entry.name}"
            if self._excluded(below, gitignores, is_folder=is_folder):
                continue
            if is_folder:
                yield from self._folder(path, below, gitignores)
            elif path.is_file() or not path.exists():  # no pipes, no links to folders
                yield path


def _gitignores_above(path: Path) -> list[Patterns]:
    """Those of the folders that ``path`` is in, up to the one that holds ``.git``; none outside of git."""
    above: list[Patterns] = []
    for folder in path.parents:
        above[:0] = _gitignore(folder)
        if (folder / ".git").exists():
            return above
    return []


def _gitignore(folder: Path) -> list[Patterns]:
    """The patterns of a folder's .gitignore; nothing where it cannot be read, as git has it."""
    try:
        lines = (folder / ".gitignore").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    return [Patterns.of(folder, filter(_is_pattern, lines))]


def _is_pattern(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def shown(path: Path) -> str:
    """A path as a user reads it: relative to the working directory if it is below, with slashes."""
    absolute, here = os.path.normpath(path.absolute()), f"{Path.cwd()}{os.sep}"
    return Path(absolute.removeprefix(here)).as_posix()
