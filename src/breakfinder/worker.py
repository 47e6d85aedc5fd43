"""The child process: builds one subject, traces it, and streams what it learns to the parent.

Messages are JSON lines ``[kind, data]`` on a pipe of their own, so that what the model prints cannot
garble them.  Kinds besides those of `breakfinder.trace.TraceLog`: ``stage``, ``environment``, ``subject``,
``note``, ``restart`` (what was traced so far is void), ``traced`` (all that follows are trials of fixes and
settings), ``fix``, ``step``, ``patch``, ``edits``, ``left``, ``knob``, ``usage_error``, ``failure`` and ``done``.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import json
import os
import platform
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from breakfinder.errors import UsageError
from breakfinder.options import CheckOptions, options_from_plain
from breakfinder.report.model import Target
from breakfinder.trace import TraceError, to_plain


class Channel:
    """The child's end of the message pipe."""

    def __init__(self, descriptor: int) -> None:
        self._stream = os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace")
        self.stage = "start"

    def send(self, kind: str, data: Any) -> None:
        if kind == "stage":
            self.stage = data["name"]
        self._stream.write(json.dumps([kind, to_plain(data)], default=str) + "\n")
        self._stream.flush()


def main(arguments: list[str]) -> int:
    """Entry of ``python -m breakfinder.worker REQUEST_FD MESSAGE_FD``."""
    request_descriptor, message_descriptor = (int(argument) for argument in arguments)
    for descriptor in (request_descriptor, message_descriptor):
        os.set_inheritable(descriptor, False)
    request = _read_request(request_descriptor)
    _start_guard(request_descriptor, message_descriptor)
    faulthandler.enable()
    channel = Channel(message_descriptor)
    with _reported(channel):
        check(Target.model_validate(request["target"]), options_from_plain(request["options"]), channel.send)
    channel.send("done", {})
    return 0


def _read_request(descriptor: int) -> Any:
    """The first line on the request pipe; the pipe stays open as long as the parent lives."""
    data = b""
    while not data.endswith(b"\n"):
        chunk = os.read(descriptor, 65536)
        if not chunk:
            os._exit(1)
        data += chunk
    return json.loads(data)


def _start_guard(request_descriptor: int, message_descriptor: int) -> None:
    """Start a process that kills this one, and all that it started, when the parent's end of the pipe closes.

    A thread could not, while the model's C code holds the interpreter's lock.  It is no child of this process
    (it is forked twice), so that a model that waits for its children does not wait for it.
    """
    if middle := os.fork():
        os.waitpid(middle, 0)
        return
    if os.fork() == 0:
        os.close(message_descriptor)
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(nothing, descriptor)
        while os.read(request_descriptor, 1):
            continue
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


@contextlib.contextmanager
def _reported(channel: Channel) -> Iterator[None]:
    """Turn whatever the target's code raises into a message that names the stage."""
    try:
        yield
    except UsageError as error:
        channel.send("usage_error", {"message": error.message, "hint": error.hint})
    except SystemExit as error:
        channel.send("failure", _failure(channel.stage, f"the model called sys.exit({error.code!r})"))
    except MemoryError:
        channel.send("failure", _failure(channel.stage, "out of memory"))
    except BaseException as error:
        channel.send("failure", failure_of(channel.stage, error))


def _failure(stage: str, message: str) -> dict[str, str]:
    return {"stage": stage, "message": message, "detail": traceback.format_exc(limit=-30)}


def failure_of(stage: str, error: BaseException) -> dict[str, str]:
    """A failure message for an exception: its type, its first line, and where in the model it was raised."""
    described: TraceError | None = getattr(error, "error", None)
    if described is None:
        text = str(error).strip()
        first = text.split("\n")[0] if text else ""
        message = f"{type(error).__name__}: {first}" if first else type(error).__name__
        return {
            "stage": stage,
            "message": message,
            "detail": "".join(traceback.format_exception(error, limit=-30)),
        }
    place = ""
    if described.stack:
        place = f" ({described.stack[-1].file}:{described.stack[-1].line} in {described.stack[-1].name})"
    first = described.message.strip().split("\n")[0]
    detail = "".join(traceback.format_exception(error, limit=-30))
    return {"stage": stage, "message": f"the model raises {described.type}: {first}{place}", "detail": detail}


def check(target: Target, options: CheckOptions, send: Callable[[str, Any], None]) -> None:
    """Build and trace; where one way of building cannot be traced, go on to the next.

    ``send`` is told of everything.  Raises what the target's code raises.
    """
    send("stage", {"name": "import torch"})
    from breakfinder.tracing import dynamo, trace

    if note := dynamo.check_torch():
        send("note", {"text": note})
    send("environment", environment(options.build.device))

    from breakfinder.targets.build import attempts

    # What is imported by now stays: looking through it again and again is a good part of the tracing time.
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    failure: Exception | None = None
    for attempt in attempts(target, options.build):
        if failure is not None and not attempt.applies(failure):
            continue
        if failure is not None:
            send("restart", {"note": attempt.note})
        send("stage", {"name": "build"})
        try:
            subject = attempt.build()
            send("subject", subject.facts.model_dump())
            log = trace(subject, send, options.dynamo_config)
            if log.recompiles_within_a_call() and (deeper := attempt.deeper()):
                send("restart", {"note": attempt.note})
                send("subject", deeper.facts.model_dump())
                subject, log = deeper, trace(deeper, send, options.dynamo_config)
        except UsageError:
            raise
        except Exception as error:
            failure = error
            continue
        send("traced", {})
        if options.fixes and any(scenario.has_problems() for scenario in log.scenarios):
            from breakfinder.fixes.session import Session

            Session(subject, attempt, log, Path.cwd(), options).run(send)
        return
    if failure is not None:
        raise failure


def environment(device: str) -> dict[str, Any]:
    """Versions and machine, for the report."""
    from importlib import metadata

    def version(name: str) -> str:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            return ""

    packages = {name: version(name) for name in ("numpy", "triton", "accelerate", "timm")}
    return {
        "python": platform.python_version(),
        "torch": sys.modules["torch"].__version__,
        "transformers": version("transformers"),
        "device": device,
        "platform": platform.platform(),
        "packages": {name: found for name, found in packages.items() if found},
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
