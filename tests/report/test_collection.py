"""The reports of several targets, in every format."""

import json
import subprocess
import sys
from xml.etree import ElementTree as Xml

import jsonschema
import pytest

from breakfinder.errors import UsageError
from breakfinder.report.collection import Collection, shared
from breakfinder.report.render import FORMATS, render
from breakfinder.report.render.json import json_schema, read_document, read_json
from report import samples
from report.samples import several, several_hostile


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("make", [several, several_hostile])
def test_read_back_it_renders_to_the_same_bytes(make, format):
    document = make()
    again = read_document(render(document, "json"))
    assert again == document
    assert render(again, format) == render(document, format)


def test_it_holds_to_its_schema():
    jsonschema.validate(json.loads(render(several(), "json")), json_schema(Collection))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**json.loads(render(several(), "json")), "more": 1}, json_schema(Collection))


def test_it_is_not_one_report():
    with pytest.raises(UsageError, match="4 targets"):
        read_json(render(several(), "json"))


def test_what_targets_share_counts_once():
    document = several()
    one = len(samples.with_findings().findings)
    failed = len(samples.failed().findings)
    totals = document.totals
    assert (totals.targets, totals.ok, totals.findings, totals.failed) == (4, 1, 2, 1)
    assert document.status == "failed"
    assert one <= totals.places <= one + failed
    assert totals.places == len(shared(document.reports))
    names = [[report.target.name for report in item.reports] for item in shared(document.reports)]
    assert ["first", "fourth"] in names


def test_the_text_has_a_row_for_each_target_and_each_finding_once():
    text = render(several(), "text")
    for name in ("first", "second", "third", "fourth"):
        assert any(line.startswith(f"{name} ") for line in text.splitlines())
    place = samples.with_findings().findings[0].location
    assert text.count(f"{place.file}:{place.line}:{place.column}: ") == 1
    assert "in      first, fourth" in text
    assert "1 of 4 targets without findings" in text.splitlines()[0]


def test_junit_has_a_suite_for_each_target():
    root = Xml.fromstring(render(several(), "junit").split("\n", 1)[1])
    assert [suite.get("name") for suite in root] == [
        f"check {n}" for n in ("first", "second", "third", "fourth")
    ]
    assert int(root.get("tests")) == len(root.findall(".//testcase"))
    assert int(root.get("failures")) == len(root.findall(".//failure"))
    assert int(root.get("errors")) == len(root.findall(".//error")) == 1


def test_sarif_is_one_run_that_names_the_targets():
    (run,) = json.loads(render(several(), "sarif"))["runs"]
    assert ["first", "fourth"] in [result.get("properties", {}).get("targets") for result in run["results"]]
    assert run["invocations"][0]["executionSuccessful"] is False
    assert "third" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]


def test_gitlab_fingerprints_are_distinct():
    fingerprints = [issue["fingerprint"] for issue in json.loads(render(several(), "gitlab"))]
    assert len(set(fingerprints)) == len(fingerprints)


def test_github_says_which_target_failed():
    assert "breakfinder%3A check third" in render(several(), "github")


def test_markdown_has_a_table():
    rows = [line for line in render(several_hostile(), "markdown").splitlines() if line.startswith("| ")]
    assert len(rows) == 3
    assert all("<script" not in row and row.count("|") - row.count("\\|") == 4 for row in rows)


def test_the_page_links_each_target_and_has_no_id_twice():
    import re

    page = render(several(), "html")
    ids = re.findall(r'\bid="([^"]*)"', page)
    assert len(ids) == len(set(ids))
    for number in range(1, 5):
        assert f'href="#target-{number}"' in page
        assert f"target-{number}" in ids
    assert "<script>window" not in render(several_hostile(), "html")
    assert "<img" not in render(several_hostile(), "html")


def test_no_torch_is_imported():
    code = "import sys, breakfinder.report.collection; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
