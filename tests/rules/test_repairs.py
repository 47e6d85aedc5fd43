"""The rules' fixes, applied to programs that break: a new trace is clean, and the results are those of before."""

import json
import textwrap
from pathlib import Path

import pytest
import repairing

from breakfinder.rules import all_rules, by_code

pytestmark = pytest.mark.slow
CASES = Path(__file__).parents[1] / "fixtures" / "cases"
TRUTH = {case["id"]: case for case in json.loads((CASES / "truth.json").read_text())}

OF_CASES = {
    "01": ["BF101 keep_scalar_tensor"],
    "03": ["BF103 where"],
    "05": ["BF104 mask_where"],
    "07": ["BF201 guard_message"],
    "09": ["BF203 guard_message"],
    "16": ["BF402 generator_to_list"],
    "17": ["BF403 try_to_test"],
    "18": ["BF606 cache_to_value", "BF606 guard_count"],
    "19": ["BF101 keep_scalar_tensor", "BF504 guard_call"],
    "21": ["BF302 constant_to_module"],
    "34": ["BF601 counter_to_buffer"],
    "42": ["BF308 sparse_to_index_add"],
    "49": ["BF304 enter_disabled"],
    "50": ["BF305 remove_call"],
    "51": ["BF304 enter_disabled"],
    "53": ["BF204 random_to_torch"],
    "59": ["BF206 constant_to_init"],
    "65": ["BF201 guard_message"],
}
OTHER_RESULTS = ("16", "53", "BF204-0", "BF204-1", "BF204-2", "BF402-0", "BF503-0")
"""A list in place of a generator, another random stream, an input that no longer wants a gradient."""
OF_EXAMPLES = {
    "BF101-0": ["BF101 keep_scalar_tensor"],
    "BF101-1": ["BF101 keep_scalar_tensor"],
    "BF102-0": ["BF102 list_to_tensor"],
    "BF103-0": ["BF103 where"],
    "BF103-2": ["BF103 assert_async"],
    "BF103-3": ["BF103 logical", "BF103 where"],
    "BF104-0": ["BF104 mask_where"],
    "BF105-0": ["BF105 where"],
    "BF106-0": ["BF106 guard_call"],
    "BF201-0": ["BF201 guard_message"],
    "BF202-0": ["BF202 guard_message"],
    "BF202-1": ["BF202 guard_message"],
    "BF203-0": ["BF203 guard_message"],
    "BF204-0": ["BF204 random_to_torch", "BF103 where"],
    "BF204-1": ["BF204 random_to_torch"],
    "BF204-2": ["BF204 random_to_torch"],
    "BF205-0": ["BF205 guard_call"],
    "BF205-1": ["BF205 guard_clock"],
    "BF206-0": ["BF206 constant_to_init"],
    "BF301-1": ["BF301 numpy_to_torch", "BF101 keep_scalar_tensor"],
    "BF302-0": ["BF302 constant_to_module"],
    "BF302-1": ["BF302 constant_to_module"],
    "BF303-0": ["BF303 constant_to_module"],
    "BF304-0": ["BF304 enter_disabled"],
    "BF304-1": ["BF304 enter_disabled"],
    "BF305-0": ["BF305 remove_call"],
    "BF306-0": ["BF306 fake_like_input"],
    "BF308-0": ["BF308 sparse_to_index_add"],
    "BF309-0": ["BF309 unscript"],
    "BF390-0": ["BF390 constant_to_module"],
    "BF401-0": ["BF401 leave_context"],
    "BF401-1": ["BF401 leave_context"],
    "BF402-0": ["BF402 generator_to_list"],
    "BF403-0": ["BF403 try_to_test"],
    "BF403-1": ["BF403 guard_call"],
    "BF404-0": ["BF404 copy_to_clone"],
    "BF404-1": ["BF404 copy_to_clone"],
    "BF405-0": ["BF405 class_to_module"],
    "BF406-0": ["BF406 guard_call"],
    "BF503-0": ["BF503 remove_call"],
    "BF503-1": ["BF503 constant_to_module"],
    "BF504-0": ["BF504 guard_call"],
    "BF504-1": ["BF504 remove_override"],
    "BF507-0": ["BF507 guard_call"],
    "BF508-0": ["BF508 data_to_detach"],
    "BF601-0": ["BF601 counter_to_buffer"],
    "BF606-1": ["BF606 cache_to_value"],
}


