"""Fixes by reading alone, with the real rules and rewrites: what comes out parses, and there is an end."""

import ast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from breakfinder.lint.edits import SAFE, UNSAFE, Task, fixed
from breakfinder.lint.results import Wanted
from breakfinder.lint.run import analyse_text
from breakfinder.rules import all_rules

CODES = frozenset(rule.code for rule in all_rules())


def find(text):
    return Task("model.py", None, Wanted(CODES, "low", CODES)).find(text)


def assert_at_an_end(text, kinds):
    after, count = fixed(text, find, kinds)
    ast.parse(after)
    assert (after != text) == (count > 0)
    assert len(find(after)) <= len(find(text)) - count
    assert fixed(after, find, kinds) == (after, 0)


EXAMPLES = [
    pytest.param(example.broken, id=f"{rule.code}-{number}")
    for rule in all_rules()
    for number, example in enumerate(rule.examples, 1)
]


@pytest.mark.parametrize("text", EXAMPLES)
def test_examples_of_the_rules(text):
    assert_at_an_end(text, UNSAFE)


STATEMENTS = st.sampled_from(
    [
        'print("x", x.mean())',
        'print(f"{x.max().item():.2f}")  # why',
        'logger.warning("%s", x.item())',
        "warnings.warn(\n    'a'\n    'b')",
        "y = x.sum().item()",
        "y = float(x.max()) * x",
        "if x.sum() > 0:\n    x = x + 1\nelse:\n    x = x - 1",
        "if x.sum() > 0:\n    print(1)",
        "while x.sum() > 0:\n    x = x - 1",
        "x[x > 0] = 1.0",
        "x = x[x > 0].sum()",
        "for i in x.tolist():\n    print(i)",
        "try:\n    print(x); y = x.item()\nexcept ValueError: pass",
        "with open('f') as f:\n    f.write(str(x))",
        "self.count += 1; print(self.count)",
        "assert x.sum() > 0, f'{x}'",
        "x = x * np.sqrt(2.0) + random.random()",
        "t = time.time()",
        "x = copy.deepcopy(x)",
        "def inner(z):\n    print(z)\n    return z.item()",
        "x = torch.tensor(x.sum())",
        "lam = lambda z: print(z)",
        "return x if x.sum() > 0 else -x",
    ]
)


HEAD = """\
import copy, logging, random, time, warnings
import numpy as np
import torch
logger = logging.getLogger()

class Model(torch.nn.Module):
    def forward(self, x):
"""


def module(bodies, newline, last):
    text = HEAD
    for body in bodies:
        text += "".join(f"        {line}\n" for line in body.split("\n"))
    return (text + "        return x\n" * last).replace("\n", newline)


@given(st.lists(STATEMENTS, min_size=1, max_size=4), st.sampled_from(["\n", "\r\n"]), st.booleans())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@pytest.mark.parametrize("kinds", [SAFE, UNSAFE])
def test_modules_of_many_problems(kinds, bodies, newline, last):
    assert_at_an_end(module(bodies, newline, last), kinds)


@given(st.lists(STATEMENTS | st.text(alphabet="ab(:\n'\"#=\t\\\x0cé", max_size=9), max_size=5), st.data())
@settings(max_examples=60, deadline=None)
def test_no_text_makes_lint_fail(bodies, data):
    text = module(bodies, "\n", last=True)
    cut = data.draw(st.integers(0, len(text)))
    for content in (text.encode(), text[:cut].encode(), text[cut:].encode("utf-16"), text[cut:].encode()):
        (result,) = analyse_text("model.py", content).results.values()
        assert all("please report" not in finding.title for finding in result.findings)
        assert sum(finding.rule == "BF000" for finding in result.findings) <= 1
