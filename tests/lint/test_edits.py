"""Changes of files: fixes until nothing is left to do, and comments."""

import ast
import os
import re
import stat
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breakfinder.lint import edits
from breakfinder.lint.edits import Task, add_noqa, fix_safe, fixed, with_comments
from breakfinder.lint.finding import LintFinding
from breakfinder.lint.results import Wanted
from breakfinder.rules import rewrites
from breakfinder.rules.rewrites import Rewrite

WANTED = Wanted(frozenset({"BF201"}), "high", frozenset({"BF201"}))
MODEL = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        print("é", x)
        return x
"""


class Drop(Rewrite):
    title = "Drop it"
    applicability = "safe"


class Guard(Rewrite):
    title = "Guard it"
    applicability = "review"


def find_words(text):
    """Each ``bad`` and ``worse`` is a problem."""
    return [
        LintFinding("a.py", number, match.start() + 1, number, match.end() + 1, match[0], "t")
        for number, line in enumerate(text.split("\n"), 1)
        for match in re.finditer("bad|worse|stuck|loops|breaks", line)
    ]


BECOMES = {"worse": "bad", "bad": "good", "loops": "loops + loops", "breaks": "((", "stuck": None}


@pytest.fixture(scope="module", autouse=True)
def tried():
    """A fix that turns ``worse`` into ``bad`` and ``bad`` into ``good``, and others that go wrong; what was tried."""
    tried = []

    def rewrite(text, fix, position, end):
        lines = text.split("\n")
        line = lines[position[0] - 1]
        word = line[position[1] - 1 : end[1] - 1]
        tried.append((fix.__name__, word))
        if BECOMES[word] is None:
            return None
        lines[position[0] - 1] = line[: position[1] - 1] + BECOMES[word] + line[end[1] - 1 :]
        return "\n".join(lines)

    def fixes_of(finding, applicable):
        return [fix for fix in (Drop, Guard) if fix.applicability in applicable]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rewrites, "rewrite", rewrite)
        patch.setattr(edits, "fixes_of", fixes_of)
        yield tried


def test_all_is_fixed_and_counted():
    assert fixed("bad\nx = bad\n", find_words, edits.SAFE) == ("good\nx = good\n", 2)


def test_steps_that_are_of_no_use_are_not_taken():
    text = "stuck\nloops\nbreaks\nworse\n"
    assert fixed(text, find_words, edits.SAFE) == (text, 0)
    assert fixed(text + "bad\n", find_words, edits.SAFE) == (text + "good\n", 1)


def test_only_fixes_that_may_be_applied_are_tried(tried):
    tried.clear()
    fixed("stuck\n", find_words, edits.SAFE)
    assert tried == [("Drop", "stuck")]
    fixed("stuck\n", find_words, edits.UNSAFE)
    assert tried[1:] == [("Drop", "stuck"), ("Guard", "stuck")]


@given(
    st.lists(
        st.sampled_from(["bad", "worse", "stuck", "loops", "breaks", "x = [bad,\nbad]", "x = 1"]), max_size=7
    )
)
def test_it_parses_and_a_second_run_changes_nothing(words):
    text, count = fixed("\n".join(words), find_words, edits.SAFE)
    ast.parse(text)
    assert count == sum(word.count("bad") for word in words)
    assert fixed(text, find_words, edits.SAFE) == (text, 0)


def task(path):
    return Task(str(path), None, WANTED)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("before", "encoding"), [("", "utf-8"), ("# coding: latin-1\n", "latin-1"), ("\ufeff", "utf-8")]
)
def test_encoding_ends_of_lines_and_permissions_stay(tmp_path, newline, before, encoding):
    path = tmp_path / "a.py"
    content = (before + MODEL).replace("\n", newline).encode(encoding)
    path.write_bytes(content)
    path.chmod(0o751)
    edit = add_noqa(task(path))
    assert edit.count == 1
    assert path.read_bytes() == content, "nothing is written yet"
    edit.write()
    assert path.read_bytes() == content.replace(
        b", x)" + newline.encode(), b", x)  # noqa: BF201" + newline.encode()
    )
    assert stat.S_IMODE(path.stat().st_mode) == 0o751
    assert os.listdir(tmp_path) == ["a.py"]  # noqa: PTH208
    assert add_noqa(task(path)) is None


def test_a_file_that_was_changed_in_the_meantime_is_left_alone(tmp_path):
    path = tmp_path / "a.py"
    path.write_text(MODEL)
    edit = add_noqa(task(path))
    path.write_text("x = 1\n")
    with pytest.raises(OSError, match="in the meantime"):
        edit.write()
    assert path.read_text() == "x = 1\n"


def test_what_cannot_be_read_and_notebooks_are_left_alone(tmp_path):
    (tmp_path / "a.py").write_bytes(b"\xff")
    (tmp_path / "n.ipynb").write_text('{"cells": [{"cell_type": "code", "source": "x"}]}')
    for name in ("a.py", "n.ipynb", "none.py"):
        assert add_noqa(task(tmp_path / name)) is None
        assert fix_safe(task(tmp_path / name)) is None


def test_the_diff_names_the_file_relative_to_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(MODEL)
    assert add_noqa(task(tmp_path / "a.py")).diff.decode() == (
        "--- a/a.py\n+++ b/a.py\n@@ -3,5 +3,5 @@\n \n class Model(torch.nn.Module):\n     def forward(self, x):\n"
        '-        print("é", x)\n+        print("é", x)  # noqa: BF201\n         return x\n'
    )


@pytest.mark.parametrize("before", ["", "# coding: latin-1\n", "\ufeff"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_git_applies_the_diff_whatever_the_encoding(tmp_path, monkeypatch, before, newline):
    monkeypatch.chdir(tmp_path)
    text = (before + MODEL[MODEL.index("class") :]).replace("\n", newline)
    (tmp_path / "ü.py").write_bytes(text.encode("latin-1" if "latin" in before else "utf-8"))
    edit = add_noqa(Task(str(tmp_path / "ü.py"), None, WANTED))
    subprocess.run(["git", "init", "-q"], check=True)
    subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], input=edit.diff, check=True)
    assert (tmp_path / "ü.py").read_bytes() == edit.after


STATEMENTS = st.sampled_from(
    [
        "print(x)",
        "print(\n            x,\n            x)",
        'print("""\n# noqa\n""")',
        "y = x; print(y)",
        "print(x)  # noqa: E501",
        "print(x)  # why",
        "print(x) or \\\n            print(x)",
        "if x.ndim: print(x)",
        "for i in range(print(x) or 3):\n            print(i)",
        "x = x + 1",
    ]
)


@given(st.lists(STATEMENTS, min_size=1, max_size=6))
def test_after_adding_comments_nothing_is_found_and_nothing_else_has_changed(body):
    text = "import torch\nclass M(torch.nn.Module):\n    def forward(self, x):\n"
    text += "".join(f"        {statement}\n" for statement in body)
    find = Task("a.py", None, WANTED).find
    count = len(find(text))
    assert count >= sum("print" in statement for statement in body)
    noted, taken = with_comments(text, find)
    assert taken == count
    assert find(noted) == []
    assert ast.dump(ast.parse(noted)) == ast.dump(ast.parse(text))
    assert with_comments(noted, find) == (noted, 0)
