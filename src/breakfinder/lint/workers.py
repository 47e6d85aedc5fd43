"""Work on many files in several processes, with results in the order of the files."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from breakfinder.errors import UsageError

FEW_BYTES = 300_000
"""Less source than this is done sooner than a process is started."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def each(
    function: Callable[[Item], Result], items: Sequence[Item], sizes: Sequence[int], jobs: int
) -> Iterator[Result]:
    """``function`` of each item, in order, in at most ``jobs`` processes; ``sizes`` are bytes of source.

    Raises UsageError if a process dies: killed for lack of memory, or by hand.
    """
    jobs = min(jobs, len(items))
    if jobs <= 1 or sum(sizes) < FEW_BYTES:
        yield from map(function, items)
        return
    largest_first = sorted(range(len(items)), key=lambda index: -sizes[index])
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _start)
    try:
        futures = {index: pool.submit(function, items[index]) for index in largest_first}
        for index in range(len(items)):
            yield futures.pop(index).result()
    except BrokenProcessPool as error:
        raise UsageError(
            "a worker process died: it was killed, or there was no memory left",
            "--jobs 1 works in one process",
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _start() -> None:
    """In each process: leave Ctrl-C to the parent, and end with it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)
