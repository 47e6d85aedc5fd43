"""The shared cases whose repair can be automatic are fixed by `breakfinder fix` without a hand on them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).parents[1] / "fixtures" / "cases"
FIXED = {
    "case_01_item_scale": 1,
    "case_03_if_tensor": 1,
    "case_05_bool_mask": 1,
    "case_07_print": 1,
    "case_09_warnings": 1,
    "case_16_generator": 1,
    "case_17_try_except": 1,
    "case_19_autograd_fn": 2,
    "case_21_c_builtin": 1,
    "case_34_int_counter": 1,
    "case_51_disabled_helper": 1,
    "case_59_env_fs": 1,
    "case_65_nested_break": 1,
}
"""Case → steps.  Families A and B of the catalogue of repairs; the others end by a setting (test_knobs.py)."""


def fix(case, tmp_path, *arguments):
    source = (CASES / f"{case}.py").read_text()
    (tmp_path / f"{case}.py").write_text(source)
    name = "Model" if "class Model" in source else "fn"
    flags = ["--no-grad"] if "NO_GRAD = True" in source else []
    command = [sys.executable, "-m", "breakfinder", "fix", f"{case}.py:{name}", *flags, *arguments]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=280, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("case", FIXED)
def test_every_step_is_proved_and_nothing_is_left(case, tmp_path):
    done = fix(case, tmp_path, "--fix-timeout", "200")
    assert done.returncode == 0, done.stderr
    steps = re.findall(r"^\d+\. .*: (.+)$", done.stderr, re.MULTILINE)
    assert steps == ["proved"] * FIXED[case]
    assert "no problems left" in done.stderr
    applied = subprocess.run(
        ["git", "apply", "-"], cwd=tmp_path, input=done.stdout, text=True, capture_output=True, check=False
    )
    assert applied.returncode == 0, applied.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "trap", ["case_90_trap_where_nan", "case_92_trap_item_dtype", "case_93_trap_where_rng"]
)
def test_a_trap_is_not_sprung(trap, tmp_path):
    """What the search makes of a trap is never the form that looks right and is not."""
    source = (CASES / "traps" / f"{trap}.py").read_text()
    (tmp_path / f"{trap}.py").write_text(source)
    command = [sys.executable, "-m", "breakfinder", "fix", f"{trap}.py:Model", "--write"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=280, check=False)
    wrong = (CASES / "traps" / f"{trap}_fixed.py").read_text()
    assert (tmp_path / f"{trap}.py").read_text() != wrong
