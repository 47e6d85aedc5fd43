"""Files as text, and what is needed to write them back as they were."""

from __future__ import annotations

import codecs
import io
import stat
import tokenize
from dataclasses import dataclass
from pathlib import Path

from breakfinder.lint.notebook import Notebook, read_notebook
from breakfinder.lint.unreadable import Unreadable

MOST_BYTES = 10 << 20
"""Larger files are not looked at: they are data or generated."""


@dataclass(frozen=True)
class Source:
    """The text of a file, with its own ends of lines and without a byte order mark."""

    text: str
    encoding: str = "utf-8"
    mark: bool = False
    """Whether it starts with a byte order mark."""
    notebook: Notebook | None = None
    """Where the text comes from, if it is the code of a notebook."""

    def encode(self, text: str) -> bytes:
        """Another text as the file would hold it.  Raises ValueError if its encoding cannot."""
        return (codecs.BOM_UTF8 if self.mark else b"") + text.encode(self.encoding)


def read_bytes(path: Path) -> bytes:
    """What a file holds.  Raises Unreadable."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
            raise Unreadable("it is no regular file")
        if found.st_size > MOST_BYTES:
            raise Unreadable(f"it has {found.st_size / (1 << 20):.0f} MiB, more than {MOST_BYTES >> 20}")
        return path.read_bytes()
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from error


def decode(content: bytes, name: str) -> Source:
    """The source in the content of a file, as Python would read it; of a notebook, its code.  Raises Unreadable."""
    if name.endswith(".ipynb"):
        notebook = read_notebook(_decoded(content, "utf-8"))
        return Source(notebook.text, notebook=notebook)
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(_with_newlines(content)).readline)
    except SyntaxError as error:
        if "invalid or missing encoding" in str(error):
            encoding = "utf-8"
        else:
            raise Unreadable(str(error)) from error
    mark = content.startswith(codecs.BOM_UTF8)
    encoding = "utf-8" if encoding == "utf-8-sig" else encoding
    return Source(_decoded(content[3:] if mark else content, encoding), encoding, mark)


def _decoded(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = _with_newlines(content[: error.start]).count(b"\n") + 1
        raise Unreadable(f"it is not {encoding.upper()}: byte {content[error.start]:#04x}", line) from error
    except LookupError as error:  # an encoding of bytes to bytes, such as hex
        raise Unreadable(str(error)) from error


def _with_newlines(content: bytes) -> bytes:
    return content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
