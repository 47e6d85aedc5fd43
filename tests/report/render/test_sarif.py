"""SARIF 2.1.0."""

import json
from urllib.parse import unquote

import jsonschema
import pytest

from breakfinder.report.model import Fix
from breakfinder.report.render import render
from breakfinder.report.render.problem import Problem, Problems, rule_texts
from breakfinder.report.render.sarif import render_sarif
from report import samples


def object_of(required="", **properties):
    return {
        "type": "object", "properties": properties, "required": required.split(), "additionalProperties": False,
    }  # fmt: skip


def list_of(items, least=0):
    return {"type": "array", "items": items, "minItems": least}


# The objects of the standard that are used, with the properties that they may have: none has others.
TEXT = {"type": "string"}
INDEX = {"type": "integer", "minimum": -1}
POSITION = {"type": "integer", "minimum": 1}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
BAG = {"type": "object", "properties": {"tags": {"type": "array", "items": TEXT, "uniqueItems": True}}}
MESSAGE = object_of("text", text={"type": "string", "minLength": 1}, markdown=TEXT)
ARTIFACT = object_of(uri={"type": "string", "format": "uri-reference"}, uriBaseId=TEXT, description=MESSAGE)
CONTENT = object_of(text=TEXT)
REGION = object_of(
    startLine=POSITION, startColumn=POSITION, endLine=POSITION, endColumn=POSITION, snippet=CONTENT
)
RULE = object_of(
    "id", id=TEXT, name=TEXT, shortDescription=MESSAGE, fullDescription=MESSAGE, help=MESSAGE,
    defaultConfiguration=object_of(level=LEVEL), properties=BAG,
)  # fmt: skip
LOCATION = object_of(
    physicalLocation=object_of("artifactLocation", artifactLocation=ARTIFACT, region=REGION),
    logicalLocations=list_of(object_of(fullyQualifiedName=TEXT, kind=TEXT)),
)
REPLACEMENT = object_of("deletedRegion", deletedRegion=REGION, insertedContent=CONTENT)
CHANGE = object_of(
    "artifactLocation replacements", artifactLocation=ARTIFACT, replacements=list_of(REPLACEMENT, 1)
)
FIX = object_of("artifactChanges", description=MESSAGE, artifactChanges=list_of(CHANGE, 1))
RESULT = object_of(
    "message", ruleId=TEXT, ruleIndex=INDEX, level=LEVEL, message=MESSAGE, locations=list_of(LOCATION),
    partialFingerprints={"type": "object", "additionalProperties": TEXT}, properties=BAG, fixes=list_of(FIX),
    suppressions=list_of(object_of("kind", kind={"enum": ["inSource", "external"]}, justification=TEXT)),
)  # fmt: skip
INVOCATION = object_of(
    "executionSuccessful", executionSuccessful={"type": "boolean"},
    toolExecutionNotifications=list_of(object_of("message", message=MESSAGE, level=LEVEL)),
)  # fmt: skip
RUN = object_of(
    "tool", tool=object_of("driver", driver=object_of("name", name=TEXT, version=TEXT, rules=list_of(RULE))),
    invocations=list_of(INVOCATION), results=list_of(RESULT),
    originalUriBaseIds={"type": "object", "additionalProperties": ARTIFACT},
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
)  # fmt: skip
SCHEMA = object_of("version runs", **{"$schema": TEXT}, version={"const": "2.1.0"}, runs=list_of(RUN))


def read(text):
    document = json.loads(text)
    jsonschema.validate(document, SCHEMA)
    (run,) = document["runs"]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    return run


def problem(**changes):
    fields = {
        "rule": "BF101", "title": "title", "severity": "warning", "file": "a.py", "line": 3, "column": 5,
        "end_line": 3, "end_column": 9, "fingerprint": "f",
    }  # fmt: skip
    return Problem(**{**fields, **changes})


def result(**changes):
    return read(render_sarif(Problems("lint", "1", [problem(**changes)])))["results"][0]


def place(**changes):
    return result(**changes)["locations"][0]["physicalLocation"]


@pytest.mark.parametrize("name", [*samples.ALL, *samples.COLLECTIONS])
def test_valid_and_harmless(name):
    text = render((samples.ALL | samples.COLLECTIONS)[name](), "sarif")
    read(text)
    assert text.isascii()


