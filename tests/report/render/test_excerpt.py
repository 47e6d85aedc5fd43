"""Excerpts keep line numbers and marks true through tabs, dedenting and clipping."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breakfinder.report.model import Location
from breakfinder.report.render.excerpt import LONGEST_LINE, MOST_LINES, TAB, excerpt


def marked(lines):
    return [(line.number, line.text[slice(*line.mark)]) for line in lines if line.mark]


def test_marks_the_exact_expression_after_dedenting():
    snippet = "        first()\n        y = x.item() + 1\n"
    location = Location(
        file="m.py", line=8, column=13, end_line=8, end_column=21, snippet=snippet, snippet_line=7
    )
    lines = excerpt(location)
    assert [(line.number, line.text) for line in lines] == [(7, "first()"), (8, "y = x.item() + 1")]
    assert marked(lines) == [(8, "x.item()")]


def test_marks_each_line_of_an_expression_without_its_indentation():
    snippet = "if any(\n    x,  \n):\n    pass"
    location = Location(
        file="m.py", line=1, column=4, end_line=3, end_column=2, snippet=snippet, snippet_line=1
    )
    assert marked(excerpt(location)) == [(1, "any("), (2, "x,"), (3, ")")]


def test_tabs_move_the_mark():
    location = Location(
        file="m.py", line=1, column=3, end_line=1, end_column=8, snippet="\t\tx.sum + y", snippet_line=1
    )
    lines = excerpt(location)
    assert marked(lines) == [(1, "x.sum")]
    assert TAB not in lines[0].text


def test_without_columns_the_whole_line_is_marked():
    location = Location(file="m.py", line=2, end_line=2, snippet="a\n  b c  \n", snippet_line=1)
    assert marked(excerpt(location)) == [(2, "b c")]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_every_newline_of_python_ends_a_line(newline):
    location = Location(file="m.py", line=2, end_line=2, snippet=f"a{newline}b{newline}c", snippet_line=1)
    assert [line.text for line in excerpt(location)] == ["a", "b", "c"]


def test_a_form_feed_does_not_end_a_line():
    location = Location(file="m.py", line=1, end_line=1, snippet="a\x0cb\u2028c", snippet_line=1)
    assert [line.number for line in excerpt(location)] == [1]


def test_a_line_of_generated_code_is_clipped_around_the_mark():
    text = "x" * 5000 + "TARGET" + "y" * 5000
    location = Location(file="m.py", line=1, column=5001, end_line=1, end_column=5007, snippet=text)
    (line,) = excerpt(location)
    assert marked([line]) == [(1, "TARGET")]
    assert len(line.text) <= LONGEST_LINE + 2


def test_a_long_snippet_keeps_the_marked_lines():
    location = Location(file="m.py", line=90, end_line=90, snippet="\n".join("x" * 200), snippet_line=1)
    lines = excerpt(location)
    assert len(lines) <= MOST_LINES
    assert marked(lines) == [(90, "x")]


def test_no_source_gives_nothing():
    assert excerpt(Location(file="m.py", line=1, end_line=1)) == []


@given(
    before=st.text("ab \t", max_size=20),
    expression=st.text("xyz", min_size=1, max_size=20),
    after=st.text("cd \t", max_size=300),
)
def test_the_mark_is_always_the_expression(before, expression, after):
    start = len(before) + 1
    location = Location(
        file="m.py",
        line=1,
        column=start,
        end_line=1,
        end_column=start + len(expression),
        snippet=before + expression + after,
    )
    assert marked(excerpt(location)) == [(1, expression)]
