import pytest

from breakfinder.report.model import DefaultVerdict, ExplainVerdict, FullgraphVerdict, Scenario
from breakfinder.report.render import wording
from report import samples


@pytest.mark.parametrize(
    ("make", "headline", "tone"),
    [
        (samples.clean, "Compiles to one graph", "good"),
        (
            samples.with_findings,
            "Breaks into 4 graphs: 2 places to fix, 1 place that recompiles, 89 % of ops captured",
            "bad",
        ),
        (
            samples.with_scenarios,
            "Breaks in 2 of 3 scenarios: 4 places to fix, 1 place that recompiles, 93 % of ops captured",
            "bad",
        ),
        (samples.cleared_by_fullgraph, "Breaks into 4 graphs: 1 place to fix, 89 % of ops captured", "bad"),
        (samples.recompiling, "Compiles to one graph, but recompiles: 1 place to fix", "warn"),
        (samples.failed, "Could not be run: stopped at “build”", "bad"),
    ],
)
def test_the_headline_answers_whether_it_compiles_to_one_graph(make, headline, tone):
    report = make()
    assert wording.headline(report) == headline
    assert wording.tone(report) == tone


def test_where_every_scenario_breaks_all_are_named():
    report = samples.with_scenarios()
    report.scenarios.pop(1)
    assert wording.headline(report).startswith("Breaks in both scenarios: 4 places to fix")


def test_what_failed_after_findings_says_so():
    report = samples.failed().model_copy(update={"findings": samples.findings()})
    assert wording.headline(report) == "Could not be run: stopped at “build”, after 5 findings"


def test_a_recompilation_that_is_only_information_is_nothing_to_fix():
    finding = samples.findings()[3].model_copy(update={"severity": "info"})
    report = samples.report(findings=[finding])
    assert wording.headline(report) == "Compiles to one graph"
    assert wording.tone(report) == "good"


@pytest.mark.parametrize(
    ("figures", "verdict"),
    [
        ({"graphs": 1}, "Compiles to one graph"),
        ({"graphs": 2, "recompilations": 1}, "Compiles without a break, 2 graphs"),
        ({"graphs": 3, "sites": 1}, "Breaks into 3 graphs"),
        ({"graphs": 1, "sites": 1}, "Breaks, with one graph captured"),
        ({"graphs": 0, "skipped_frames": 1}, "Is not compiled at all"),
    ],
)
def test_the_default_verdict(figures, verdict):
    assert wording.default_verdict(Scenario(name="forward", default=DefaultVerdict(**figures))) == verdict


@pytest.mark.parametrize(
    ("sites", "ok", "words"),
    [
        (2, True, "Compile with fullgraph=True: it clears every break"),
        (0, True, "Both agree"),
        (2, False, "fullgraph=True turns the first break into an error"),
        (0, False, "The trial compile stops where the default goes on"),
    ],
)
def test_the_two_verdicts_are_explained(sites, ok, words):
    scenario = Scenario(
        name="forward", default=DefaultVerdict(graphs=2, sites=sites), fullgraph=FullgraphVerdict(ok=ok)
    )
    assert wording.why_verdicts_differ(samples.report(), scenario).startswith(words)


def test_nothing_is_said_of_a_trial_that_was_not_run():
    assert wording.why_verdicts_differ(samples.report(), Scenario(name="forward")) == ""


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"graph_count": 3, "graph_break_count": 1}, "3 graphs, 1 graph break"),
        ({"graph_count": 0, "graph_break_count": -1}, "0 graphs, -1 graph breaks"),
        ({"error": "boom"}, "Raised an error"),
        ({}, "Was not run"),
    ],
)
def test_what_explain_said(said, words):
    assert wording.explain_verdict(Scenario(name="forward", explain=ExplainVerdict(**said))) == words


def test_explain_is_not_blamed_for_recompilations():
    finding = samples.findings()[3].model_copy(update={"missed_by_explain": True})
    report = samples.report(findings=[finding])
    assert wording.missed_by_explain(report, report.scenarios[0]) == []
    assert "explain missed it" not in wording.marks(finding)


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 0, ""),
        (0, 5, "0 %"),
        (1, 1000, "under 1 %"),
        (1, 3, "33 %"),
        (91, 100, "91 %"),
        (999_999, 1_000_000, "99.9 %"),
        (7, 7, "100 %"),
    ],
)
def test_a_share_is_whole_only_if_it_is(part, whole, text):
    assert wording.percent(part, whole) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (405_853_388_800, "406 B"),
        (8_030_261_248, "8.03 B"),
        (124_439_808, "124 M"),
        (999, "999"),
        (1000, "1 k"),
    ],
)
def test_magnitude(number, text):
    assert wording.magnitude(number) == text


def test_a_break_that_costs_a_frame_says_so_in_its_why():
    finding = samples.findings()[1]
    assert finding.skips_frame and finding.in_loop
    first = wording.why(finding).split("\n\n")[0]
    assert first.endswith(
        "Here a whole frame is left to eager for it, as Dynamo cannot resume inside a loop."
    )
    assert wording.why(samples.findings()[0]) == samples.findings()[0].why
