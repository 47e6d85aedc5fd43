"""What a user can get wrong gives one clear line, what to do next, and exit code 2."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parents[1] / "fixtures"


def run(*arguments, cwd=None, **env):
    return subprocess.run(
        [sys.executable, "-m", "breakfinder", *arguments],
        capture_output=True, text=True, timeout=120, check=False, cwd=cwd, env={**os.environ, **env},
    )  # fmt: skip


@pytest.fixture
def project(tmp_path):
    (tmp_path / "model.py").write_text(
        "import torch\n"
        "class Model(torch.nn.Module):\n"
        "    def __init__(self, width, depth=2):\n"
        "        super().__init__()\n"
        "    def forward(self, x):\n"
        "        return x\n"
        "class NoInputs(torch.nn.Module):\n"
        "    def forward(self, x):\n"
        "        return x\n"
        "VALUE = 3\n"
    )
    (tmp_path / "inputs.py").write_text(
        "import torch\ndef make():\n    return (torch.ones(2),)\ndef bad():\n    return 7\n"
    )
    (tmp_path / "broken.py").write_text("def f(:\n")
    (tmp_path / "folder").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["check", "modle.py:Model"], "no file modle.py", "did you mean model.py?"),
        (["check", "model.py"], "does not say what in the file", "model.py:Model"),
        (["check", "model.py:Modle"], "has no attribute 'Modle'", "did you mean Model?"),
        (["check", "model.py:Model"], "missing a required argument: 'width'", """--model-kwargs '{"width": …}'"""),
        (["check", "model.py:Model", "--model-kwargs", '{"wdth": 3}'], "wdth", "width"),
        (["check", "model.py:Model", "--model-kwargs", "{width: 3}"], "--model-kwargs is no JSON", "e.g."),
        (["check", "model.py:Model", "--model-kwargs", "[3]"], "no JSON object", "e.g."),
        (["check", "model.py:NoInputs"], "no example_inputs", "--inputs file.py:function"),
        (["check", "model.py:NoInputs", "--inputs", "inputs.py:mkae"], "no attribute 'mkae'", "did you mean make?"),
        (["check", "model.py:NoInputs", "--inputs", "inputs.py:bad"], "example inputs are a int", "give a tuple"),
        (["check", "model.py:VALUE"], "not callable", "class, instance or function"),
        (["check", "model.py:NoInputs", "--inputs", "inputs.py:make", "--scenario", "decode"], "does not fit", "train"),
        (["check", "model.py:NoInputs", "--inputs", "inputs.py:make", "--dtype", "float33"], "no dtype 'float33'", "e.g."),
        (["check", "./flder"], "no folder ./flder", "did you mean folder?"),
        (["check", "./folder"], "has no config.json", "file.py:Model"),
        (["check", "no_such_package.module:Model"], "no module 'no_such_package'", "install"),
        (["check", "json:no_such"], "no attribute 'no_such'", "it has"),
        (["check", "a b c"], "is no target", "a model type"),
        (["check", ""], "target is empty", "a model type"),
        (["check", "llama", "--output", "pdf"], "no output format 'pdf'", "text, html, json"),
        (["check", "llama", "--output", "json=model.py/x.json"], "cannot write", "--output FORMAT=FILE"),
        (["check", "llama", "--output", "json=folder"], "it is a folder", "--output FORMAT=FILE"),
        (["check", "llama", "--output", "json=-", "--output", "text"], "standard output", "=FILE"),
        (["check", "llama", "--memory-limit", "lots"], "no amount of memory", "8G"),
        (["check", "llama", "--dynamo-config", "nonsense"], "no NAME=VALUE", "e.g."),
        (["check", "model.py:NoInputs", "--inputs", "inputs.py:make", "--dynamo-config", "no_such_knob=true"],
         "has no torch._dynamo.config.no_such_knob", "config.py"),
        (["check", "lama"], "did you mean", "llama"),
        (["chekc", "llama"], "no command 'chekc'", "did you mean 'check'?"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else None,
)  # fmt: skip
def test_one_clear_line(project, arguments, message, hint):
    done = run(*arguments, cwd=project, HF_HUB_OFFLINE="1", HF_HOME=str(project / "hf"))
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert hint in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().split("\n")) <= 2
    assert not (project / "breakfinder-report").exists()


def test_debug_shows_the_traceback(project):
    assert "Traceback" in run("check", "modle.py:Model", "--debug", cwd=project).stderr


def test_a_file_that_does_not_parse_is_the_models_failure(project):
    done = run("check", "broken.py:f", "-o", "text", cwd=project)
    assert done.returncode == 3
    assert "SyntaxError" in done.stdout


def test_version_and_help_without_torch(tmp_path):
    """A torch that cannot be imported is not noticed."""
    (tmp_path / "torch.py").write_text("raise SystemExit('torch was imported')")
    for arguments in (["--version"], ["--help"], ["check", "--help"], ["schema"]):
        done = run(*arguments, PYTHONPATH=str(tmp_path))
        assert done.returncode == 0, done.stderr
        assert done.stdout