def test_a_finding_of_a_check():
    run = read(render(samples.with_findings(), "sarif"))
    first = run["results"][1]
    assert (first["ruleId"], first["level"]) == ("BF102", "error")
    assert (
        first["message"]["text"] == "`.tolist()` moves a tensor's values to Python: chosen.flatten().tolist()"
    )
    (location,) = first["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "src/gatednet/routing.py", "uriBaseId": "%SRCROOT%"},
        "region": {
            "startLine": 7, "startColumn": 23, "endLine": 7, "endColumn": 48,
            "snippet": {"text": "chosen.flatten().tolist()"},
        },
    }  # fmt: skip
    assert location["logicalLocations"] == [{"fullyQualifiedName": "pick_experts", "kind": "function"}]
    assert first["partialFingerprints"] == {"breakfinder/v1": "b2"}
    assert first["suppressions"] == []
    assert run["columnKind"] == "unicodeCodePoints"


def test_rules_bring_help():
    texts = rule_texts({"BF101", "BF201"})
    run = read(render_sarif(Problems("lint", "1", [problem(rule="BF201"), problem()], texts)))
    first, second = run["tool"]["driver"]["rules"]
    assert (first["id"], first["name"]) == ("BF101", "TensorToPythonNumber")
    assert second["shortDescription"]["text"] == "`print` in compiled code"
    assert "## What to do" in second["help"]["markdown"]
    assert second["defaultConfiguration"] == {"level": "warning"}


def test_a_failure_is_said():
    run = read(render(samples.failed(), "sarif"))
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    failure = samples.failed().failure
    said = invocation["toolExecutionNotifications"][0]
    assert (said["level"], said["message"]["text"]) == ("error", f"{failure.stage}: {failure.message}")


@pytest.mark.parametrize(
    "file", ["a b.py", "ä/ü.py", "100%.py", "c:d.py", "q?x#y.py", "a\nb.py", "x\u202e.py"]
)
def test_relative_paths_are_uris(file):
    location = place(file=file)["artifactLocation"]
    assert location["uriBaseId"] == "%SRCROOT%"
    assert unquote(location["uri"]) == file
    assert location["uri"].isascii()
    assert not set(location["uri"]) & set(" ?#:\n")


def test_absolute_paths_and_bytes_that_are_no_text():
    assert place(file="/tmp/a b.py")["artifactLocation"] == {"uri": "file:///tmp/a%20b.py"}
    assert place(file="a\udcff.py")["artifactLocation"]["uri"] == "a%FF.py"


def test_a_notebook_has_no_region():
    assert "region" not in place(cell=2)
    assert result(cell=2)["properties"]["cell"] == 2


def test_suppressions():
    assert result(suppressed=True, justification="runs once")["suppressions"] == [
        {"kind": "inSource", "justification": "runs once"}
    ]


def test_a_message_is_no_link():
    assert result(title="x[i](y)")["message"]["text"] == "x\\[i\\](y)"
    assert result(title="x[i] + 1")["message"]["text"] == "x[i] + 1"


BEFORE = ["one\n", "two\n", "three\n", "four\n", "five\n"]


@pytest.mark.parametrize(
    "after",
    [
        ["one\n", "2\n", "3\n", "four\n", "five\n"],
        ["zero\n", *BEFORE],
        [*BEFORE, "six\n"],
        BEFORE[1:],
        BEFORE[:-1],
        ["1\n", "two\n", "three\n", "four\n", "5\n", "+6\n"],
        ["one\n", "--- two\n", "four\n"],
    ],
)
def test_replacements_give_what_the_diff_gives(after):
    from breakfinder.source.diff import unified_diff

    diff = unified_diff("a.py", "".join(BEFORE), "".join(after))
    fix = Fix(title="Do it", applicability="safe", verdict="proved", diff=diff)
    ((change,),) = [one["artifactChanges"] for one in result(fixes=[fix])["fixes"]]
    lines = list(BEFORE)
    for replacement in reversed(change["replacements"]):
        region = replacement["deletedRegion"]
        lines[region["startLine"] - 1 : region["endLine"] - 1] = [replacement["insertedContent"]["text"]]
    assert "".join(lines) == "".join(after)


@pytest.mark.parametrize("verdict", ["failed", "advice"])
def test_a_fix_that_is_not_proved_is_left_out(verdict):
    fix = Fix(title="Do it", applicability="safe", verdict=verdict, diff="@@ -1 +1 @@\n-x\n+y\n")
    assert "fixes" not in result(fixes=[fix])
