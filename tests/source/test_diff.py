"""Diffs that git applies."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from breakfinder.source.diff import unified_diff


def test_equal_texts_have_none():
    assert unified_diff("a.py", "x\n", "x\n") == ""


def test_what_it_looks_like():
    assert unified_diff("p/a.py", "x\ny\n", "x\nz\n") == (
        "--- a/p/a.py\n+++ b/p/a.py\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n"
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("diff")


LINES = st.lists(st.sampled_from(["x", "y", "", "a\x0cb", "a\u2028b", "a\rb", "c\r"]), max_size=6)


@given(LINES, LINES, st.booleans(), st.booleans())
@settings(max_examples=40, deadline=None)
def test_git_applies_it(folder, before, after, end_before, end_after):
    before, after = ["first", *before], ["first", *after]  # an empty file is one to make or delete for git
    old = "\n".join(before) + "\n" * end_before
    new = "\n".join(after) + "\n" * end_after
    file = folder / "a.py"
    file.write_bytes(old.encode())
    diff = unified_diff("a.py", old, new)
    if diff:
        subprocess.run(
            ["git", "apply", "--whitespace=nowarn", "-"], input=diff.encode(), cwd=folder, check=True,
            env={"GIT_CEILING_DIRECTORIES": str(folder.parent), "PATH": "/usr/bin:/bin"},
        )  # fmt: skip
    assert file.read_bytes() == new.encode()
