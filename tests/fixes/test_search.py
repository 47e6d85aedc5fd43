"""Fixes are applied one after another until the model is clean, and each step says what it did."""

import ast
import json
import subprocess
import sys

import pytest

BODY = {
    "loop": """
        for step in range(3):
            x = self.lin(x)
            print("step", step)
            peak = x.abs().max().item()
            if x.sum() > 0:
                x = x * 2
            else:
                x = x - 1
            x = x / peak
        return x
    """,
    "try": """
        try:
            x = self.lin(x)
            print("in")
            peak = x.abs().max().item()
            if x.sum() > 0:
                x = x * 2
            else:
                x = x - 1
            x = x / peak
        finally:
            x = x + 1
        return x
    """,
    "context manager": """
        with torch.no_grad():
            x = self.lin(x)
            print("in")
            peak = x.abs().max().item()
            if x.sum() > 0:
                x = x * 2
            else:
                x = x - 1
            x = x / peak
        return x
    """,
}
SOURCE = '''"""A model with three problems, each hiding the next."""
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(8, 8)

    def forward(self, x):  # the forward pass
{body}


def example_inputs():
    return (torch.randn(4, 8),)
'''


def breakfinder(*arguments, cwd):
    command = [sys.executable, "-m", "breakfinder", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)


def write(tmp_path, body):
    path = tmp_path / "model.py"
    path.write_text(SOURCE.format(body=body.strip("\n").rstrip()))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("where", BODY)
def test_three_breaks_that_mask_each_other_are_fixed_in_one_run(where, tmp_path):
    path = write(tmp_path, BODY[where])
    original = path.read_text()
    done = breakfinder(
        "check", "model.py:Model", "-o", "json=report.json", "--patch", "all.patch", cwd=tmp_path
    )
    assert done.returncode == 1, done.stderr
    assert path.read_text() == original, "a check changes no file"
    report = json.loads((tmp_path / "report.json").read_text())
    steps = report["steps"]
    assert [step["rule"] for step in steps] == ["BF201", "BF101", "BF103"]
    assert [step["fix"]["verdict"] for step in steps] == ["proved"] * 3
    lines = original.split("\n")
    assert ["print(" in lines[steps[0]["line"] - 1], ".item()" in lines[steps[1]["line"] - 1]] == [True, True]
    assert "if x.sum() > 0" in lines[steps[2]["line"] - 1]
    last = steps[-1]["after"]
    assert (last["sites"], last["skipped_frames"], last["graphs"]) == (0, 0, 1)
    applied = subprocess.run(["git", "apply", "all.patch"], cwd=tmp_path, capture_output=True, check=False)
    assert applied.returncode == 0, applied.stderr
    assert "# the forward pass" in path.read_text()
    again = breakfinder("check", "model.py:Model", "-o", "json=again.json", "--no-fixes", cwd=tmp_path)
    assert again.returncode == 0, again.stdout
    assert json.loads((tmp_path / "again.json").read_text())["scenarios"][0]["default"]["graphs"] == 1


@pytest.mark.slow
def test_fix_writes_what_was_proved_and_a_second_run_has_nothing_to_do(tmp_path):
    path = write(tmp_path, BODY["loop"])
    path.chmod(0o640)
    printed = breakfinder("fix", "model.py:Model", cwd=tmp_path)
    assert printed.returncode == 0, printed.stderr
    assert path.read_text() == SOURCE.format(body=BODY["loop"].strip("\n").rstrip())
    assert printed.stdout.startswith("--- a/model.py\n+++ b/model.py\n")
    done = breakfinder("fix", "model.py:Model", "--write", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "changed " in done.stderr
    ast.parse(path.read_text())
    assert path.stat().st_mode & 0o777 == 0o640
    assert breakfinder("check", "model.py:Model", "--quiet", cwd=tmp_path).returncode == 0
    again = breakfinder("fix", "model.py:Model", "--write", cwd=tmp_path)
    assert (again.returncode, again.stdout) == (0, "")


@pytest.mark.slow
def test_a_fix_that_only_moves_the_break_is_not_kept(tmp_path):
    path = write(
        tmp_path,
        """
        v = x.max().item()
        while v > 1.0:
            x = x / 2
            v = v / 2
        return x
    """,
    )
    done = breakfinder("check", "model.py:Model", "-o", "json=report.json", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["steps"] == []
    assert report["patch"] == ""
    assert path.read_text().count(".item()") == 1


def test_write_refuses_a_file_that_has_changed(tmp_path):
    from breakfinder.errors import UsageError
    from breakfinder.fixes.edit import Edit
    from breakfinder.fixes.patch import write as write_edits

    one, other = tmp_path / "one.py", tmp_path / "other.py"
    one.write_text("x = 1\n")
    other.write_text("y = 2\n")
    edits = [Edit(str(one), "x = 1\n", "x = 3\n"), Edit(str(other), "y = 1\n", "y = 3\n")]
    with pytest.raises(UsageError, match="has changed since it was analysed"):
        write_edits(edits)
    assert one.read_text() == "x = 1\n", "all or none"


def test_write_keeps_encoding_and_line_ends(tmp_path):
    from breakfinder.fixes.edit import Edit
    from breakfinder.fixes.patch import write as write_edits

    path = tmp_path / "old.py"
    before = "# -*- coding: latin-1 -*-\r\nname = 'é'\r\n"
    path.write_bytes(before.encode("latin-1"))
    write_edits([Edit(str(path), before, before.replace("name", "other"))])
    assert path.read_bytes() == before.replace("name", "other").encode("latin-1")


def test_lines_map_back_to_the_file_on_disk():
    from breakfinder.fixes.edit import Edit

    edit = Edit("f", "a\nb\nc\nd\n", "import x\na\nif y:\n    b\nc\nd\n")
    assert [edit.line_before(line) for line in (2, 5, 6)] == [1, 3, 4]
    assert edit.line_before(4) == 2
