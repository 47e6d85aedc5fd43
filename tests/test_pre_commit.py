"""The hook that pre-commit runs."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

HOOKS = Path(__file__).parents[1] / ".pre-commit-hooks.yaml"


def test_the_hook_finds_what_lint_finds(tmp_path):
    (entry,) = re.findall(r"^  entry: breakfinder (.+)$", HOOKS.read_text(), re.MULTILINE)
    names = ["model.py", "build/model.py"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(
            "import torch\nclass M(torch.nn.Module):\n    def forward(self, x):\n        print(x)\n        return x\n"
        )
    done = subprocess.run(
        [sys.executable, "-m", "breakfinder", *shlex.split(entry), *names],
        capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stdout.startswith("model.py:4:9: BF201 ")
    assert "build/model.py" not in done.stdout
