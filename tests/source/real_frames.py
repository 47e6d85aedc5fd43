"""Stacks of real exceptions: the interpreter's own record of where its frames were."""

import sys
import traceback
from types import TracebackType

import pytest

from breakfinder.trace import StackEntry

needs_columns = pytest.mark.skipif(sys.version_info < (3, 11), reason="Python records columns since 3.11")


def stack_of(trace: TracebackType | None) -> tuple[StackEntry, ...]:
    return tuple(
        StackEntry(frame.filename, frame.lineno, frame.name, frame.colno, frame.end_lineno, frame.end_colno)
        for frame in traceback.extract_tb(trace)
    )


def stack_when_raising(source, file, **variables) -> tuple[StackEntry, ...]:
    """The frames from the module down to where running ``source`` as ``file`` raises ZeroDivisionError."""
    code = compile(source, str(file), "exec")
    try:
        exec(code, {"__name__": "model", **variables})
    except ZeroDivisionError as error:
        return stack_of(error.__traceback__)[1:]
    raise AssertionError("the source did not raise")


def raising_file(path, source: str | bytes, **variables) -> tuple[StackEntry, ...]:
    """The same for a source that is written to ``path`` first."""
    content = source if isinstance(source, bytes) else source.encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return stack_when_raising(content, path, **variables)
