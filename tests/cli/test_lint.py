"""`breakfinder lint` as a user meets it: output, files, exit codes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree as Xml

import psutil
import pytest

from breakfinder.cli import main

MODEL = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        print("mean", x.mean())
        return x


def helper(x):
    print(x)
    return x
"""
CASES = Path(__file__).parents[1] / "fixtures" / "cases"
PRINT = "BF201 [*] `print` in compiled code"


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    monkeypatch.setenv("NO_COLOR", "1")
    (tmp_path / "model.py").write_text(MODEL)
    return tmp_path


@pytest.fixture
def lint(project, capfd):
    """Runs the command in this process: exit status, standard output, standard error."""

    def run(*arguments):
        with pytest.raises(SystemExit) as caught:
            main(["lint", *arguments])
        out, err = capfd.readouterr()
        return caught.value.code, out, err

    return run


def piped(text, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "breakfinder", "lint", *arguments],
        input=text, capture_output=True, text=True, timeout=60, check=False, env={**os.environ, **environment},
    )  # fmt: skip


def test_findings_and_the_exit_code(lint):
    assert lint("model.py") == (
        1,
        f'model.py:6:9: {PRINT}: print("mean", x.mean())\nFound 1 problem in 1 file.\n1 fixable with `--fix`.\n',
        "",
    )
    assert lint("model.py", "-q") == (1, f'model.py:6:9: {PRINT}: print("mean", x.mean())\n', "")
    assert lint("model.py", "--exit-zero")[0] == 0


def test_nothing_found(lint, project):
    (project / "model.py").write_text("x = 1\n")
    assert lint() == (0, "No problem found in 1 file.\n", "")
    assert lint("-q") == (0, "", "")


def test_all_functions(lint):
    _, out, _ = lint("--all-functions", "-q")
    assert [line.split(" ")[0] for line in out.splitlines()] == ["model.py:6:9:", "model.py:11:5:"]


def test_selection(lint, project):
    assert lint("--select", "BF1,BF3", "-q") == (0, "", "")
    assert lint("--select", "BF20", "-q")[0] == 1
    assert lint("--ignore", "BF2", "-q")[0] == 0
    assert lint("--ignore", "BF2", "--ignore", "BF103", "--select", "BF201", "-q")[0] == 1
    assert lint("--per-file-ignores", "mod*.py:BF201", "-q")[0] == 0
    assert lint("--per-file-ignores", "other.py:BF201", "-q")[0] == 1


def test_settings(lint, project):
    settings = project / "pyproject.toml"
    settings.write_text('[tool.breakfinder]\nignore = ["BF2"]\noutput-format = "json"\n')
    assert json.loads(lint()[1])["findings"] == []
    assert len(json.loads(lint("--select", "BF201")[1])["findings"]) == 1, "--select sets the settings aside"
    assert lint("--isolated", "-q")[1].startswith("model.py:6:9: ")
    (project / "other.toml").write_text("[tool.breakfinder]\nall-functions = true\n")
    assert len(lint("--config", "other.toml", "-q")[1].splitlines()) == 2
    settings.write_text('[tool.breakfinder.per-file-ignores]\n"model.py" = ["BF201"]\n')
    assert lint()[0] == 0
    settings.write_text('[tool.breakfinder]\nextend-exclude = ["model.py"]\n')
    assert lint() == (0, "No problem found in 0 files.\n", "")
    (project / "sub").mkdir()
    os.chdir(project / "sub")
    assert lint("..", "-q") == (0, "", ""), "patterns are relative to the settings' file"
    assert lint("../model.py", "-q")[0] == 1, "given by name"
    assert lint("../model.py", "-q", "--force-exclude")[0] == 0


