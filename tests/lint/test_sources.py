"""Files as text."""

import os

import pytest

from breakfinder.lint import sources
from breakfinder.lint.sources import decode, read_bytes
from breakfinder.lint.unreadable import Unreadable


@pytest.mark.parametrize(
    ("content", "text", "encoding"),
    [
        (b"x = '\xc3\xa9'\r\n", "x = 'é'\r\n", "utf-8"),
        (b"\xef\xbb\xbfx = 1\r", "x = 1\r", "utf-8"),
        (b"# coding: latin-1\nx = '\xe9'\n", "# coding: latin-1\nx = 'é'\n", "iso-8859-1"),
        (b"", "", "utf-8"),
    ],
)
def test_decoded_as_python_does_and_written_back_the_same(content, text, encoding):
    source = decode(content, "a.py")
    assert (source.text, source.encoding) == (text, encoding)
    assert source.encode(source.text) == content


@pytest.mark.parametrize(
    ("content", "reason", "line"),
    [
        (b"x = 1\r\ny = '\xff'\n", "it is not UTF-8: byte 0xff", 2),
        (b"a\rb\r\nc\n\xe9", "it is not UTF-8: byte 0xe9", 4),
        (b"\xef\xbb\xbf\n\n\xff", "it is not UTF-8", 3),
        (b"# coding: no-such\n", "unknown encoding: no-such", 1),
        (b"# coding: hex\nx\n", "hex", 1),
        (b"\xef\xbb\xbf# coding: latin-1\n", "encoding", 1),
    ],
)
def test_what_is_no_text(content, reason, line):
    with pytest.raises(Unreadable) as caught:
        decode(content, "a.py")
    assert reason in caught.value.reason
    assert caught.value.line == line


def test_what_cannot_be_read(tmp_path, monkeypatch):
    with pytest.raises(Unreadable, match="No such file"):
        read_bytes(tmp_path / "a.py")
    with pytest.raises(Unreadable, match="directory"):
        read_bytes(tmp_path)
    (tmp_path / "a.py").write_bytes(b"12345")
    assert read_bytes(tmp_path / "a.py") == b"12345"
    monkeypatch.setattr(sources, "MOST_BYTES", 4)
    with pytest.raises(Unreadable, match="MiB"):
        read_bytes(tmp_path / "a.py")


@pytest.mark.timeout(20)
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "p.py")
    with pytest.raises(Unreadable, match="no regular file"):
        read_bytes(tmp_path / "p.py")
