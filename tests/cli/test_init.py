"""`breakfinder init`: what it finds, and what it leaves as it was."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from breakfinder.config import find_config, tomllib
from breakfinder.errors import UsageError
from breakfinder.starter import with_starter

NET = """
import torch
from torch import nn


class Block(nn.Module):
    def forward(self, x):
        return x.relu()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        return self.block(x)


def example_inputs():
    return (torch.ones(2, 3),)


compiled = torch.compile(Net())
"""
OTHER = """
import torch as th
from lib.net import Block


class Tall(Block):
    def __init__(self, width, *, depth, scale=1):
        super().__init__()


class Plain:
    pass


@th.compile(dynamic=True)
def step(x):
    return x + 1
"""


def run(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "breakfinder", *arguments],
        capture_output=True, text=True, timeout=240, check=False, cwd=cwd,
    )  # fmt: skip


@pytest.fixture
def repository(tmp_path):
    for name, text in {
        "lib/__init__.py": "",
        "lib/net.py": NET,
        "lib/other.py": OTHER,
        "lib/broken.py": "def f(:\n",
        "tests/test_net.py": NET,
        ".hidden/net.py": NET,
        "generated/net.py": NET,
        ".gitignore": "generated/\n",
        "weights/config.json": '{"model_type": "bert"}',
        "settings/config.json": '{"color": "red"}',
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    (tmp_path / ".git").mkdir()
    return tmp_path


def test_what_is_found_is_written_and_can_be_checked(repository):
    done = run("init", cwd=repository / "lib")  # the file belongs to the repository, not to the folder
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    config = find_config(repository)
    assert {name: one.target for name, one in config.targets.items()} == {
        "Net": "lib/net.py:Net",
        "weights": "./weights",
    }
    text = (repository / "pyproject.toml").read_text()
    assert '# target = "lib/other.py:Tall"' in text
    assert "# model-kwargs = { width = ..., depth = ... }" in text
    assert '# target = "lib/other.py:step"' in text
    for absent in ("Plain", "Block", "hidden", "generated", "test_net", "settings"):
        assert absent not in text.partition("Each table")[2].partition("\n\n")[2]
    said = done.stderr.splitlines()
    assert "lib/net.py:Net: ready" in said
    assert "lib/other.py:Tall: needs inputs and constructor arguments" in said
    assert "example_inputs: lib/net.py" in said
    assert "torch.compile: lib/net.py:24, lib/other.py:15" in said
    assert "cannot be read: lib/broken.py" in said
    assert said[-1] == "next: `breakfinder check`"
    checked = run("check", "--only", "Net", "--no-fixes", cwd=repository)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_comments_become_targets_when_they_are_uncommented(repository):
    run("init", cwd=repository)
    lines = (repository / "pyproject.toml").read_text().splitlines()
    start = lines.index("# [tool.breakfinder.targets.step]")
    lines[start : start + 3] = [line.removeprefix("# ") for line in lines[start : start + 3]]
    (repository / "pyproject.toml").write_text("\n".join(lines))
    assert find_config(repository).targets["step"].target == "lib/other.py:step"


def test_a_dry_run_changes_nothing(repository):
    done = run("init", "--dry-run", cwd=repository)
    assert done.returncode == 0
    assert not (repository / "pyproject.toml").exists()
    assert "Net" in tomllib.loads(done.stdout)["tool"]["breakfinder"]["targets"]


@pytest.mark.parametrize(
    "before",
    [
        b'[project]\nname = "x"\n',
        b'[project]\r\nname = "x"  # a comment\r\n',
        b'\xef\xbb\xbf[tool.other]\nx = """\na\n"""',
        b"",
    ],
)
def test_all_else_stays_byte_for_byte(repository, before):
    path = repository / "pyproject.toml"
    path.write_bytes(before)
    path.chmod(0o640)
    assert run("init", cwd=repository).returncode == 0
    after = path.read_bytes()
    assert after.startswith(before)
    assert path.stat().st_mode & 0o777 == 0o640
    added = after[len(before) :]
    assert (added.count(b"\r\n") == added.count(b"\n")) == (b"\r\n" in before)
    assert "Net" in find_config(repository).targets


@pytest.mark.parametrize(
    ("before", "message"),
    [
        (b"[tool.breakfinder]\n", "has a [tool.breakfinder] table already"),
        (b"[tool.breakfinder.targets.x]\ntarget = 'x'\n", "has a [tool.breakfinder] table already"),
        (b"tool = { x = 1 }\n", "can take no further table"),
        (b"[tool\n", "is no valid TOML"),
        (b"# \xff\n", "cannot read"),
    ],
)
def test_refused_without_a_change(repository, before, message):
    path = repository / "pyproject.toml"
    path.write_bytes(before)
    done = run("init", cwd=repository)
    assert done.returncode == 2
    assert message in done.stderr.splitlines()[0]
    assert len(done.stderr.splitlines()) == 2
    assert path.read_bytes() == before


def test_inputs_that_several_could_share_are_for_the_user_to_give(tmp_path):
    (tmp_path / "two.py").write_text(
        "import torch\nclass A(torch.nn.Module):\n    pass\nclass B(torch.nn.Module):\n    pass\nexample_inputs = ()\n"
    )
    done = run("init", cwd=tmp_path)
    assert find_config(tmp_path).targets == {}
    assert (tmp_path / "pyproject.toml").read_text().count(
        "whether the file's example_inputs are for it"
    ) == 2
    assert "two.py:A: needs a look at its inputs" in done.stderr.splitlines()


def test_nothing_to_check(tmp_path):
    done = run("init", cwd=tmp_path)
    assert done.returncode == 0
    assert "nothing to check was found" in done.stderr
    assert "fill in a target in pyproject.toml" in done.stderr.splitlines()[-1]
    assert find_config(tmp_path).targets == {}


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=120))
def test_whatever_is_there_is_kept_or_refused(tmp_path_factory, before):
    path = tmp_path_factory.mktemp("fuzz") / "pyproject.toml"
    path.write_bytes(before)
    try:
        after = with_starter(path, "[tool.breakfinder]\n")
    except UsageError as error:
        assert "\n" not in error.message + error.hint
    else:
        assert after.startswith(before)
        assert tomllib.loads(after.decode("utf-8-sig"))["tool"]["breakfinder"] == {}
