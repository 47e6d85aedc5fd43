"""Run one function in a fork of this process, which has the model built already."""

from __future__ import annotations

import os
import pickle
import select
import signal
import time
import traceback
from collections.abc import Callable
from typing import Any


class TrialError(Exception):
    """A trial that came to no result; the message is one line for the reader."""


def in_fork(function: Callable[[], Any], timeout: float) -> Any:
    """What ``function`` gives, computed in a forked child; nothing that it does to the process lasts.

    Raises TrialError if it raises, dies, or takes longer than ``timeout`` seconds.
    """
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _run(function, writer)
    os.close(writer)
    try:
        data = _read(reader, time.monotonic() + timeout)
    except TimeoutError:
        raise TrialError(f"did not finish within {timeout:.0f} s") from None
    finally:
        os.close(reader)
        os.kill(pid, signal.SIGKILL)  # it has written all that it will
        _, status = os.waitpid(pid, 0)
    if not data:
        raise TrialError(f"the process died ({_cause(status)})")
    held, value = pickle.loads(data)
    if not held:
        raise TrialError(value)
    return value


def _run(function: Callable[[], Any], writer: int) -> None:
    """The child's part; never returns."""
    try:
        try:
            data = pickle.dumps((True, function()))
        except BaseException as error:
            lines = traceback.format_exception_only(error)
            data = pickle.dumps((False, " ".join(lines[-1].split())[:500]))
        with os.fdopen(writer, "wb") as stream:
            stream.write(data)
    finally:
        os._exit(0)


def _read(reader: int, deadline: float) -> bytes:
    parts: list[bytes] = []
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([reader], [], [], left)[0]:
            raise TimeoutError
        part = os.read(reader, 1 << 20)
        if not part:
            return b"".join(parts)
        parts.append(part)


def _cause(status: int) -> str:
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return f"exit status {os.waitstatus_to_exitcode(status)}"
