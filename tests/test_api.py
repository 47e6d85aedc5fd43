"""The Python API checks a live model, and leaves it and the process's random state as they were."""

import random

import torch

import breakfinder


class Counting(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.calls = 0

    def forward(self, x, scale=1.0):
        self.calls += 1
        print("a break")
        return self.linear(x) * scale


def test_a_live_model(capsys):
    model = Counting()
    state = random.getstate(), torch.get_rng_state()
    report = breakfinder.check(model, torch.ones(2, 4), scale=2.0)
    assert isinstance(report, breakfinder.Report)
    (finding,) = [finding for finding in report.findings if finding.kind == "graph_break"]
    assert finding.rule == "BF201"
    assert finding.location.file == "tests/test_api.py" or finding.location.file.endswith("test_api.py")
    assert finding.location.expression == 'print("a break")'
    assert report.status == "findings" and report.target.kind == "object"
    assert model.calls == 0 and model.training
    assert random.getstate() == state[0] and torch.equal(torch.get_rng_state(), state[1])


def test_a_function_that_is_clean():
    report = breakfinder.check(lambda x: torch.relu(x) + 1, torch.ones(3))
    assert report.status == "ok" and not report.findings
    assert report.scenarios[0].fullgraph.ok


def test_a_model_that_raises_is_a_failure_in_the_report():
    def fails(x):
        raise ValueError("no good")

    report = breakfinder.check(fails, torch.ones(1))
    assert report.status == "failed"
    assert "ValueError: no good" in report.failure.message


def test_notebooks_show_the_page():
    html = breakfinder.check(lambda x: x + 1, torch.ones(1))._repr_html_()
    assert html.startswith("<iframe srcdoc=") and "&lt;!doctype html" in html.lower()
    assert "<script" not in html
