"""Which rules are looked for."""

from pathlib import Path

import pytest

from breakfinder.errors import UsageError
from breakfinder.lint.selection import Selection

KNOWN = ("BF001", "BF101", "BF103", "BF201")


@pytest.mark.parametrize(
    ("select", "ignore", "wanted"),
    [
        (["ALL"], [], "BF001 BF101 BF103 BF201"),
        (["BF1"], [], "BF101 BF103"),
        (["bf101"], [], "BF101"),
        (["ALL"], ["BF1"], "BF001 BF201"),
        (["BF"], ["BF1"], "BF001 BF201"),
        (["BF1", "BF2"], ["BF103"], "BF101 BF201"),
        (["ALL", "BF103"], ["BF1"], "BF001 BF103 BF201"),
        (["BF101"], ["BF101"], ""),
        (["ALL"], ["ALL"], ""),
        (["BF101"], ["ALL"], "BF101"),
    ],
)
def test_the_longer_code_decides(select, ignore, wanted):
    assert sorted(Selection(select, ignore).rules(KNOWN)) == wanted.split()


def test_per_file(tmp_path):
    selection = Selection(per_file={"tests/": ["BF2"], "*_slow.py": ["BF101", "BF103"]}, root=tmp_path)
    rules = selection.rules(KNOWN)
    assert selection.rules_in(tmp_path / "a.py", rules) == rules
    assert selection.rules_in(tmp_path / "tests" / "x" / "a.py", rules) == rules - {"BF201"}
    assert selection.rules_in(tmp_path / "tests" / "a_slow.py", rules) == {"BF001"}
    assert selection.rules_in(Path("/elsewhere/tests/a.py"), rules) == rules


@pytest.mark.parametrize(
    ("selection", "message", "hint"),
    [
        (Selection(["BF104"]), "here: no rule 'BF104'", "did you mean BF"),
        (Selection(ignore=["item"]), "here: no rule 'item'", "breakfinder rules"),
        (Selection(per_file={"a": ["E501"]}), "here: no rule 'E501'", "breakfinder rules"),
        (Selection([""]), "here: no rule ''", "breakfinder rules"),
        (Selection(per_file={"!": ["BF1"]}), "pattern", ".gitignore"),
    ],
)
def test_codes_that_are_none(selection, message, hint):
    with pytest.raises(UsageError) as caught:
        selection.check(KNOWN, "here")
    assert message in caught.value.message
    assert hint in caught.value.hint
