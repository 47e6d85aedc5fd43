"""Every case gives what was measured for it: sites, skipped frames, verdicts, recompilations."""

from collections import Counter
from pathlib import Path

import pytest
import torch

from conftest import CASES, check_case, truth

RELEASE = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
pytestmark = pytest.mark.skipif(RELEASE != (2, 13), reason="the truth was measured on torch 2.13")


@pytest.fixture(scope="module")
def reports():
    return {}


def report_of(reports, case):
    if case["id"] not in reports:
        reports[case["id"]] = check_case(CASES / case["file"])
    return reports[case["id"]]


def findings(report, kind):
    return [finding for finding in report.findings if finding.kind == kind]


@pytest.mark.parametrize("case", truth(), ids=lambda case: case["file"])
class TestCase:
    def test_sites(self, reports, case):
        report = report_of(reports, case)
        found = Counter()
        for finding in findings(report, "graph_break"):
            assert Path(finding.location.file).name == case["file"]
            found[finding.location.line, finding.torch.gb_id, finding.torch.gb_type] = finding.events
        assert found == {
            (site["line"], site["gb_id"], site["gb_type"]): site["events"] for site in case["sites"]
        }
        assert report.scenarios[0].default.sites == len(case["sites"])
        assert report.scenarios[0].default.events == sum(site["events"] for site in case["sites"])

    def test_skipped_frames(self, reports, case):
        report = report_of(reports, case)
        skipped = [
            frame
            for frame in report.scenarios[0].frames
            if frame.outcome in ("skipped", "failed") and frame.compile_id
        ]
        names = [[frame.function, frame.line] for frame in skipped]
        # A frame that hit the recompile limit has no name in the record.
        for name, wanted in zip(names[: len(case["skipped_frames"])], case["skipped_frames"], strict=True):
            assert wanted in (name, [None, None])
        silent = case["verdict"] == "silent-skip"
        assert report.scenarios[0].default.skipped_frames == len(case["skipped_frames"]) + silent
        assert len(findings(report, "skipped_frame")) == silent

    def test_fullgraph_verdict(self, reports, case):
        scenario = report_of(reports, case).scenarios[0]
        assert scenario.fullgraph.ok == case["fullgraph_ok"]
        assert bool(scenario.fullgraph.error) == (not case["fullgraph_ok"])
        assert scenario.cross_check.agrees, scenario.cross_check

    def test_graphs_and_explain(self, reports, case):
        report = report_of(reports, case)
        scenario = report.scenarios[0]
        assert scenario.default.graphs == case["graphs"]
        explained = {
            "graph_count": scenario.explain.graph_count,
            "graph_break_count": scenario.explain.graph_break_count,
        }
        assert explained == (case["explain"] or {"graph_count": None, "graph_break_count": None})
        assert bool(scenario.explain.error) == (not case["explain"])
        missed = [f.location.line for f in findings(report, "graph_break") if f.missed_by_explain]
        assert sorted(missed) == sorted(case["explain_missed_lines"])

    def test_recompilations(self, reports, case):
        if case["recompiles"] is None:
            pytest.skip("the truth gives no further calls")
        scenario = report_of(reports, case).scenarios[0]
        assert scenario.calls == case["calls"]
        assert scenario.default.recompilations == case["recompiles"]

    def test_verdict(self, reports, case):
        report = report_of(reports, case)
        kinds = {finding.kind for finding in report.findings}
        assert (report.status == "ok") == (case["verdict"] == "clean")
        assert report.failure is None
        if case["verdict"] == "hard-error":
            assert kinds == {"error"}
        elif case["verdict"] == "recompile":
            assert kinds <= {"recompilation", "recompile_limit"}
        elif case["verdict"] == "clean":
            assert not report.findings
        elif case["verdict"] == "break+skip":
            assert any(finding.skips_frame for finding in findings(report, "graph_break"))
