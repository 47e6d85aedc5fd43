"""`breakfinder check` without TARGET: the targets in pyproject.toml."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from breakfinder.cli.check import command
from breakfinder.config import _targets, find_config
from breakfinder.configured import KEYS, TargetSettings
from breakfinder.errors import UsageError
from breakfinder.report.render.json import read_document

MODEL = """
import torch


def shared(x):
    print(x)
    return x + 1


class One(torch.nn.Module):
    def forward(self, x):
        return shared(x) * 2


class Two(torch.nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        return shared(x) * self.scale


class Clean(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)


class Raises(torch.nn.Module):
    def forward(self, x):
        raise RuntimeError("no such luck")


def make():
    return (torch.ones(3, 4),)


example_inputs = make
"""
CONFIG = """
[tool.breakfinder]
ignore = ["BF103"]

[tool.breakfinder.targets.one]
target = "pkg/model.py:One"

[tool.breakfinder.targets.clean]
target = "pkg/model.py:Clean"
scenarios = ["forward", "train"]

[tool.breakfinder.targets.gone]
target = "pkg/modle.py:One"

[tool.breakfinder.targets.two]
target = "pkg/model.py:Two"
inputs = "pkg/model.py:make"
model-kwargs = { scale = 3 }
"""


def run(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "breakfinder", *arguments],
        capture_output=True, text=True, timeout=240, check=False, cwd=cwd, env={**os.environ},
    )  # fmt: skip


def project(folder, config):
    (folder / "pkg").mkdir()
    (folder / "pkg" / "model.py").write_text(MODEL)
    (folder / "pyproject.toml").write_text(config)
    return folder


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """All targets, from a folder below that of the configuration."""
    root = project(tmp_path_factory.mktemp("targets"), CONFIG)
    done = run(
        "check", "--no-fixes", "-o", "text", "-o", "json=r.json", "-o", "html=r.html", cwd=root / "pkg"
    )
    return root, done


def test_all_are_checked_and_the_worst_decides(checked):
    root, done = checked
    document = read_document((root / "pkg" / "r.json").read_text())
    assert done.returncode == 2, done.stderr
    assert [report.target.name for report in document.reports] == ["one", "clean", "gone", "two"]
    assert [report.status for report in document.reports] == ["findings", "ok", "failed", "findings"]
    assert [scenario.name for scenario in document.reports[1].scenarios] == ["forward", "train"]


def test_one_that_cannot_be_used_says_why(checked):
    root, done = checked
    document = read_document((root / "pkg" / "r.json").read_text())
    failure = document.reports[2].failure
    assert (failure.stage, document.reports[2].target.kind) == ("target", "unknown")
    assert "no file pkg/modle.py" in failure.message
    assert "did you mean pkg/model.py?" in done.stdout


def test_what_two_share_is_said_once_with_both(checked):
    _, done = checked
    assert done.stdout.count("pkg/model.py:6:5: BF201") == 1
    assert "in      one, two" in done.stdout


def test_only_one(checked):
    root, _ = checked
    done = run("check", "--only", "clean", "--no-fixes", "--scenario", "forward", "-o", "json=-", cwd=root)
    (report,) = json.loads(done.stdout)["reports"]
    assert done.returncode == 0
    assert [scenario["name"] for scenario in report["scenarios"]] == [
        "forward"
    ]  # the command line goes first


def test_one_that_raises_stops_no_other(tmp_path):
    project(
        tmp_path,
        '[[tool.breakfinder.targets]]\nname = "raises"\ntarget = "pkg/model.py:Raises"\n'
        '[[tool.breakfinder.targets]]\ntarget = "pkg/model.py:Clean"\ntimeout = 100\n',
    )
    done = run("check", "--no-fixes", cwd=tmp_path)
    document = read_document((tmp_path / "breakfinder-report" / "report.json").read_text())
    assert done.returncode == 3
    assert [report.status for report in document.reports] == ["failed", "ok"]
    assert document.reports[1].target.name == "pkg/model.py:Clean"
    assert "no such luck" in done.stdout


def test_interrupted_it_keeps_what_was_learned_and_says_what_is_left(tmp_path):
    project(
        tmp_path,
        "".join(
            f'[tool.breakfinder.targets.{name}]\ntarget = "pkg/model.py:{model}"\n'
            for name, model in (("first", "Clean"), ("second", "Hangs"), ("third", "One"))
        ),
    )
    with (tmp_path / "pkg" / "model.py").open("a") as model:
        model.write(
            "\n\nclass Hangs(torch.nn.Module):\n    def __init__(self):\n        import pathlib, time\n"
            "        pathlib.Path('started').touch()\n        time.sleep(600)\n"
        )
    parent = subprocess.Popen(
        [sys.executable, "-m", "breakfinder", "check", "--no-fixes", "-o", "json=r.json"],
        cwd=tmp_path, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not (tmp_path / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    parent.send_signal(signal.SIGINT)
    assert parent.wait(60) == 130
    document = read_document((tmp_path / "r.json").read_text())
    assert [report.status for report in document.reports] == ["ok", "failed"]
    assert document.notes == ["Interrupted before third."]


@pytest.mark.parametrize(
    ("config", "arguments", "message", "hint"),
    [
        (None, [], "no TARGET is given", "breakfinder init"),
        ("", [], "no TARGET is given", "breakfinder init"),
        ("[tool.breakfinder]", [], "has no [tool.breakfinder.targets]", "breakfinder init"),
        (CONFIG, ["--only", "tow"], "no target 'tow'", "did you mean two?"),
        (CONFIG, ["--patch", "x"], "--patch is about one target", "--only"),
        (CONFIG, ["pkg/model.py:One", "--only", "one"], "--only is about", "leave out"),
    ],
)
def test_what_cannot_be_used(tmp_path, config, arguments, message, hint):
    if config is not None:
        (tmp_path / "pyproject.toml").write_text(config)
    done = run("check", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr.splitlines()[0]
    assert hint in done.stderr.splitlines()[1]
    assert len(done.stderr.splitlines()) == 2


@pytest.mark.parametrize(
    ("table", "message", "hint"),
    [
        ("targets = 3", "targets is no table by name", "targets.NAME"),
        ("targets = [1]", "targets is no table by name", "targets.NAME"),
        ("targets.a = 3", "targets.a is no table", "3"),
        ("targets.a = {}", "targets.a.target is missing", "target ="),
        (
            "targets.a = { target = 'x', timout = 3 }",
            "unknown key tool.breakfinder.targets.a.timout",
            "timeout",
        ),
        (
            "targets.a = { target = 'x', timeout = 'long' }",
            "targets.a.timeout: should be a valid number",
            "'long'",
        ),
        ("targets.a = { target = 'x', timeout = -1 }", "targets.a.timeout: should be greater", "-1"),
        ("targets.a = { target = 'x', scenarios = ['fwd'] }", "targets.a.scenarios.0: should be", "'fwd'"),
        (
            "targets.a = { target = 'x', model-kwargs = { day = 2020-01-01 } }",
            "targets.a.model-kwargs.day",
            "date",
        ),
        ("targets = [{ target = 'x' }, { target = 'x' }]", "different names", "targets.NAME"),
        ('targets."a\\nb" = 3', 'targets."a\\nb" is no table', "3"),
    ],
)
def test_one_line_names_file_and_key(tmp_path, table, message, hint):
    (tmp_path / "pyproject.toml").write_text(f"[tool.breakfinder]\n{table}\n")
    with pytest.raises(UsageError) as caught:
        find_config(tmp_path)
    assert str(tmp_path / "pyproject.toml") in caught.value.message
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert "\n" not in caught.value.message + caught.value.hint


def test_every_key_is_documented():
    page = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text()
    for key in KEYS:
        assert f"`{key}`" in page


def test_every_key_is_an_option_of_check():
    options = {parameter.name for parameter in command.params}
    assert set(TargetSettings.model_fields) - options == set()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(
        st.text(max_size=10),
        VALUES
        | st.dictionaries(st.sampled_from(["target", "timeout", "inputs", "scenarios", "depth"]), VALUES),
        max_size=4,
    )
    | st.lists(st.dictionaries(st.sampled_from(["name", "target", "fixes"]), VALUES, max_size=3), max_size=3)
)
def test_any_table_is_targets_or_one_line(tables):
    try:
        targets = _targets(tables, Path("pyproject.toml"))
    except UsageError as error:
        assert "\n" not in error.message + error.hint
        assert error.message.startswith("pyproject.toml: ")
        assert len(error.message + error.hint) < 2000
    else:
        for one in targets.values():
            assert one.target
            one.given()


@settings(max_examples=100, deadline=None)
@given(
    st.binary(max_size=200)
    | st.integers(1, 3000).map(lambda n: b"x = " + b"[" * n)
    | st.integers(1, 2000).map(lambda n: b"[tool.breakfinder.targets" + b".a" * n + b"]\n")
)
def test_any_file_is_read_or_one_line(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "pyproject.toml").write_bytes(data)
    try:
        find_config(folder)
    except UsageError as error:
        assert "\n" not in error.message + error.hint