def function(body, before="", arguments="x", inputs="(torch.randn(4, 8),)"):
    lines = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    return (
        f"{before}import torch\n\n\ndef fn({arguments}):\n{lines}\n\n\n"
        f"def example_inputs():\n    return {inputs}\n\n\ndef more_inputs():\n    return [{inputs}, {inputs}]\n"
    )


def module(forward, init="self.lin = torch.nn.Linear(8, 8)", before=""):
    init, lines = (textwrap.indent(textwrap.dedent(part).strip("\n"), " " * 8) for part in (init, forward))
    return (
        f"{before}import torch\n\n\nclass Model(torch.nn.Module):\n    def __init__(self):\n"
        f"        super().__init__()\n{init}\n\n    def forward(self, x):\n{lines}\n\n\n"
        "def example_inputs():\n    return (torch.randn(4, 8),)\n\n\n"
        "def more_inputs():\n    return [example_inputs(), example_inputs()]\n"
    )


ALONE = {
    "BF101 assert_async": function(
        "if x.abs().max().item() > 99:\n    raise ValueError('large')\nreturn x + 1"
    ),
    "BF101 guard_message": function("print(f'{x.mean().item():.3f}')\nreturn x + 1"),
    "BF101 where": function("h = x - 1\nif x.mean().item() > 0:\n    h = x + 1\nreturn h * 2"),
    "BF102 guard_message": function("print(x.sum(0).tolist())\nreturn x + 1"),
    "BF103 carry_done": function(
        "for _ in range(3):\n    x = x * 0.5\n    if x.norm() < 2:\n        break\n    x = x + 0.1\nreturn x"
    ),
    "BF103 cond": function(
        "h = x * 1\nif x.mean() > 0:\n    for _ in range(2):\n        h = h.tanh()\nelse:\n    h = h.sin()\nreturn h + 1"
    ),
    "BF104 bincount_to_scatter": function(
        "return torch.bincount(x, minlength=4) * 2", inputs="(torch.randint(0, 4, (9,)),)"
    ),
    "BF104 mask_reduce": function("return x[x > 0].mean() + x * 2"),
    "BF105 assert_async": function("if torch.equal(x, x + 1):\n    raise ValueError('equal')\nreturn x * 2"),
    "BF105 guard_message": function("print('same', torch.equal(x, x))\nreturn x * 2"),
    "BF106 guard_message": function("print(repr(x))\nreturn x * 2"),
    "BF201 guard_call": function("print('mean', x.mean(), sep=sep())\nreturn x * 2", "sep = str\n"),
    "BF202 guard_call": module(
        "self.logger.info('called')\nreturn self.lin(x)",
        "self.lin = torch.nn.Linear(8, 8)\nself.logger = logging.getLogger('a')",
        "import logging\n",
    ),
    "BF203 guard_call": function(
        "warnings.warn(text(x))\nreturn x * 2",
        "import warnings\ntext = type\n".replace("type", "lambda x: 'odd'"),
    ),
    "BF206 constant_to_module": function(
        "if os.path.exists('/no/such'):\n    x = x + 1\nreturn x * 2", "import os\n"
    ),
    "BF206 guard_call": function("os.makedirs('/tmp', exist_ok=True)\nreturn x * 2", "import os\n"),
    "BF302 constant_to_init": module("return self.lin(x) * (zlib.crc32(b'a') % 7)", before="import zlib\n"),
    "BF303 constant_to_init": module(
        "return self.lin(x) * importlib.import_module('math').pi", before="import importlib\n"
    ),
    "BF303 progress_away": function(
        "for layer in tqdm(range(3)):\n    x = x * layer\nreturn x", "from tqdm import tqdm\n"
    ),
    "BF304 disabled_to_nonstrict": function(
        "return norm(x.tanh()) * 2",
        "import torch\n\n\n@torch.compiler.disable\ndef norm(x):\n    return x / x.norm()\n\n\n",
    ),
    "BF310 tensor_of_tensor": function("return x * torch.as_tensor([x.mean(), x.std()])[0].detach()"),
    "BF390 constant_to_init": module("return self.lin(x) * torch.get_num_threads()"),
    "BF506 constant_to_init": module("return self.lin(x) * torch.nn.Parameter(torch.ones(8))"),
    "BF504 remove_call": by_code("BF504").examples[0].broken_module(),
    "BF601 guard_count": module(
        "self.calls += 1\nreturn self.lin(x)", "self.lin = torch.nn.Linear(8, 8)\nself.calls = 0"
    ),
    "BF604 guard_count": function("global calls\ncalls += 1\nreturn x * 2", "calls = 0\n"),
}
MASKED = {
    "loop": (
        function(
            """
            for scale in (1.0, 2.0):
                print("scale", scale)
                top = x.abs().max().item()
                x = x * scale / (top + 1.0)
                if x.mean() > 0:
                    x = x + 1.0
            return x
            """
        ),
        ["BF201 guard_message", "BF101 keep_scalar_tensor", "BF103 where"],
    ),
    "try": (
        function(
            """
            try:
                print("first")
                top = x.abs().max().item()
                h = x / (top + 1.0)
                h = h * 2 if h.mean() > 0 else h - 1
            finally:
                done = True
            return h
            """
        ),
        ["BF201 guard_message", "BF101 keep_scalar_tensor", "BF103 where"],
    ),
    "with": (
        function(
            """
            with torch.no_grad():
                warnings.warn("first")
                top = x.abs().max().item()
                h = x / (top + 1.0)
                h[h > 0] = h[h > 0] * 2
            return h
            """,
            "import warnings\n",
        ),
        ["BF203 guard_message", "BF101 keep_scalar_tensor", "BF104 mask_where"],
    ),
}


