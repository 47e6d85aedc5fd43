"""The wheel works outside of the checkout: its templates are shipped."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_an_installed_wheel_renders_the_report(tmp_path):
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", tmp_path / "dist", ROOT], check=True
    )
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    installed = tmp_path / "installed"
    subprocess.run([*pip, "install", "--no-deps", "--target", installed, wheel], check=True)
    (tmp_path / "model.py").write_text(
        "import torch\ndef f(x):\n    print('hi')\n    return x + 1\nexample_inputs = (torch.ones(2),)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    where = subprocess.run(
        [sys.executable, "-c", "import breakfinder; print(breakfinder.__file__)"],
        capture_output=True, text=True, cwd=tmp_path, env=environment, check=True,
    )  # fmt: skip
    assert Path(where.stdout.strip()).is_relative_to(installed)
    done = subprocess.run(
        [sys.executable, "-m", "breakfinder", "check", "model.py:f"],
        capture_output=True, text=True, cwd=tmp_path, env=environment, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    report = json.loads((tmp_path / "breakfinder-report" / "report.json").read_text())
    assert [(f["rule"], f["location"]["file"], f["location"]["line"]) for f in report["findings"]] == [
        ("BF201", "model.py", 3)
    ]
    page = (tmp_path / "breakfinder-report" / "report.html").read_text()
    assert "print(" in page and "Content-Security-Policy" in page