def test_confidence(lint):
    def places(*arguments):
        return {line.split(": ")[0] for line in lint(str(CASES), "-q", *arguments)[1].splitlines()}

    assert places("--confidence", "high") == places()
    assert places() < places("--confidence", "medium") <= places("--confidence", "low")


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["modle.py"], "no such file or folder: modle.py", "did you mean model.py?"),
        (["--select", "BF10X"], "command line: no rule 'BF10X'", "did you mean BF10"),
        (["--ignore", "print"], "command line: no rule 'print'", "breakfinder rules"),
        (["--per-file-ignores", "BF101"], "is no PATTERN:CODES", "e.g."),
        (["--config", "none.toml"], "cannot read none.toml", "--config"),
        (["--isolated", "--config", "x"], "exclude each other", "leave one of them out"),
        (["--fix", "--add-noqa"], "--fix and --add-noqa exclude each other", "give one of them"),
        (["--unsafe-fixes"], "--unsafe-fixes changes nothing by itself", "add --fix or --diff"),
        (["-", "model.py"], "standard input", "give '-' alone"),
        (["-o", "model.py/x"], "cannot write", "another place"),
        (["--exclude", "!"], "pattern", ".gitignore"),
    ],
)
def test_what_cannot_be_used(lint, project, arguments, message, hint):
    status, out, err = lint(*arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert hint in err
    assert len(err.splitlines()) <= 2
    assert (project / "model.py").read_text() == MODEL


def test_wrong_settings(lint, project):
    (project / "pyproject.toml").write_text('[tool.breakfinder]\nselect = ["BF999"]\n')
    status, _, err = lint()
    assert status == 2
    assert "pyproject.toml: no rule 'BF999'" in err


def test_files_that_cannot_be_analysed_give_one_finding_each(lint, project):
    (project / "model.py").write_text("def f(:\n")
    (project / "latin.py").write_bytes(b"x = 1\ny = '\xe9'\n")
    (project / "nul.py").write_bytes(b"x = \x00")
    (project / "deep.py").write_text("x = " + "(" * 5000 + ")" * 5000)
    (project / "deeper.py").write_text("x = " + "-" * 100_000 + "1")
    (project / "gone.py").symlink_to(project / "nowhere.py")
    (project / "not.ipynb").write_text("{")
    (project / "fine.py").write_text(MODEL)
    status, out, err = lint("-q")
    assert (status, err) == (1, "")
    found = sorted(
        line.split(": ")[0].split(":")[0] + " " + line.split(": ")[1].split(" ")[0]
        for line in out.splitlines()
    )
    assert found == [
        "deep.py BF000", "deeper.py BF000", "fine.py BF201", "gone.py BF000", "latin.py BF000", "model.py BF000",
        "not.ipynb BF000", "nul.py BF000",
    ]  # fmt: skip
    assert "latin.py:2:1: BF000" in out


@pytest.mark.parametrize(
    "expression",
    [
        "x" + " and x" * 20_000, "-" * 1000 + "1", "'a' " * 500, "'a' " * 20_000, "x" + "<x" * 20_000,
        "[" * 190 + "]" * 190,        "1" + "+1" * 900, "x" + ".a" * 300, "not " * 300 + "x",
    ],
    ids=lambda text: f"{text[:6]}{len(text)}",
)  # fmt: skip
def test_source_that_is_too_deep_for_fixes(lint, project, expression):
    text = MODEL.replace("        return x\n\n", f"        y = {expression}\n        return y\n\n")
    (project / "model.py").write_text(text)
    for arguments in (["-q"], ["--fix", "-q"]):
        done = piped("", *arguments, ".")  # a process of its own, since it might crash
        assert done.returncode in (0, 1), done.returncode
        assert done.stderr == ""
        assert len(done.stdout.splitlines()) <= 1


def test_empty_files_are_fine(lint, project):
    (project / "model.py").write_text("")
    (project / "mark.py").write_bytes(b"\xef\xbb\xbf")
    assert lint("-q") == (0, "", "")


def test_json(lint):
    document = json.loads(lint("--output-format", "json")[1])
    (finding,) = document.pop("findings")
    assert document["schema_version"] == "1.0"
    assert document["files"] == 1
    fingerprint = finding.pop("fingerprint")
    assert finding == {
        "file": "model.py", "line": 6, "column": 9, "end_line": 6, "end_column": 32, "rule": "BF201",
        "title": "`print` in compiled code", "confidence": "high", "qualname": "Model.forward",
        "expression": 'print("mean", x.mean())', "fixable": finding["fixable"], "cell": None, "severity": "warning",
    }  # fmt: skip
    assert fingerprint


def test_fingerprints_outlive_moved_lines(lint, project):
    def fingerprints():
        return [one["fingerprint"] for one in json.loads(lint("--output-format", "json")[1])["findings"]]

    (project / "model.py").write_text(
        MODEL.replace("        return x\n\n", '        print("mean", x.mean())\n\n')
    )
    before = fingerprints()
    assert len(set(before)) == 2
    (project / "model.py").write_text("# a line\n" + (project / "model.py").read_text())
    assert fingerprints() == before


def test_each_format_goes_to_a_file(lint, project):
    for format in ("text", "json", "github", "gitlab", "sarif", "junit", "markdown"):
        status, out, _ = lint("--output-format", format, "--output", f"out/{format}")
        assert (status, out) == (1, "")
        assert "BF201" in (project / "out" / format).read_text()
    assert json.loads((project / "out" / "sarif").read_text())["runs"][0]["results"][0]["ruleId"] == "BF201"
    assert Xml.parse(project / "out" / "junit").getroot().get("failures") == "1"


def test_suppressed_findings_are_told_in_sarif_only(lint, project):
    (project / "model.py").write_text(
        MODEL.replace("x.mean())", "x.mean())  # breakfinder: ignore[BF201] for debugging")
    )
    assert lint("-q") == (0, "", "")
    (result,) = json.loads(lint("--output-format", "sarif")[1])["runs"][0]["results"]
    assert result["suppressions"] == [{"kind": "inSource", "justification": "for debugging"}]
    assert json.loads(lint("--output-format", "json")[1])["suppressed"] == 1


def test_unused_suppressions(lint, project):
    (project / "model.py").write_text(MODEL.replace("return x\n", "return x  # noqa: BF101\n"))
    assert lint("-q", "--ignore", "BF201") == (
        1,
        "model.py:7:19: BF001 Unused suppression comment: `BF101`\n"
        "model.py:12:15: BF001 Unused suppression comment: `BF101`\n",
        "",
    )


def test_statistics(lint, project):
    (project / "bad.py").write_text("(")
    assert lint("--statistics", "--all-functions")[1] == (
        "2  BF201  `print` in compiled code\n1  BF000  The file cannot be analysed\n"
    )


def test_add_noqa(lint, project):
    assert lint("--add-noqa") == (0, "Added comments for 1 problem.\n", "")
    assert (project / "model.py").read_text() == MODEL.replace("x.mean())", "x.mean())  # noqa: BF201")
    assert lint("--add-noqa") == (0, "Added comments for 0 problems.\n", "")
    assert lint("-q") == (0, "", "")


def test_show_files(lint, project):
    (project / "a").mkdir()
    (project / "a" / "n.ipynb").write_text("{}")
    (project / ".gitignore").write_text("model.py\n")
    assert lint("--show-files") == (0, "a/n.ipynb\n", "")
    assert lint("--show-files", "--no-gitignore") == (0, "a/n.ipynb\nmodel.py\n", "")
    assert lint("--show-files", "--exclude", "a/,model.py", "--no-gitignore") == (0, "", "")


def test_notebooks(lint, project):
    cells = [
        {"cell_type": "markdown", "source": "text"},
        {"cell_type": "code", "source": "%load_ext x\nimport torch"},
        {"cell_type": "code", "source": MODEL.splitlines(keepends=True)},
    ]
    (project / "n.ipynb").write_text(json.dumps({"nbformat": 4, "cells": cells}))
    assert (
        lint("n.ipynb", "-q")[1]
        == f'n.ipynb:cell 3:6:9: {PRINT.replace("[*] ", "")}: print("mean", x.mean())\n'
    )
    (finding,) = json.loads(lint("n.ipynb", "--output-format", "json")[1])["findings"]
    assert (finding["cell"], finding["line"], finding["end_line"]) == (3, 6, 6)


def test_standard_input(project):
    done = piped(MODEL, "-", "-q")
    assert (done.returncode, done.stdout) == (1, f'stdin.py:6:9: {PRINT}: print("mean", x.mean())\n')
    done = piped(MODEL, "-", "-q", "--stdin-filename", "src/a.py", "--per-file-ignores", "src/:BF201")
    assert (done.returncode, done.stdout) == (0, "")
    done = piped(MODEL, "-", "--add-noqa")
    assert (done.returncode, done.stderr) == (0, "Added comments for 1 problem.\n")
    assert done.stdout == MODEL.replace("x.mean())", "x.mean())  # noqa: BF201")


def test_torch_is_not_imported(project):
    (project / "torch.py").write_text("raise SystemExit('torch was imported')")
    for arguments in (
        ["."],
        ["--add-noqa", "."],
        ["--fix", "."],
        ["--diff", "."],
        ["--output-format", "sarif", "."],
    ):
        done = piped("", *arguments, PYTHONPATH=str(project))
        assert done.returncode in (0, 1), done.stderr
        assert done.stderr == ""


def many(project, number=40):
    for index in range(number):
        (project / f"m{index}.py").write_text(MODEL + "# padding\n" * 1000)


@pytest.mark.timeout(120)
def test_the_same_output_for_any_number_of_workers(lint, project):
    many(project)
    one = lint("--no-cache", "--jobs", "1")
    assert one[1].endswith("Found 41 problems in 41 files.\n")
    assert lint("--no-cache", "--jobs", "2") == one
    assert lint("--no-cache", "--jobs", "7") == one


@pytest.mark.timeout(60)
def test_interrupted(project):
    many(project, 400)
    process = subprocess.Popen(
        [sys.executable, "-m", "breakfinder", "lint", "--no-cache", "--jobs", "2"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 30
    while len(psutil.Process(process.pid).children()) < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "")


def test_the_cache(lint, project):
    first = lint()
    (file,) = (project / ".cache" / "breakfinder" / "lint").iterdir()
    assert lint() == first
    file.write_bytes(b"garbage")
    assert lint() == first
    assert lint("--cache-dir", "here") == first
    assert len(list((project / "here").iterdir())) == 1
    file.unlink()
    assert lint("--no-cache") == first
    assert not file.exists()


def test_a_cache_that_cannot_be_written_is_no_reason_to_stop(lint, project):
    (project / "file").write_text("")
    status, out, err = lint("--cache-dir", "file/below")
    assert (status, out) == lint()[:2]
    assert err.startswith("note: the cache cannot be written: ")


def test_hostile_names_and_sources(lint, project):
    name = "a\x1b[31m\n::error::b\u202e.py"
    (project / name).write_text(MODEL.replace('"mean"', '"\x1b[2J\u202e"'))
    for format in ("text", "github", "markdown", "junit", "gitlab", "sarif", "json"):
        _, out, _ = lint("--output-format", format)
        assert "\x1b" not in out
        assert "\u202e" not in out
        assert not any(line.startswith("::error::b") for line in out.splitlines())


def test_names_that_are_no_text(project):
    def run(*arguments):
        command = [sys.executable, "-m", "breakfinder", "lint", *arguments]
        done = subprocess.run(command, capture_output=True, check=False)
        return done.returncode, done.stdout, done.stderr

    (project / "model.py").rename(os.fsdecode(b"a\xff.py"))
    line = f'6:9: {PRINT}: print("mean", x.mean())\n'.encode()
    assert run("-q") == (1, b"a<U+DCFF>.py:" + line, b"")
    assert run("--show-files") == (0, b"a\xff.py\n", b"")
    status, out, err = run("--diff")
    assert (status, err) == (1, b"")
    assert out.startswith(b"--- a/a\xff.py\n")
    assert run("--fix", "-q") == (0, b"", b"")
    assert run(b"b\xff.py") == (
        2, b"", b"error: no such file or folder: b\\udcff.py\n  try: did you mean a\\udcff.py?\n",
    )  # fmt: skip


def test_on_a_terminal_the_source_is_shown(project):
    script = f"{sys.executable} -m breakfinder lint model.py"
    done = subprocess.run(
        ["script", "-qec", script, "/dev/null"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stdout.replace("\r\n", "\n") == (
        f"model.py:6:9: {PRINT}\n"
        '  6 | print("mean", x.mean())\n'
        "    | ^^^^^^^^^^^^^^^^^^^^^^^\n"
        "Found 1 problem in 1 file.\n"
        "1 fixable with `--fix`.\n"
    )


FIXED = MODEL.replace(
    '        print("mean", x.mean())\n',
    '        if not torch.compiler.is_compiling():\n            print("mean", x.mean())\n',
)
SCALED = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        peak = x.abs().max().item()
        return x / (peak + 1e-6)
"""


def test_what_can_be_fixed_is_said(lint, project):
    (project / "scaled.py").write_text(SCALED)
    _, out, _ = lint()
    assert "model.py:6:9: BF201 [*] `print`" in out
    assert "scaled.py:6:16: BF101 A tensor's value" in out
    assert out.endswith(
        "Found 2 problems in 2 files.\n1 fixable with `--fix`.\n1 perhaps fixable with `--fix --unsafe-fixes`.\n"
    )
    findings = json.loads(lint("--output-format", "json")[1])["findings"]
    assert [finding["fixable"] for finding in findings] == ["safe", "review"]


def test_fix(lint, project):
    (project / "scaled.py").write_text(SCALED)
    (project / "model.py").chmod(0o755)
    status, out, _ = lint("--fix")
    assert (status, out.splitlines()[-2]) == (1, "Fixed 1 problem. Found 1 problem in 1 file.")
    assert (project / "model.py").read_text() == FIXED
    assert (project / "scaled.py").read_text() == SCALED
    assert (project / "model.py").stat().st_mode & 0o777 == 0o755
    assert "Fixed" not in lint("--fix")[1], "a second run changes nothing"


def test_unsafe_fixes(lint, project):
    (project / "scaled.py").write_text(SCALED)
    assert lint("--fix", "--unsafe-fixes") == (0, "Fixed 2 problems. No problem found in 2 files.\n", "")
    assert (project / "scaled.py").read_text() == SCALED.replace(".item()", ".detach()")


def test_only_what_is_asked_for_is_fixed(lint, project):
    lint("--fix", "--ignore", "BF2")
    lint("--fix", "--select", "BF1")
    (project / "pyproject.toml").write_text('[tool.breakfinder.per-file-ignores]\n"model.py" = ["BF201"]\n')
    lint("--fix")
    assert (project / "model.py").read_text() == MODEL
    lint("--fix", "--isolated", "--all-functions")
    assert (project / "model.py").read_text().count("is_compiling") == 2


def test_diff(lint, project):
    status, out, err = lint("--diff")
    assert (status, err) == (1, "")
    assert out == (
        "--- a/model.py\n+++ b/model.py\n@@ -3,7 +3,8 @@\n \n class Model(torch.nn.Module):\n"
        "     def forward(self, x):\n"
        '-        print("mean", x.mean())\n'
        "+        if not torch.compiler.is_compiling():\n"
        '+            print("mean", x.mean())\n'
        "         return x\n \n \n"
    )
    assert (project / "model.py").read_text() == MODEL
    subprocess.run(["git", "init", "-q"], check=True)
    subprocess.run(["git", "apply", "-"], input=out, text=True, check=True)
    assert (project / "model.py").read_text() == FIXED
    assert lint("--diff") == (0, "", "")


def test_fixing_standard_input(project):
    done = piped(MODEL, "-", "--fix", "-q")
    assert (done.returncode, done.stdout, done.stderr) == (0, FIXED, "")
    done = piped(MODEL, "-", "--diff", "--stdin-filename", "model.py")
    assert done.returncode == 1
    assert done.stdout.startswith("--- a/model.py\n+++ b/model.py\n")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_fixes_keep_encoding_and_ends_of_lines(lint, project, newline):
    def content(text):
        return ("# coding: latin-1\n# é\n" + text).replace("\n", newline).encode("latin-1")

    (project / "model.py").write_bytes(content(MODEL))
    lint("--fix")
    assert (project / "model.py").read_bytes() == content(FIXED)


def test_a_fix_across_files(lint, project):
    """A helper is compiled because the model calls it; both are fixed in one run."""
    model = MODEL.replace("import torch\n", "import torch\nfrom helpers import clamp\n")
    (project / "model.py").write_text(model.replace("return x\n", "return clamp(x)\n", 1))
    (project / "helpers.py").write_text("import torch\n\n\ndef clamp(x):\n    print(x)\n    return x\n")
    assert "Fixed 2 problems." in lint("--fix")[1]
    assert "is_compiling" in (project / "helpers.py").read_text()
    assert lint("-q") == (0, "", "")
