"""`breakfinder rules`."""

import json
import os
import subprocess
import sys

import pytest

from breakfinder.cli import main
from breakfinder.rules import all_rules
from breakfinder.rules.lookup import named, rules_of, torch_breaks


@pytest.fixture
def rules(capfd):
    def run(*arguments):
        with pytest.raises(SystemExit) as caught:
            main(["rules", *arguments])
        out, err = capfd.readouterr()
        return caught.value.code, out, err

    return run


def test_all_are_listed(rules):
    status, out, _ = rules()
    assert status == 0
    lines = out.splitlines()
    assert [line.split()[0] for line in lines] == [
        "code",
        "BF000",
        "BF001",
        *(rule.code for rule in all_rules()),
    ]
    assert next(line for line in lines if line.startswith("BF201")).split()[1:3] == ["print", "yes"]


def test_the_list_for_programs(rules):
    listed = {rule["code"]: rule for rule in json.loads(rules("--output-format", "json")[1])}
    assert set(listed) == {"BF000", "BF001", *(rule.code for rule in all_rules())}
    assert listed["BF101"]["name"] == "tensor-to-python-number"
    assert listed["BF700"]["lint"] is False
    assert listed["BF201"]["lint"] is True


@pytest.mark.parametrize("name", ["BF101", "bf101", "tensor-to-python-number", "item"])
def test_one_is_explained(rules, name):
    status, out, _ = rules(name)
    assert status == 0
    assert out.startswith("# BF101: A tensor's value becomes a Python number\n")
    for part in (
        "## Why",
        "## What to do",
        "```python",
        "# <-- break",
        "In torch >=2.13",
        "## What torch calls it",
    ):
        assert part in out
    assert "{expression}" not in out


def test_one_for_programs(rules):
    explained = json.loads(rules("BF101", "--output-format", "json")[1])
    assert "unsupported index(Tensor)" in explained["gb_types"]
    assert explained["examples"][0]["broken"].startswith("import torch\n")
    assert json.loads(rules("BF001", "--output-format", "json")[1])["name"] == "unused-suppression"


def test_those_of_lint_itself(rules):
    assert rules("BF000")[1].startswith("# BF000: The file cannot be analysed\n")


def test_by_torchs_number(rules):
    number = next(
        key for key, entry in torch_breaks().items() if "capture_scalar_outputs=False" in entry.gb_type
    )
    status, out, _ = rules(number.lower())
    assert status == 0
    assert out.startswith(f"# {number}: Unsupported Tensor.item() call")
    assert "torch says: " in out
    assert "Explained by BF101." in out
    assert "# BF101: " in out
    explained = json.loads(rules(number, "--output-format", "json")[1])
    assert (explained["gb_id"], [rule["code"] for rule in explained["rules"]]) == (number, ["BF101"])


def test_every_number_of_the_installed_torch_is_explained():
    assert len(torch_breaks()) > 300
    for found in torch_breaks().values():
        explanation = rules_of(found.gb_type)
        assert explanation.rules
        assert explanation.family or found.gb_type in explanation.rules[0].gb_types, found


def test_a_family_is_named(rules):
    number = next(
        key for key, entry in torch_breaks().items() if rules_of(entry.gb_type).family == "containers"
    )
    assert "It is one of a family: containers." in rules(number)[1]


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("BF109", "no rule 'BF109'", "did you mean BF10"),
        ("pritn", "no rule 'pritn'", "did you mean print"),
        ("zzz", "no rule 'zzz'", "lists them"),
        ("GB0000000", "no rule", "lists them"),
        ("GB9999", "the installed torch has no graph break GB9999", "did you mean GB"),
        ("tensor", "'tensor' may be several rules", "BF101 (tensor-to-python-number)"),
    ],
)
def test_what_is_no_rule(rules, name, message, hint):
    status, out, err = rules(name)
    assert (status, out) == (2, "")
    assert message in err
    assert hint in err


def test_names_by_module_and_part():
    assert [rule.code for rule in named("item")] == ["BF101"]
    assert [rule.code for rule in named("new_parameter")] == ["BF506"]
    assert "BF105" in {rule.code for rule in named("dependent")}
    assert named("") == []


def test_torch_is_not_imported(tmp_path):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("raise SystemExit('torch was imported')")
    for arguments in ([], ["BF101"], ["print", "--output-format", "json"]):
        done = subprocess.run(
            [sys.executable, "-m", "breakfinder", "rules", *arguments],
            capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(tmp_path)},
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
