"""GitLab's code quality report."""

import json

import jsonschema
import pytest

from breakfinder.report.render import render
from breakfinder.report.render.gitlab import render_gitlab
from breakfinder.report.render.problem import Problem, Problems
from report import samples

# What GitLab documents of the format: these are required, and a severity is one of these.
SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string"},
            "fingerprint": {"type": "string", "minLength": 1},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": "^(?!\\./)"},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": {"type": "integer", "minimum": 1}},
                    },
                },
            },
        },
    },
}


@pytest.mark.parametrize("name", [*samples.ALL, *samples.COLLECTIONS])
def test_valid_and_harmless(name):
    text = render((samples.ALL | samples.COLLECTIONS)[name](), "gitlab")
    jsonschema.validate(json.loads(text), SCHEMA)
    assert text.isascii()
    text.encode()


def test_a_finding():
    first = json.loads(render(samples.with_findings(), "gitlab"))[1]
    assert first == {
        "description": "BF102 `.tolist()` moves a tensor's values to Python: chosen.flatten().tolist()",
        "check_name": "BF102",
        "fingerprint": "b2",
        "severity": "critical",
        "location": {"path": "src/gatednet/routing.py", "lines": {"begin": 7, "end": 7}},
    }


def test_fingerprints_are_stable_and_unique():
    twice = Problem("BF101", "t", "info", "./a.py", 1, 1, 1, 2, "same")
    issues = json.loads(render_gitlab(Problems("lint", "1", [twice, twice, twice])))
    assert [issue["fingerprint"] for issue in issues] == ["same", "same-1", "same-2"]
    assert issues[0]["location"]["path"] == "a.py"
    assert issues[0]["severity"] == "info"
