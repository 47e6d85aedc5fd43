import itertools

import pytest

from breakfinder.report.model import Frame, Scenario, Segment
from breakfinder.report.render.timeline import NARROWEST, cause, frame_name, runs
from report import samples


def scenario(*segments, frames=()):
    return Scenario(
        name="forward",
        segments=[
            Segment(kind=kind, ops=ops, compile_id=compile_id, call=call)
            for kind, ops, compile_id, call in segments
        ],
        frames=list(frames),
    )


def test_blocks_are_in_order_and_to_scale():
    (run,) = runs(scenario(("graph", 30, "0/0", 0), ("eager", 10, "", 0), ("graph", 60, "1/0", 0)), [])
    assert [(block.kind, block.x, block.width, block.ops) for block in run.blocks] == [
        ("graph", 0, 30, 30),
        ("eager", 30, 10, 10),
        ("graph", 40, 60, 60),
    ]
    assert run.text == "Call 1: 90 ops in 2 graph runs, 10 ops in eager"


def test_calls_share_one_scale():
    long, short = runs(scenario(("graph", 80, "0/0", 0), ("graph", 20, "0/1", 1)), [])
    assert (long.blocks[0].width, short.blocks[0].width) == (100, 25)


def test_a_break_is_marked_where_the_graph_before_it_ends():
    report = samples.with_findings()
    run = runs(report.scenarios[0], report.findings)[0]
    assert [(mark.x, mark.finding.id) for mark in run.breaks] == [
        (pytest.approx(100 * 26 / 401, abs=0.01), "F1"),
        (pytest.approx(100 * 166 / 401, abs=0.01), "F1"),
        (pytest.approx(100 * 287 / 401, abs=0.01), "F1"),
    ]


def test_a_break_before_the_first_op_is_marked_at_the_beginning():
    report = samples.with_findings()
    resumed = report.scenarios[0].frames[1]
    (run,) = runs(scenario(("graph", 5, resumed.compile_id, 0), frames=[resumed]), report.findings)
    assert [(mark.x, mark.finding.id) for mark in run.breaks] == [(0, "F1")]


@pytest.mark.parametrize("number", [300, 1000, 5000])
def test_a_run_of_many_graphs_stays_legible_and_true(number):
    kinds = [
        ("eager" if index % 3 == 2 else "graph", 1 + index % 7, f"{index}/0", 0) for index in range(number)
    ]
    (run,) = runs(scenario(*kinds), [])
    assert len(run.blocks) <= 100 / NARROWEST + 1
    assert sum(block.ops for block in run.blocks) == sum(ops for _, ops, _, _ in kinds)
    assert sum(block.segments for block in run.blocks) == number
    assert sum(block.width for block in run.blocks) == pytest.approx(100, abs=0.1)
    for left, right in itertools.pairwise(run.blocks):
        assert left.x + left.width == pytest.approx(right.x, abs=0.01)


def test_labels_keep_apart():
    report = samples.thousand(500)
    run = runs(report.scenarios[0], report.findings)[0]
    labelled = [mark.x for mark in run.breaks if mark.label]
    assert labelled
    assert all(right - left > 5 for left, right in itertools.pairwise(labelled))


def test_a_resume_function_is_named_by_what_it_resumes():
    frame = Frame(
        compile_id="1/0",
        function="torch_dynamo_resume_in_forward_at_9",
        file="m.py",
        line=7,
        resume_of="forward",
        resume_line=9,
        outcome="compiled",
    )
    assert frame_name(frame) == "forward, resumed at line 9"


def test_a_frame_that_resumes_in_a_caller_is_traced_to_the_break_in_its_callee():
    finding = samples.findings()[1]
    caller = finding.stack[2]
    frame = Frame(
        compile_id="1/0",
        function="torch_dynamo_resume_in_forward_at_26",
        file=caller.file,
        line=18,
        resume_of="forward",
        resume_line=caller.line,
        outcome="compiled",
    )
    assert cause(frame, [finding]) is finding
    assert cause(frame.model_copy(update={"file": "elsewhere.py"}), [finding]) is None


def test_no_ops_no_picture():
    assert runs(scenario(), []) == []
    assert runs(scenario(("graph", 0, "0/0", 0)), []) == []
