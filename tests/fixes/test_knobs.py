"""Settings do in our trials what was measured for the shared cases."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).parents[1] / "fixtures" / "cases"
TRUTH = json.loads((CASES / "truth.json").read_text())
NAMES = {
    "scalar": "capture_scalar_outputs=True",
    "dynshape": "capture_dynamic_output_shape_ops=True",
    "reorder_log": "reorderable_logging_functions",
    "ignore_log": "ignore_logging_functions",
    "allow_rnn": "allow_rnn=True",
}
CLEARED = [case for case in TRUTH if set(case["config_that_clears"]) & set(NAMES)]
NOT_CLEARED = [
    case for case in TRUTH if case["id"] in ("03", "19", "26", "40", "49")
]  # by none of the settings that were tried on them


def trials(case, tmp_path):
    source = (CASES / case["file"]).read_text()
    (tmp_path / case["file"]).write_text(source)
    name = "Model" if "class Model" in source else "fn"
    command = [
        sys.executable,
        "-m",
        "breakfinder",
        "check",
        f"{case['file']}:{name}",
        "-o",
        "json=report.json",
    ]
    flags = ["--no-grad"] if "NO_GRAD = True" in source else []
    subprocess.run([*command, *flags], cwd=tmp_path, capture_output=True, timeout=280, check=False)
    report = json.loads((tmp_path / "report.json").read_text())
    return report, {trial["name"]: trial for trial in report["knobs"]}


def clears(trial):
    after = trial["after"]
    return bool(after) and after["sites"] == 0 and after["skipped_frames"] == 0 and after["graphs"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("case", CLEARED, ids=lambda case: case["id"])
def test_what_clears_a_case_is_found_to(case, tmp_path):
    report, found = trials(case, tmp_path)
    for knob in set(case["config_that_clears"]) & set(NAMES):
        trial = found[NAMES[knob]]
        assert clears(trial), knob
        assert trial["equal_outputs"] is True
        assert set(trial["clears"]) >= {finding["fingerprint"] for finding in report["findings"]}
        assert trial["before"]["sites"] == len(case["sites"])


@pytest.mark.slow
@pytest.mark.parametrize("case", NOT_CLEARED, ids=lambda case: case["id"])
def test_what_does_not_clear_a_case_is_not_said_to(case, tmp_path):
    assert case["config_that_clears"] == []
    _, found = trials(case, tmp_path)
    assert not [name for name, trial in found.items() if clears(trial)]


def test_every_setting_that_a_rule_names_is_there():
    from breakfinder.fixes.knobs import KNOBS
    from breakfinder.rules import all_rules

    named = {knob for rule in all_rules() for knob in rule.knobs}
    assert named <= set(KNOBS)
    assert named | {"fullgraph", "nested", "scalars-and-shapes"} == set(KNOBS)


def test_every_setting_is_one_of_the_installed_torch():
    import torch._dynamo.config as config

    from breakfinder.fixes.knobs import KNOBS

    assert [name for knob in KNOBS.values() for name in knob.config if not hasattr(config, name)] == []
