"""What was found in files that are still the same, kept between runs in one file for each project."""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import platformdirs

from breakfinder import __version__
from breakfinder.lint.finding import LintFinding
from breakfinder.lint.results import FileResult
from breakfinder.lint.suppressions import Suppression
from breakfinder.report.write import write_bytes

MOST_FILES = 50_000
_RACE_NS = 2_000_000_000
"""A file changed so shortly before it was read may have been changed again, with no later time on it."""

Stamp = tuple[int, int]
"""Size in bytes, and time of the last change in nanoseconds."""
Reached = Mapping[str, frozenset[str]]


def default_folder() -> Path:
    return Path(platformdirs.user_cache_dir("breakfinder", appauthor=False)) / "lint"


def content_digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


@dataclass
class Entry:
    """What is known of one file."""

    stamp: Stamp
    digest: str
    summary: str
    """As JSON; it is needed only if any file has changed."""
    result: FileResult


@dataclass
class Cache:
    """Entries by absolute path.

    A cache that is missing, corrupt, or made by another version of breakfinder, its rules or Python is empty.
    """

    file: Path | None
    """Where it is kept; None: nowhere."""
    entries: dict[str, Entry] = field(default_factory=dict)
    tree: str = ""
    """Stands for the files, with their content, that ``reached`` is about."""
    reached: Reached = field(default_factory=dict)
    changed: bool = False
    fault: str = ""
    """Why it could not be written, if it could not."""

    @classmethod
    def open(cls, folder: Path | None, root: Path) -> Cache:
        """The cache of the project at ``root`` in a folder; None: one that is kept nowhere."""
        if folder is None:
            return cls(None)
        name = content_digest(str(root.resolve()).encode(errors="surrogateescape"))
        cache = cls(folder / f"{name}.json")
        cache._load()
        return cache

    def _load(self) -> None:
        assert self.file is not None
        try:
            check, _, body = self.file.read_bytes().partition(b"\n")
            if check.decode() != content_digest(body):
                return
            data = json.loads(body)
            if data["version"] != _version():
                return
            self.entries = {path: _entry(path, values) for path, values in data["files"].items()}
            self.reached = {path: frozenset(names) for path, names in data["reached"].items()}
            self.tree = data["tree"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            self.entries, self.reached, self.tree = {}, {}, ""

    def put(self, path: str, entry: Entry) -> None:
        self.entries[path] = entry
        self.changed = True

    def save(self, used: Iterable[str]) -> None:
        """Write it, if anything has changed; ``used`` are the files of this run, which are kept in any case.

        That it cannot be written is no reason to stop: ``fault`` says so then.
        """
        if not self.changed or self.file is None:
            return
        keep = set(used)
        kept = {
            path: entry
            for path, entry in self.entries.items()
            if path in keep or (len(self.entries) <= MOST_FILES and Path(path).exists())
        }
        data = {
            "version": _version(),
            "files": {path: _values(entry) for path, entry in kept.items()},
            "tree": self.tree,
            "reached": {path: sorted(names) for path, names in self.reached.items()},
        }
        body = json.dumps(data, separators=(",", ":")).encode()
        try:
            write_bytes(self.file, f"{content_digest(body)}\n".encode() + body)
        except OSError as error:
            self.fault = f"{error.strerror or error}: {self.file}"
        self.changed = False


def settled(stamp: Stamp) -> Stamp:
    """The stamp to remember: one that fits no file if this one is too young to be trusted."""
    return stamp if stamp[1] < time.time_ns() - _RACE_NS else (-1, -1)


def _version() -> list[str]:
    """Everything but the files that a result depends on: the code of this package, and Python's grammar."""
    package = Path(__file__).parents[1]
    code = blake2b(digest_size=16)
    for folder in ("lint", "rules", "source"):
        for path in sorted((package / folder).rglob("*.py")):
            found = path.stat()
            code.update(f"{path.name} {found.st_size} {found.st_mtime_ns}\n".encode())
    return [__version__, sys.version, code.hexdigest()]


def _values(entry: Entry) -> list[Any]:
    result = entry.result
    return [
        entry.stamp,
        entry.digest,
        entry.summary,
        [[value for name, value in vars(finding).items() if name != "file"] for finding in result.findings],
        [dataclasses.astuple(one) for one in result.suppressions],
        result.cells,
    ]


def _entry(path: str, values: Any) -> Entry:
    (size, time_ns), digest, summary, findings, suppressions, cells = values
    return Entry(
        (size, time_ns),
        digest,
        summary,
        FileResult(
            [LintFinding(path, *finding) for finding in findings],
            [Suppression(kind, tuple(codes), *rest) for kind, codes, *rest in suppressions],
            tuple((number, line) for number, line in cells),
        ),
    )
