"""Fingerprints: what they survive, and what changes them."""

import pytest

from breakfinder import source
from breakfinder.trace import StackEntry

BEFORE = """import torch

class Model:
    def forward(self, x, mask):
        h = self.norm(x)
        if h.mean() > 0:
            h = h * 2
        s = h.max().item()
        h = self.log("it's", x[mask], scale=(s))
        return h
"""

AFTER = """'''A module that was edited.'''
import os
import torch


def other(x):
    return x.max().item(), h.max().item()


class Other:
    def forward(self, h):
        return h.max().item()


class Model:

    def helper(self):
        if h.mean() > 0:
            return self.log("it's", x[mask], scale=s)

    def forward(
        self, x, mask, more=None
    ):
        h = self.norm( x )   # normalise
        if (h.mean()
                > 0):  # positive
            pass
        s = (h
            .max()
            .item())
        h = self.log('it\\'s', x[ mask ], scale=s,)
        return h
"""


def fingerprint(file, text, code, after="class Model"):
    """The fingerprint of ``code`` where it first stands in ``text`` after another text."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    start = text.index(code, text.index(after))
    lines, last = text[:start].split("\n"), text[: start + len(code)].split("\n")
    entry = StackEntry(str(file), len(lines), "forward", len(lines[-1]), len(last), len(last[-1]))
    place = source.locate([entry], root=file.parent)
    assert (place.line, place.expression) == (len(lines), code)
    return place.fingerprint


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.norm(x)", "self.norm( x )"),
        ("h.mean() > 0", "h.mean()\n                > 0"),
        ("h.max().item()", "h\n            .max()\n            .item()"),
        ("""self.log("it's", x[mask], scale=(s))""", "self.log('it\\'s', x[ mask ], scale=s,)"),
        ("x[mask]", "x[ mask ]"),
        ("return h", "return h"),
    ],
)
def test_edits_elsewhere_and_layout_do_not_change_it(tmp_path, old, new):
    before = fingerprint(tmp_path / "a" / "model.py", BEFORE, old)
    after = fingerprint(tmp_path / "b" / "model.py", AFTER, new, after="    def forward(\n")
    assert before == after
    assert len(before) == 16
    int(before, 16)


@pytest.mark.parametrize(
    "edit",
    [
        ("h.max().item()", "h.min().item()"),
        ("h.max().item()", "h.max() .item(1)"),
        ("def forward", "def predict"),
        ("class Model", "class Net"),
        ("        if h.mean() > 0:", "        h.max().item()\n        if h.mean() > 0:"),
    ],
    ids=["expression", "argument", "function", "class", "an equal one before it"],
)
def test_what_changes_it(tmp_path, edit):
    changed = BEFORE.replace(*edit)
    assert changed != BEFORE
    code = changed.split("s = ")[1].split("\n")[0]
    before = fingerprint(tmp_path / "model.py", BEFORE, "h.max().item()")
    assert fingerprint(tmp_path / "model.py", changed, code, after="        s = ") != before


def test_equal_expressions_are_told_apart(tmp_path):
    text = (
        "def forward(x):\n"
        "    a = x.item() + x.item()\n"
        "    f = lambda x: x.item()\n"
        "    g = lambda x: x.item()\n"
        "    return [x.item() for x in a]\n"
        "class C:\n"
        "    @property\n"
        "    def forward(self): return x.item()\n"
        "    @forward.setter\n"
        "    def forward(self, value): x.item()\n"
    )
    file = tmp_path / "model.py"
    file.write_text(text)
    found = set()
    places = 0
    for number, line in enumerate(text.split("\n"), 1):
        column = line.find("x.item()")
        while column >= 0:
            entry = StackEntry(str(file), number, "forward", column, number, column + 8)
            found.add(source.locate([entry], root=tmp_path).fingerprint)
            places += 1
            column = line.find("x.item()", column + 1)
    assert places == len(found) == 7


def test_another_file_is_another_place(tmp_path):
    one = fingerprint(tmp_path / "one.py", BEFORE, "h.mean() > 0")
    assert fingerprint(tmp_path / "two.py", BEFORE, "h.mean() > 0") != one


def test_a_function_keeps_it_when_its_signature_and_body_change(tmp_path):
    file = tmp_path / "model.py"
    file.write_text(BEFORE)
    before = source.locate_function(str(file), 4, "forward", root=tmp_path)
    file.write_text(AFTER)
    lines = AFTER.split("\n")
    after, other = (
        source.locate_function(str(file), lines.index(line) + 1, "forward", root=tmp_path)
        for line in ("    def forward(", "    def forward(self, h):")
    )
    assert [one.qualname for one in (before, after, other)] == [
        "Model.forward",
        "Model.forward",
        "Other.forward",
    ]
    assert before.fingerprint == after.fingerprint != other.fingerprint


@pytest.mark.parametrize(
    "text",
    [
        "if x[0]: pass",
        "while x[0]:\n    y\nelse: pass",
        "for y in x[0]: pass",
        "with x[0]: pass",
        "try: x[0]\nexcept x[0]: y",
    ],
)
def test_a_whole_statement_is_known_by_its_header(tmp_path, text):
    file = tmp_path / "model.py"
    prints = []
    for version in (text, text.replace("pass", "other()").replace("y\n", "z\n")):
        file.write_text(version)
        lines = version.split("\n")
        whole = StackEntry(str(file), 1, "<module>", 0, len(lines), len(lines[-1]))
        prints.append(source.locate([whole], root=tmp_path).fingerprint)
    assert len(set(prints)) == 1
