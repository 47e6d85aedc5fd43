"""What the rules find by reading alone is what Dynamo finds by tracing."""

import importlib
import re

import pytest
import torch

from breakfinder import rules
from breakfinder.lint.analyse import analyse, parsed
from breakfinder.lint.reach import reachable, summarise
from breakfinder.report.model import Subject as Facts
from breakfinder.rules.rule import MARK
from breakfinder.source.text import SourceText
from breakfinder.targets.subject import Call, Scenario, Subject
from breakfinder.tracing import trace
from conftest import CASES, FIXTURES, truth

NO_PATTERN = {
    "BF310": "whether tracing raises depends on shapes, dtypes and what a custom operator says of them",
    "BF590": "one rule for many rare types, of which no single source form is typical",
    "BF602": "shapes are the caller's",
    "BF603": "arguments are the caller's",
    "BF605": "dtypes, devices and gradients are the caller's",
    "BF607": "follows from other recompilations",
    "BF608": "which function or class is passed is the caller's",
    "BF609": "which settings were in force before is the caller's",
    "BF700": "the backend fails, not the source",
    "BF900": "what is not known has no form",
}
"""The rules that the source alone never shows, and why."""

UNTOLD = {
    ("BF403", 0): "that an operator fails depends on shapes",
}
"""Examples of rules with a pattern that do not show it."""

EXAMPLES = [
    pytest.param(rule, example, id=f"{rule.code}-{n}")
    for rule in rules.all_rules()
    if rule.pattern_nodes
    for n, example in enumerate(rule.examples)
    if (rule.code, n) not in UNTOLD
]


def found(text, *levels):
    """(code, line) of the findings in all functions but those that make objects and inputs."""
    findings = analyse("model.py", SourceText(text), None, rules.all_rules())
    return [
        (finding.rule, finding.line)
        for finding in findings
        if finding.confidence in levels and not re.search("(__init__|_inputs)$", finding.qualname)
    ]


def test_a_rule_without_a_pattern_has_a_reason():
    assert {rule.code for rule in rules.all_rules() if not rule.pattern_nodes} == set(NO_PATTERN)


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_the_marked_line_is_found(rule, example):
    assert MARK in example.broken
    lines = [line for code, line in found(example.broken, "high", "medium") if code == rule.code]
    assert lines == [example.marked_line]


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_the_fixed_form_has_no_sure_finding(rule, example):
    if not example.fixed or example.fixed_config:
        pytest.skip("the source of the fixed form is that of the broken one")
    left = [code for code, _ in found(example.fixed, "high")]
    if example.kind != "recompilation":
        # A fix of a break need not be compiled once only.
        left = [code for code in left if not code.startswith("BF6")]
    assert left == []


PATTERNS = FIXTURES / "patterns"
each_file = pytest.mark.parametrize("name", ["values", "control", "shapes", "calls", "state"])


def marks(name):
    """The (code, line) that a file of patterns says breaks."""
    lines = (PATTERNS / f"{name}.py").read_text().split("\n")
    return sorted((mark[1], n) for n, line in enumerate(lines, 1) if (mark := re.search(r"# (BF\d+)$", line)))


@each_file
def test_lint_finds_what_is_marked_and_is_sure_of_nothing_else(name):
    text = (PATTERNS / f"{name}.py").read_text()
    assert set(marks(name)) <= set(found(text, "high", "medium"))
    assert set(found(text, "high")) <= set(marks(name))


@pytest.mark.skipif(not torch.__version__.startswith("2.13."), reason="the files are for torch 2.13")
@each_file
def test_dynamo_breaks_where_it_is_marked_and_nowhere_else(name, monkeypatch):
    monkeypatch.syspath_prepend(PATTERNS)
    module = importlib.import_module(name)
    lines = {line for value in [*vars(module).values()] for line in traced(value, module)}
    assert sorted(lines) == sorted({line for _, line in marks(name)})


def traced(value, module):
    """The lines at which a function or module of a file breaks, is skipped or compiled again."""
    if getattr(value, "__module__", "") != module.__name__:
        return set()
    torch._dynamo.reset()
    torch.manual_seed(0)
    subject = value() if isinstance(value, type) else value

    def calls():
        for _ in range(2):
            yield Call((torch.randn(4, 8),))

    scenario = Scenario("forward", calls, training=None)
    log = trace(Subject(subject, Facts(name="pattern"), [scenario])).scenarios[0]
    assert log.errors == []
    mine = str(PATTERNS)
    stacks = [item.stack for item in (*log.breaks, *log.recompilations) if item.stack]
    places = [[frame for frame in stack if frame.file.startswith(mine)] for stack in stacks]
    silent = {frame.first_line for frame in log.frames if frame.silent}
    return {frames[-1].line for frames in places if frames} | silent


UNTOLD_CASES = {
    "case_17_try_except.py": "that an operator fails depends on shapes",
    "case_35_float_arg.py": "the arguments are the caller's",
    "case_39_nms_loop.py": "that an index has no dimensions depends on shapes",
    "case_42_sparse.py": "the second line only goes on with what the first one made",
}
RECOMPILING_CASES = {
    "case_18_cache_dict.py": "BF606",
    "case_32_global_state.py": "BF604",
    "case_34_int_counter.py": "BF601",
}


@pytest.mark.parametrize("case", truth(), ids=lambda case: case["file"])
def test_a_case_is_found_at_the_line_that_was_measured(case):
    sites = {site["line"] for site in case["sites"]}
    sure_or_likely = found((CASES / case["file"]).read_text(), "high", "medium")
    if case["file"] in RECOMPILING_CASES:
        assert RECOMPILING_CASES[case["file"]] in {code for code, _ in sure_or_likely}
    elif case["verdict"] == "silent-skip":
        assert "BF402" in {code for code, _ in sure_or_likely}
    elif case["file"] not in UNTOLD_CASES:
        assert sites <= {line for _, line in sure_or_likely}


NOT_CLEAN = {
    "case_23_subclass_fixed.py": "the class that breaks is still there, and not used",
    "case_40_packed_seq_fixed.py": "a setting is part of the fix",
    "case_44_lstm_fixed.py": "a setting is the fix",
}
CLEAN = [case["file"] for case in truth() if case["verdict"] == "clean"]
FIXED = sorted(path.name for path in CASES.glob("*_fixed.py") if path.name not in NOT_CLEAN)


@pytest.mark.parametrize("file", [*CLEAN, *FIXED])
def test_what_is_clean_has_no_sure_finding(file):
    text = SourceText((CASES / file).read_text())
    reached = reachable([summarise(file, parsed(text))])[file] | {"fn"}
    findings = analyse(file, text, reached, rules.all_rules())
    assert [finding for finding in findings if finding.confidence == "high"] == []


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("all_reduce(x, async_op=True)", "BF390"),
        ("barrier()", "BF302"),
        ("broadcast(x, 0)", "BF302"),
        ("all_reduce(x)", ""),
        ("all_gather_into_tensor(x, x)", ""),
        ("get_rank()", ""),
    ],
)
def test_collectives(call, code):
    """As measured with torch 2.13 in a group of one process."""
    text = f"import torch.distributed as dist\n\n\ndef fn(x):\n    dist.{call}\n    return x * 2\n"
    assert found(text, "high") == ([(code, 5)] if code else [])
