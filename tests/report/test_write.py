import os
import stat
import threading

import pytest

from breakfinder.errors import UsageError
from breakfinder.report.write import write_text


def test_writes_utf8_and_leaves_nothing_else(tmp_path):
    write_text(tmp_path / "new" / "folder" / "report.html", "größe\n")
    assert (tmp_path / "new" / "folder" / "report.html").read_bytes() == "größe\n".encode()
    assert [path.name for path in (tmp_path / "new" / "folder").iterdir()] == ["report.html"]


def test_has_the_permissions_of_any_new_file(tmp_path):
    write_text(tmp_path / "report", "x")
    (tmp_path / "other").write_text("x")
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("report", "other")]
    assert modes[0] == modes[1]


def test_a_reader_never_sees_half_a_file(tmp_path):
    path = tmp_path / "report"
    versions = [letter * 2_000_000 for letter in "ab"]
    write_text(path, versions[0])
    done = threading.Event()
    seen = set()

    def read():
        while not done.is_set():
            text = path.read_text()
            seen.add((text[0], len(text), text[-1]))

    reader = threading.Thread(target=read)
    reader.start()
    for turn in range(20):
        write_text(path, versions[turn % 2])
    done.set()
    reader.join()
    assert seen <= {("a", 2_000_000, "a"), ("b", 2_000_000, "b")}


def test_a_failed_write_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "report"
    path.write_text("old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match="No space left on device"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_pipe_is_written_to_directly(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    got = []
    reader = threading.Thread(target=lambda: got.append((tmp_path / "pipe").read_text()))
    reader.start()
    write_text(tmp_path / "pipe", "through")
    reader.join(10)
    assert got == ["through"]


@pytest.mark.parametrize("blocked", ["folder", "file_in_the_way"])
def test_a_place_that_cannot_be_written_is_named(tmp_path, blocked):
    if blocked == "folder":
        path = tmp_path / "report"
        path.mkdir()
    else:
        (tmp_path / "file").write_text("")
        path = tmp_path / "file" / "report"
    with pytest.raises(UsageError) as caught:
        write_text(path, "x")
    assert str(path) in caught.value.message
    assert "--output" in caught.value.hint
