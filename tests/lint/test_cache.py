"""What is remembered between runs, and when it is not believed."""

import json
import os
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from breakfinder.lint import cache as caching
from breakfinder.lint import run
from breakfinder.lint.cache import Cache, Entry, settled
from breakfinder.lint.finding import LintFinding
from breakfinder.lint.results import FileResult
from breakfinder.lint.suppressions import suppressions

MODEL = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        print(x)  # noqa: BF201
        print(x)
        return x
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "other.py").write_text("x = 1\n")
    age(tmp_path / "model.py", tmp_path / "other.py")
    return tmp_path


def age(*files):
    """As if they had been written some time ago."""
    for file in files:
        os.utime(file, ns=(time.time_ns() - 10**10,) * 2)


@pytest.fixture
def read(monkeypatch):
    """The files that are analysed, not taken from the cache."""
    names = []
    inspect = run.inspect

    def noted(path):
        names.append(os.path.basename(path))  # noqa: PTH119
        return inspect(path)

    monkeypatch.setattr(run, "inspect", noted)
    return names


def analysed(project):
    cache = Cache.open(project / "cache", project)
    result = run.analyse_files([project / "model.py", project / "other.py"], cache, 1)
    cache.save(result.results)
    return result


def places(analysed):
    return [(one.rule, one.line) for result in analysed.results.values() for one in result.findings]


def test_nothing_is_read_twice(project, read):
    first = analysed(project)
    assert read == ["model.py", "other.py"]
    read.clear()
    second = analysed(project)
    assert read == []
    assert second == first
    assert places(second) == [("BF201", 6), ("BF201", 7)]


def test_what_has_changed_is_read(project, read):
    analysed(project)
    read.clear()
    (project / "model.py").write_text(MODEL.replace("print(x)\n        return", "return"))
    assert places(analysed(project)) == [("BF201", 6)]
    assert read == ["model.py"]


def test_a_change_that_keeps_size_and_date_of_a_young_file_is_seen(project):
    file = project / "model.py"
    file.write_text(MODEL)  # now, so its date may be that of the next change, too
    found = file.stat()
    analysed(project)
    file.write_text(MODEL.replace("        print(x)\n", "        abs(12)\n#"[:17]))
    file.write_text(
        MODEL.replace("print(x)\n        return", "range(9)\n       return"[:8] + "\n        return")
    )
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert file.stat().st_size == found.st_size
    assert places(analysed(project)) == [("BF201", 6)]


def test_a_new_date_alone_changes_nothing(project, read):
    analysed(project)
    read.clear()
    os.utime(project / "model.py")
    assert len(places(analysed(project))) == 2
    assert read == []


def test_a_file_that_is_gone_is_forgotten(project):
    analysed(project)
    (project / "other.py").unlink()
    cache = Cache.open(project / "cache", project)
    run.analyse_files([project / "model.py"], cache, 1)
    cache.save([str(project / "model.py")])
    assert set(Cache.open(project / "cache", project).entries) == {str(project / "model.py")}


def test_projects_and_versions_are_kept_apart(project, read, monkeypatch):
    analysed(project)
    (project / "sub").mkdir()
    assert Cache.open(project / "cache", project / "sub").entries == {}
    monkeypatch.setattr(caching, "__version__", "99")
    assert Cache.open(project / "cache", project).entries == {}


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_a_corrupt_cache_is_an_empty_one(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("cache")
    cache = Cache.open(folder, folder)
    finding = LintFinding("a.py", 1, 1, 1, 2, "BF101", "t")
    cache.put("a.py", Entry((1, 2), "d", "{}", FileResult([finding], suppressions("x  # noqa: BF1\n"))))
    cache.save(["a.py"])
    (file,) = folder.glob("*.json")
    assert Cache.open(folder, folder).entries == cache.entries
    content = file.read_bytes()
    at = data.draw(st.integers(0, len(content) - 1))
    file.write_bytes(data.draw(st.sampled_from([
        content[:at], content[:at] + b"\xff" + content[at + 1 :], b"", b"{}", content + b" ",
    ])))  # fmt: skip
    assert Cache.open(folder, folder).entries == {}


def test_a_cache_of_another_form_is_an_empty_one(tmp_path):
    cache = Cache.open(tmp_path, tmp_path)
    for data in (
        [],
        {"version": 1},
        {"version": caching._version(), "files": {"a": [1]}, "tree": "", "reached": {}},
    ):
        body = json.dumps(data).encode()
        cache.file.write_bytes(caching.content_digest(body).encode() + b"\n" + body)
        assert Cache.open(tmp_path, tmp_path).entries == {}


def test_kept_nowhere(project):
    cache = Cache.open(None, project)
    run.analyse_files([project / "model.py"], cache, 1)
    cache.save([])
    assert not (project / "cache").exists()


def test_stamps_of_young_files_are_not_kept():
    now = time.time_ns()
    assert settled((5, now)) != (5, now)
    assert settled((5, now - 10**10)) == (5, now - 10**10)
