"""Where the report of a command goes."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from breakfinder.cli.output import Outputs
from breakfinder.errors import UsageError
from breakfinder.report.render import FORMATS
from report import samples

FOLDER = Path("folder")


@pytest.mark.parametrize(
    ("option", "destination"),
    [
        ("text", ("text", None)),
        ("github", ("github", None)),
        ("sarif", ("sarif", FOLDER / "report.sarif")),
        ("junit", ("junit", FOLDER / "report.junit.xml")),
        ("gitlab", ("gitlab", FOLDER / "report.gitlab.json")),
        ("markdown", ("markdown", FOLDER / "report.md")),
        ("sarif=x=y.json", ("sarif", Path("x=y.json"))),
        ("sarif=-", ("sarif", None)),
    ],
)
def test_formats_and_their_files(option, destination):
    assert Outputs.parse((option,), FOLDER, quiet=False).destinations == [destination]


@pytest.mark.parametrize("option", ["sraif", "sarif=", "=x"])
def test_what_is_no_output(option):
    with pytest.raises(UsageError):
        Outputs.parse((option,), FOLDER, quiet=False)


def test_every_format_is_written(tmp_path, capfd):
    options = tuple(f"{name}={tmp_path / name}" for name in FORMATS)
    outputs = Outputs.parse(options, tmp_path, quiet=True)
    outputs.write(samples.with_findings())
    assert {path.name for path in tmp_path.iterdir()} == set(FORMATS)
    assert capfd.readouterr() == ("", "")
    for name in FORMATS:
        assert "BF102" in (tmp_path / name).read_text()


def test_check_writes_what_other_programs_read(tmp_path):
    (tmp_path / "model.py").write_text(
        "import torch\n\n\ndef fn(x):\n    print(x)\n    return x + 1\n\n\nexample_inputs = (torch.ones(2),)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "breakfinder", "check", "model.py:fn", "--no-fixes",
         "-o", "sarif=out/r.sarif", "-o", "junit", "-o", "github"],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    (result,) = json.loads((tmp_path / "out" / "r.sarif").read_text())["runs"][0]["results"]
    (location,) = result["locations"]
    assert result["ruleId"] == "BF201"
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "model.py"
    assert location["physicalLocation"]["region"]["startLine"] == 5
    (case,) = Xml.parse(tmp_path / "breakfinder-report" / "report.junit.xml").getroot().iter("testcase")
    assert case.get("line") == "5"
    (line,) = done.stdout.splitlines()
    assert line.startswith("::warning file=model.py,line=5,endLine=5,col=5,endColumn=13,title=BF201%3A ")
