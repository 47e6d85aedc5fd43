"""The parent's side of the child process: starts it, listens to it, and stops it at its limits.

The child runs in a session of its own, and all that it starts is stopped with it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import psutil

from breakfinder.options import CheckOptions
from breakfinder.report.model import Failure, Target
from breakfinder.trace import from_plain

# Not "-m": that would put the working directory first on the path, where a file of the user's may have the
# name of a module that torch imports.
_START = (
    "import sys; sys.path[:] = [entry for entry in sys.path if entry]; "
    "from breakfinder.worker import main; sys.exit(main(sys.argv[1:]))"
)
_SIGNALS = {
    "SIGSEGV": "crashed: segmentation fault",
    "SIGABRT": "crashed: abort",
    "SIGILL": "crashed: illegal instruction",
    "SIGFPE": "crashed: arithmetic error",
    "SIGBUS": "crashed: bus error",
}
_TAIL = 16 * 1024
_POLL_SECONDS = 0.05
_AVAILABLE_SHARE = 0.85


@dataclass
class Outcome:
    """How the child ended.  ``failure`` is None where it finished by itself."""

    failure: Failure | None = None
    usage_error: tuple[str, str] | None = None
    output: str = ""
    """The end of what it printed."""
    peak_memory_bytes: int = 0
    interrupted: bool = False


@dataclass
class Supervisor:
    """Runs one child to its end.

    ``on_message`` is told of every message, ``on_tick`` is called some times a second meanwhile.
    """

    target: Target
    options: CheckOptions
    on_message: Callable[[str, Any], None]
    on_tick: Callable[[], None] = lambda: None
    stage: str = "start"
    _done: bool = False
    _outcome: Outcome = field(default_factory=Outcome)
    _printed: int = 0
    _tail: bytes = b""
    _pending: bytes = b""

    def run(self) -> Outcome:
        """Start the child and wait for it; KeyboardInterrupt becomes a failure of the stage it was in."""
        memory_limit = self.options.memory_limit or int(psutil.virtual_memory().available * _AVAILABLE_SHARE)
        request_read, request_write = os.pipe()
        message_read, message_write = os.pipe()
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        child = subprocess.Popen(
            [sys.executable, "-c", _START, str(request_read), str(message_write)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(request_read, message_write),
            start_new_session=True,
            env=environment,
        )
        os.close(request_read)
        os.close(message_write)
        try:
            _interrupt_on_sigterm()
            request = {"target": self.target.model_dump(), "options": dataclasses.asdict(self.options)}
            with contextlib.suppress(BrokenPipeError):
                os.write(request_write, json.dumps(request).encode() + b"\n")
            self._listen(child, message_read, memory_limit)
        except KeyboardInterrupt:
            self._fail("interrupted")
            self._outcome.interrupted = True
        finally:
            _stop(child)
            os.close(request_write)
            os.close(message_read)
        self._outcome.output = self._tail.decode("utf-8", errors="replace")
        return self._outcome

    def _fail(self, message: str, detail: str = "") -> None:
        if self._outcome.failure is None:
            self._outcome.failure = Failure(stage=self.stage, message=message, detail=detail)

    def _listen(self, child: subprocess.Popen[bytes], messages: int, memory_limit: int) -> None:
        assert child.stdout is not None
        deadline = time.monotonic() + self.options.timeout
        process = psutil.Process(child.pid)
        next_look = 0.0
        with selectors.DefaultSelector() as selector:
            selector.register(messages, selectors.EVENT_READ, self._take_messages)
            selector.register(child.stdout, selectors.EVENT_READ, self._take_output)
            while selector.get_map():
                ready = selector.select(_POLL_SECONDS)
                if not ready and child.poll() is not None:
                    break  # what it left running may hold the pipes open
                for key, _ in ready:
                    data = os.read(key.fd, 1 << 20)
                    if data:
                        key.data(data)
                    else:
                        selector.unregister(key.fileobj)
                now = time.monotonic()
                if now >= next_look:
                    next_look = now + _POLL_SECONDS
                    self.on_tick()
                    if self._limit_passed(process, memory_limit, deadline) or self._done:
                        return
        self._explain_exit(child)

    def _limit_passed(self, process: psutil.Process, memory_limit: int, deadline: float) -> bool:
        memory = _resident(process)
        self._outcome.peak_memory_bytes = max(self._outcome.peak_memory_bytes, memory)
        if memory > memory_limit:
            self._fail(
                f"used {_bytes(memory)} of memory, more than the limit of {_bytes(memory_limit)} "
                "(--memory-limit sets another)"
            )
        elif time.monotonic() > deadline:
            self._fail(
                f"did not finish within {self.options.timeout:g} s (--timeout sets another limit)",
            )
        elif self._printed > self.options.output_limit:
            self._fail(f"printed more than {_bytes(self.options.output_limit)}")
        return self._outcome.failure is not None

    def _take_output(self, data: bytes) -> None:
        self._printed += len(data)
        self._tail = (self._tail + data)[-_TAIL:]

    def _take_messages(self, data: bytes) -> None:
        *lines, self._pending = (self._pending + data).split(b"\n")
        for line in lines:
            try:
                self._take_message(*json.loads(line))
            except (ValueError, TypeError, KeyError) as error:
                self._fail(f"sent a message that cannot be read ({type(error).__name__}: {error})")

    def _take_message(self, kind: str, content: Any) -> None:
        if kind == "stage":
            self.stage = content["name"]
        if kind == "done":
            self._done = True
        elif kind == "failure":
            self._outcome.failure = Failure(**content)
        elif kind == "usage_error":
            self._outcome.usage_error = (content["message"], content["hint"])
        else:
            self.on_message(kind, from_plain(kind, content))

    def _explain_exit(self, child: subprocess.Popen[bytes]) -> None:
        """The child is gone without saying that it was done."""
        if self._done:
            return
        status = child.wait()
        if status < 0:
            name = signal.Signals(-status).name
            what = _SIGNALS.get(name, "was killed")
            self._fail(f"the process {what} ({name})", self._tail.decode("utf-8", errors="replace"))
        else:
            self._fail(
                f"the process ended by itself with exit status {status} before it was done",
                self._tail.decode("utf-8", errors="replace"),
            )


def _interrupt_on_sigterm() -> None:
    """Treat SIGTERM (a cancelled CI job) like Ctrl-C: the report is written and nothing is left running."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)


def _resident(process: psutil.Process) -> int:
    """Resident bytes of a process and all its descendants; of these what they do not share with it."""
    total = 0
    with contextlib.suppress(psutil.NoSuchProcess):
        total = process.memory_info().rss
        for member in process.children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                total += member.memory_full_info().uss
    return total


def _bytes(size: int) -> str:
    return f"{size / 2**30:.1f} GiB" if size >= 1 << 30 else f"{size / 2**20:.0f} MiB"


def _stop(child: subprocess.Popen[bytes]) -> None:
    """Kill the child's whole session, and wait for it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    if child.stdout is not None:
        child.stdout.close()
