"""Whatever a model does to its process, the command says what happened, writes the report, and leaves nothing."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

MISBEHAVING = Path(__file__).parents[1] / "fixtures" / "misbehaving.py"


def command(folder, name, *options):
    return [
        sys.executable, "-m", "breakfinder", "check", f"{MISBEHAVING}:{name}",
        "-o", f"json={folder / 'report.json'}", "-o", f"html={folder / 'report.html'}", *options,
    ]  # fmt: skip


def check(folder, name, *options):
    """Exit status and report of a check."""
    done = subprocess.run(
        command(folder, name, *options), capture_output=True, text=True, timeout=120, check=False
    )
    assert "Traceback" not in done.stderr
    assert (folder / "report.html").stat().st_size > 1000
    return done.returncode, json.loads((folder / "report.json").read_text())


def assert_nothing_is_left(folder):
    """No process that was started for this check is alive."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        left = [
            process for process in psutil.process_iter(["cmdline", "cwd", "environ"])
            if (process.info["environ"] or {}).get("BREAKFINDER_TEST") == str(folder)
        ]  # fmt: skip
        if not left:
            return
        time.sleep(0.1)
    raise AssertionError([process.info["cmdline"] for process in left])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("BREAKFINDER_TEST", str(tmp_path))
    yield tmp_path
    assert_nothing_is_left(tmp_path)


@pytest.mark.parametrize(
    ("name", "stage", "message", "options"),
    [
        ("Segfaults", "trace forward: torch.compile", "segmentation fault", ()),
        ("SegfaultsInConstructor", "build", "segmentation fault", ()),
        ("CallsSysExit", "trace forward: torch.compile", "sys.exit(7)", ()),
        ("CallsOsExit", "trace forward: torch.compile", "exit status 9", ()),
        ("Raises", "trace forward: torch.compile", "ValueError: this model cannot run", ()),
        ("RaisesInConstructor", "build", "RuntimeError: no such file: vocabulary.txt", ()),
        ("AllocatesWithoutEnd", "trace forward: torch.compile", "of memory", ("--memory-limit", "1G")),
        ("NeverReturns", "trace forward: torch.compile", "within 6 s", ("--timeout", "6")),
        ("NeverReturnsInC", "trace forward: torch.compile", "within 6 s", ("--timeout", "6")),
        ("TracesWithoutEnd", "trace forward: torch.compile", "within 6 s", ("--timeout", "6")),
        ("StartsAProcess", "trace forward: torch.compile", "within 6 s", ("--timeout", "6")),
        ("PrintsAGigabyte", "trace forward: torch.compile", "printed more than 256 MiB", ()),
        ("WritesToEveryDescriptor", None, "cannot be read", ()),
    ],
)
def test_the_failure_names_its_stage(folder, name, stage, message, options):
    status, report = check(folder, name, *options)
    assert status == 3
    assert report["status"] == "failed"
    assert message in report["failure"]["message"]
    assert stage in (None, report["failure"]["stage"])


def test_what_was_found_before_a_crash_is_kept(folder):
    _, report = check(folder, "SegfaultsAfterBreak")
    places = [(f["location"]["line"], f["rule"]) for f in report["findings"] if f["kind"] == "graph_break"]
    line = MISBEHAVING.read_text().split("\n").index('        print("one break before the crash")') + 1
    assert (line, "BF201") in places


@pytest.mark.parametrize("stage", ["import torch", "build", "trace"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_child_killed_at_each_stage(folder, stage, number):
    name = {"import torch": "Fine", "build": "HangsInConstructor", "trace": "NeverReturns"}[stage]
    parent = subprocess.Popen(command(folder, name), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    child = wait_for_child(parent.pid)
    time.sleep(0.3 if stage == "import torch" else 5)
    os.kill(child.pid, number)
    assert parent.wait(60) == 3
    report = json.loads((folder / "report.json").read_text())
    assert report["failure"]["stage"].startswith(stage)
    assert number.name in report["failure"]["message"]


def wait_for_child(pid):
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if children := psutil.Process(pid).children():
            return children[0]
        time.sleep(0.02)
    raise AssertionError("no child process")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(folder, number):
    parent = subprocess.Popen(
        command(folder, "NeverReturns"), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    wait_for_child(parent.pid)
    time.sleep(5)
    parent.send_signal(number)
    assert parent.wait(60) == 130
    report = json.loads((folder / "report.json").read_text())
    assert report["failure"] == {
        "stage": "trace forward: torch.compile", "message": "interrupted", "detail": ""
    }  # fmt: skip


@pytest.mark.parametrize("name", ["NeverReturns", "NeverReturnsInC", "StartsAProcess"])
def test_no_orphan_when_the_parent_is_killed(folder, name):
    parent = subprocess.Popen(command(folder, name), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    wait_for_child(parent.pid)
    time.sleep(5)
    parent.kill()
    parent.wait(10)
    # The fixture's end looks for what is left.


def test_its_output_is_kept_short(folder):
    _, report = check(folder, "SegfaultsAfterBreak")
    assert "one break before the crash" in report["output"]
    assert len(report["output"]) <= 16 * 1024
