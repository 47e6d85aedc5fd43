"""What is proved is right, and what only looks right is not called proved."""

import json
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, find, settings
from hypothesis import strategies as st

CASES = Path(__file__).parents[1] / "fixtures" / "cases"
TRUTH = json.loads((CASES / "truth.json").read_text())

FN = """
import random

import torch


def fn({arguments}):
{body}


def example_inputs():
    return {inputs}
"""


def program(body, arguments="x", inputs="(torch.linspace(-1, 2, 12).reshape(3, 4),)"):
    indented = "\n".join("    " + line for line in body.strip("\n").split("\n"))
    return FN.format(arguments=arguments, body=indented, inputs=inputs)


MODULE = """
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0
        self.other = 0
        self.seen = []
        self.register_buffer("total", torch.zeros(()))

    def forward(self, x):
{body}


def example_inputs():
    return (torch.linspace(-1, 2, 12).reshape(3, 4),)
"""


def module(body):
    indented = "\n".join("        " + line for line in body.strip("\n").split("\n"))
    return MODULE.format(body=indented)


TRAPS = {
    "one branch only": (
        program("if x.sum() > 0:\n    return x * 2\nreturn x * 3"),
        program("return x * 2"),
    ),
    "a gradient path that was cut": (
        program("s = x.abs().max().item()\nreturn x * s"),
        program("s = x.abs().max()\nreturn x * s"),
    ),
    "an alias of the input": (
        program("if x.sum() > 0:\n    return x\nreturn x.clone()"),
        program("return torch.where(x.sum() > 0, x, x.clone())"),
    ),
    "a change in place": (
        program("if x.sum() > 0:\n    x = x + 1\nreturn x"),
        program("x += (x.sum() > 0).to(x.dtype)\nreturn x.clone()"),
    ),
    "truncation to a whole number": (
        program("return x * int(x.abs().max().item() * 1.3)"),
        program("return x * (x.abs().max() * 1.3).detach()"),
    ),
    "whole numbers and floats mixed": (
        program("if x.sum() > 0:\n    y = x.long()\nelse:\n    y = x\nreturn y"),
        program("y = torch.where(x.sum() > 0, x.long(), x)\nreturn y"),
    ),
    "nothing in it": (
        program("if x.numel() and x.max() > 0:\n    x = x * 2\nreturn x + 1"),
        program("x = torch.where(x.max() > 0, x * 2, x)\nreturn x + 1"),
    ),
    "NaN": (
        program("if x.isnan().any():\n    x = torch.nan_to_num(x)\nreturn x * 2"),
        program("return x * 2"),
    ),
    "infinity": (
        program("if x.isinf().any():\n    x = x.clamp(-10.0, 10.0)\nreturn x * 2"),
        program("return x * 2"),
    ),
    "both branches with side effects": (
        module(
            "if x.sum() > 0:\n    self.calls += 1\n    y = x * 2\nelse:\n    self.other += 1\n    y = x * 3\nreturn y"
        ),
        module("self.calls += 1\nself.other += 1\nreturn torch.where(x.sum() > 0, x * 2, x * 3)"),
    ),
    "a stateful call kept from compiled code": (
        module("print('one more')\nself.calls += 1\nreturn x * self.calls"),
        module(
            "if not torch.compiler.is_compiling():\n    print('one more')\n    self.calls += 1\nreturn x * self.calls"
        ),
    ),
    "a buffer that is no longer kept": (
        module("self.total += x.sum().item()\nreturn x + 1"),
        module("return x + 1"),
    ),
    "the mean of nothing": (
        program("return x[x > 0].mean() + x"),
        program("m = (x > 0).to(x.dtype)\nreturn (x * m).sum() / m.sum().clamp(min=1.0) + x"),
    ),
    "another random stream": (
        program("return x * random.random() + x.max().item() * 0"),
        program("return x * torch.rand(()) + x.max().detach() * 0"),
    ),
    "a random number more": (
        program("if x.sum() > 0:\n    y = x + torch.rand_like(x)\nelse:\n    y = x\nreturn y"),
        program("y = torch.where(x.sum() > 0, x + torch.rand_like(x), x)\nreturn y"),
    ),
    "NaN in the gradient of the other branch": (
        program("if x.min() > 0:\n    y = x.sqrt()\nelse:\n    y = x * 2\nreturn y"),
        program("return torch.where(x.min() > 0, x.sqrt(), x * 2)"),
    ),
    "other strides": (
        program("if x.sum() > 0:\n    return (x * 2).t()\nreturn (x * 2).t()"),
        program("return (x * 2).t().contiguous()"),
    ),
    "another structure": (
        program("if x.sum() > 0:\n    return (x * 2, x)\nreturn (x * 2, x)"),
        program("return [x * 2, x.clone()]"),
    ),
    "an exception less": (
        program("if x.max() > 5:\n    raise ValueError('too large')\nreturn x * 2"),
        program("return x * 2"),
    ),
}


