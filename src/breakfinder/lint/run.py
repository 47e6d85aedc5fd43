"""From files to findings: each file is read by itself, then it is decided what compiled code can reach."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from breakfinder.lint import analyse, reach
from breakfinder.lint.cache import Cache, Entry, Stamp, content_digest, settled
from breakfinder.lint.results import FileResult
from breakfinder.lint.sources import decode, read_bytes
from breakfinder.lint.suppressions import suppressions
from breakfinder.lint.unreadable import Unreadable
from breakfinder.lint.workers import each
from breakfinder.rules import all_rules
from breakfinder.source.text import SourceText


@dataclass
class Analysed:
    """What the files hold, by their absolute paths."""

    results: dict[str, FileResult] = field(default_factory=dict)
    reached: Mapping[str, Collection[str]] = field(default_factory=dict)
    """The qualified names of the functions of each file that compiled code can be in."""


def analyse_files(files: Sequence[Path], cache: Cache, jobs: int) -> Analysed:
    """What is found in files, from the cache where they are the same as when they were last read.

    ``jobs``: processes at most.  Raises UsageError if one of them dies.
    """
    paths = [os.path.normpath(file.absolute()) for file in files]
    stamps = {path: stamp(path) for path in paths}
    new = [path for path in paths if not _is_known(path, stamps[path], cache)]
    sizes = [stamps[path][0] for path in new]
    for path, entry in zip(new, each(inspect, new, sizes, jobs), strict=True):
        cache.put(path, Entry(settled(stamps[path]), *entry))
    return Analysed({path: cache.entries[path].result for path in paths}, _reached(paths, cache))


def analyse_text(name: str, content: bytes) -> Analysed:
    """What is found in one file whose content is given."""
    _, summary, result = _inspect(name, content)
    return Analysed({name: result}, reach.reachable([_summary(summary)]))


def stamp(path: str) -> Stamp:
    """What tells that a file has changed; (-1, 0) for one that is not there."""
    try:
        found = Path(path).stat()
    except OSError:
        return -1, 0
    return found.st_size, found.st_mtime_ns


def _is_known(path: str, stamp: Stamp, cache: Cache) -> bool:
    """Whether the cache knows what is in a file; a file with a new date may have its old content."""
    entry = cache.entries.get(path)
    if entry is None or stamp[0] < 0:
        return False
    if entry.stamp == stamp:
        return True
    try:
        same = content_digest(read_bytes(Path(path))) == entry.digest
    except Unreadable:
        return False
    if same:
        entry.stamp, cache.changed = settled(stamp), True
    return same


def _reached(paths: Sequence[str], cache: Cache) -> Mapping[str, Collection[str]]:
    lines = (f"{path} {cache.entries[path].digest}" for path in paths)
    tree = content_digest("\n".join(lines).encode(errors="surrogateescape"))
    if tree != cache.tree:
        summaries = [_summary(cache.entries[path].summary) for path in paths]
        cache.reached = reach.reachable(summaries)
        cache.tree, cache.changed = tree, True
    return cache.reached


def inspect(path: str) -> tuple[str, str, FileResult]:
    """Digest of a file's content, summary as JSON, and what is found in it."""
    try:
        content = read_bytes(Path(path))
    except Unreadable as error:
        return _unreadable(path, "", error)
    return _inspect(path, content)


def _inspect(path: str, content: bytes) -> tuple[str, str, FileResult]:
    digest = content_digest(content)
    try:
        source = decode(content, path)
    except Unreadable as error:
        return _unreadable(path, digest, error)
    text = SourceText(source.text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of the source, such as invalid escapes
            summary = reach.summarise(path, analyse.parsed(text))
            findings = analyse.analyse(path, text, None, all_rules())
    except Exception as error:  # whatever goes wrong with one file, the others are still looked at
        fault = f"{type(error).__name__} in breakfinder itself, please report it: {error}"
        return _unreadable(path, digest, Unreadable(fault))
    cells = source.notebook.cells if source.notebook else ()
    return digest, json.dumps(summary.as_dict()), FileResult(findings, suppressions(source.text), cells)


def _unreadable(path: str, digest: str, error: Unreadable) -> tuple[str, str, FileResult]:
    finding = analyse.unreadable(path, error.reason, error.line)
    return digest, json.dumps(reach.Summary(path).as_dict()), FileResult([finding])


def _summary(text: str) -> reach.Summary:
    return reach.Summary.of_dict(json.loads(text))