def program(path, text, **how):
    return repairing.Program(path / "program_to_fix.py", text, **how)


def check(before, expected, kinds=("graph_break", "skipped_frame", "error"), equal=True, sizes=False):
    old = before.outputs(compiled=False)
    after, steps, left = repairing.repaired(before, kinds)
    assert [f"{rule} {name}" for rule, name in steps] == expected
    # A second size is compiled once more in any program.
    assert [rule.code for rule, _ in left if not (sizes and rule.code == "BF602")] == []
    new = after.outputs(compiled=False)
    assert not equal or repairing.same(old, new)
    assert not equal or repairing.same(after.outputs(compiled=True), new)


@pytest.mark.parametrize("case", OF_CASES)
def test_a_case_is_fixed(case, tmp_path):
    truth = TRUTH[case]
    text = (CASES / truth["file"]).read_text()
    kinds = ("graph_break", "skipped_frame", "error")
    if truth["verdict"] == "recompile":
        kinds += ("recompilation",)
    before = program(tmp_path, text, grad="\nNO_GRAD = True" not in text)
    if truth["sites"]:
        found, _ = before.findings()
        assert {site["line"] for site in truth["sites"]} == {
            location.line for kind, _, location in found if kind == "graph_break"
        }
    check(before, OF_CASES[case], kinds, equal=case not in OTHER_RESULTS, sizes=case == "18")


@pytest.mark.parametrize("example", OF_EXAMPLES)
def test_an_example_of_a_rule_is_fixed(example, tmp_path):
    code, _, number = example.partition("-")
    given = by_code(code).examples[int(number)]
    kinds = ("graph_break", "skipped_frame", "error")
    if given.kind == "recompilation":
        kinds += ("recompilation",)
    before = program(
        tmp_path, given.broken_module(), training=given.training, grad=given.grad, config=dict(given.config)
    )
    check(before, OF_EXAMPLES[example], kinds, equal=example not in OTHER_RESULTS)


@pytest.mark.parametrize("fix", ALONE)
def test_a_fix_takes_its_rules_finding_away(fix, tmp_path):
    code, _, name = fix.partition(" ")
    before = program(tmp_path, ALONE[fix])
    old = before.outputs(compiled=False)
    found, _ = before.findings()
    rule, location = next((rule, location) for _, rule, location in found if rule.code == code)
    assert name in rule.fixes
    after = before.with_text(repairing.fixed(before.text, name, location))
    left, graphs = after.findings()
    assert graphs
    assert all(other.fingerprint != location.fingerprint for _, _, other in left)
    new = after.outputs(compiled=False)
    assert repairing.same(old, new)
    assert repairing.same(after.outputs(compiled=True), new)


@pytest.mark.parametrize("around", MASKED)
def test_breaks_that_hide_one_another_are_fixed_one_by_one(around, tmp_path):
    text, expected = MASKED[around]
    check(program(tmp_path, text), expected)


def test_every_fix_of_every_rule_is_applied_here():
    applied = {step for steps in (*OF_CASES.values(), *OF_EXAMPLES.values()) for step in steps}
    assert {f"{rule.code} {name}" for rule in all_rules() for name in rule.fixes} == applied | ALONE.keys()