def name_of(source):
    return "Model" if "class Model" in source else "fn"


@pytest.mark.parametrize("trap", TRAPS)
def test_a_rewrite_that_changes_results_is_not_proved(trap, model):
    old, new = TRAPS[trap]
    result = model(old, name_of(old)).run(new)
    breaks = [finding for finding in result.findings if finding.kind != "recompilation"]
    assert breaks == [], "the rewrite does take the break away"
    assert not result.holds or result.conditions


tensors = st.builds(
    lambda rows, values: torch.tensor(values[: rows * 4], dtype=torch.float32).reshape(rows, 4),
    st.integers(0, 3),
    st.lists(
        st.one_of(st.floats(-20, 20, width=32), st.sampled_from([float("nan"), float("inf"), 0.0])),
        min_size=12,
        max_size=12,
    ),
)
VISIBLE = [
    "one branch only",
    "a gradient path that was cut",
    "an alias of the input",
    "a change in place",
    "truncation to a whole number",
    "whole numbers and floats mixed",
    "nothing in it",
    "NaN",
    "infinity",
    "the mean of nothing",
    "a random number more",
    "NaN in the gradient of the other branch",
    "other strides",
    "another structure",
    "an exception less",
]


@pytest.mark.parametrize("trap", VISIBLE)
def test_hypothesis_finds_an_input_that_shows_the_trap(trap):
    """So that a trap is a trap: each pair differs for some input."""
    from breakfinder.fixes.outcome import differences, run, wanting_gradients
    from breakfinder.targets.subject import Call

    functions = []
    for source in TRAPS[trap]:
        namespace = {}
        exec(source, namespace)
        functions.append(namespace["fn"])

    def differ(x):
        for call in (Call((x,)), wanting_gradients(Call((x,)))):
            one, other = (
                run(
                    function,
                    Call(tuple(t.detach().clone().requires_grad_(t.requires_grad) for t in call.args)),
                    True,
                    None,
                )
                for function in functions
            )
            if differences(one, other):
                return True
        return False

    find(tensors, differ, settings=settings(max_examples=300, suppress_health_check=list(HealthCheck)))


@pytest.mark.parametrize(
    "name",
    [
        "case_01_item_scale", "case_03_if_tensor", "case_05_bool_mask", "case_07_print", "case_09_warnings",
        "case_13_deepcopy", "case_19_autograd_fn", "case_21_c_builtin", "case_51_disabled_helper",
        "case_65_nested_break",
    ],
)  # fmt: skip
def test_a_repair_that_is_measured_to_be_right_is_proved(name, model):
    result = model((CASES / f"{name}.py").read_text()).run((CASES / f"{name}_fixed.py").read_text())
    assert [check for check in result.checks if check.passed is not True] == []
    assert result.conditions == []
    assert (result.counts.sites, result.counts.skipped_frames, result.counts.graphs) == (0, 0, 1)


@pytest.mark.parametrize("trap", sorted(path.name for path in (CASES / "traps").glob("*_fixed.py")))
def test_the_measured_traps_are_not_proved(trap, model):
    old = (CASES / "traps" / trap.replace("_fixed", "")).read_text()
    result = model(old).run((CASES / "traps" / trap).read_text())
    clean = not result.findings and result.counts.sites == 0
    assert not (clean and result.holds and not result.conditions)


def test_lines_that_no_input_runs_are_a_condition(model):
    old = program("if x.shape[1] == 99:\n    print(x)\nif x.sum() > 0:\n    x = x + 1\nreturn x * 2")
    new = program("if x.shape[1] == 99:\n    pass\nx = torch.where(x.sum() > 0, x + 1, x)\nreturn x * 2")
    result = model(old, "fn").run(new)
    assert result.holds
    assert result.conditions == ["No input that was tried ran line 8 of the old code."]


def test_a_fix_that_leaves_the_problem_is_seen_at_once(model):
    old = program("return x * x.max().item()")
    new = program("return x * x.max().item()  # still here")
    tried = model(old, "fn")

    def go():
        trial = tried.trial()
        from breakfinder.fixes.trial import traced

        _, findings = traced(trial.subject, tried.root, {})
        edit = tried.edit(new)
        return trial.run({edit.file: edit}, findings[0].fingerprint)

    from breakfinder.fixes.forked import in_fork

    result = in_fork(go, 60)
    assert [(check.name, check.passed) for check in result.checks] == [
        ("the problem is gone from a new trace", False)
    ]


def test_the_model_is_built_anew_when_its_constructor_changes(model):
    old = MODULE.format(body="        self.calls += 1\n        return x + self.calls")
    new = old.replace("self.calls = 0", 'self.register_buffer("calls", torch.zeros(()), persistent=False)')
    result = model(old).run(new)
    assert result.counts.recompilations <= 1
    assert [check for check in result.checks if check.passed is False] == []
