"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from breakfinder.errors import UsageError


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text to a file: all of it or none, also if the machine stops on the way.

    Makes missing folders.  What exists and is not a regular file (a pipe, ``/dev/stdout``) is written to
    directly.  Raises UsageError if the place cannot be written.
    """
    try:
        write_bytes(path, text.encode("utf-8"))
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {error.strerror or error}",
            "give another place with --output FORMAT=FILE",
        ) from error


def write_bytes(path: Path, data: bytes, *, keep_mode: bool = False) -> None:
    """`write_text` for bytes; with ``keep_mode`` a file that is replaced keeps its permissions.

    Raises OSError if the place cannot be written.
    """
    path = path.resolve()
    if path.exists() and not path.is_file() and not path.is_dir():
        path.write_bytes(data)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name[:200]}.{secrets.token_hex(6)}")
    try:
        # 0o666 is narrowed by the umask, as for any new file.
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as stream:
            stream.write(data)
            stream.flush()
            if keep_mode and path.is_file():
                os.fchmod(stream.fileno(), stat.S_IMODE(path.stat().st_mode))
            os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
