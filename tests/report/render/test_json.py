import json

import jsonschema
import pytest

from breakfinder.errors import UsageError
from breakfinder.report.model import SCHEMA_VERSION
from breakfinder.report.render import FORMATS, render
from breakfinder.report.render.json import json_schema, read_json
from report.samples import ALL, with_findings


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("make", ALL.values(), ids=ALL)
def test_a_report_read_back_renders_to_the_same_bytes(make, format):
    report = make()
    again = read_json(render(report, "json"))
    assert again == report
    assert render(again, format) == render(report, format)


@pytest.mark.parametrize("make", ALL.values(), ids=ALL)
def test_every_report_holds_to_the_schema(make):
    jsonschema.validate(json.loads(render(make(), "json")), json_schema())


def test_the_schema_refuses_a_field_too_few_and_one_too_many():
    document = json.loads(render(with_findings(), "json"))
    for broken in (
        {**document, "surprise": 1},
        {name: value for name, value in document.items() if name != "findings"},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, json_schema())


def test_the_schema_names_itself_and_its_version():
    schema = json_schema()
    assert schema["title"] == f"breakfinder report {SCHEMA_VERSION}"
    assert "$id" not in schema
    jsonschema.Draft202012Validator.check_schema(schema)


def test_the_contract_keeps_its_names():
    document = json.loads(render(with_findings(), "json"))
    scenario, finding = document["scenarios"][0], document["findings"][0]
    assert {
        "graphs",
        "sites",
        "events",
        "skipped_frames",
        "recompilations",
        "captured_ops",
        "eager_ops",
    } <= set(scenario["default"])
    assert {"ok", "error"} <= set(scenario["fullgraph"])
    assert {"graph_count", "graph_break_count"} <= set(scenario["explain"])
    assert {
        "file",
        "line",
        "column",
        "end_line",
        "end_column",
        "qualname",
        "owner",
        "expression",
        "snippet",
    } <= set(finding["location"])
    assert {"gb_id", "gb_type", "explanation", "hints"} <= set(finding["torch"])
    assert {"title", "applicability", "verdict", "diff", "evidence"} <= set(finding["fixes"][0])


def changed(**fields):
    return json.dumps({**json.loads(render(with_findings(), "json")), **fields})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not valid JSON"),
        ('{"schema_version": "1.0"', "not valid JSON"),
        ("[" * 200_000, "not valid JSON"),
        ("[1, 2]", "no schema_version"),
        ('{"version": 3, "results": []}', "no schema_version"),
        (changed(schema_version="one"), "not of the form"),
        (changed(schema_version="1.999"), "newer than"),
        (changed(schema_version="2.0", brand_new=True), "newer than"),
        (changed(schema_version="0.9"), "no longer reads"),
        (changed(findings=[{"id": "F1"}]), "findings.0.fingerprint"),
        (changed(surprise=1), "surprise"),
    ],
)
def test_what_is_no_report_is_refused_in_one_line(text, message):
    with pytest.raises(UsageError) as caught:
        read_json(text)
    assert message in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.hint


def test_an_unknown_format_names_the_known_ones():
    with pytest.raises(UsageError) as caught:
        render(with_findings(), "pdf")
    assert "'pdf'" in caught.value.message
    assert "text, html, json" in caught.value.hint
