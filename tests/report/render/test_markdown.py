"""Markdown, for comments and summaries."""

import re

import pytest

from breakfinder.report.model import Fix
from breakfinder.report.render import render
from breakfinder.report.render.markdown import FEW, MOST, render_markdown
from breakfinder.report.render.problem import Problem, Problems
from report import samples


def problem(number=1, **changes):
    fields = {
        "rule": "BF101", "title": "title", "severity": "warning", "file": "a.py", "line": number, "column": 5,
        "end_line": number, "end_column": 9, "fingerprint": "f",
    }  # fmt: skip
    return Problem(**{**fields, **changes})


def test_the_result_comes_first():
    lines = render(samples.with_findings(), "markdown").split("\n")
    assert lines[0] == "### breakfinder check src/gatednet/modeling\\_gatednet.py:GatedNet"
    assert lines[2] == (
        "Breaks into 4 graphs: 2 places to fix, 1 place that recompiles, 89 % of ops captured"
    )
    assert lines[4] == (
        "- `src/gatednet/modeling_gatednet.py:22:12` **BF103** `if` on a tensor's value: "
        "`torch.isinf(hidden).any() or torch.isnan( hidden ).any()`"
    )


def test_a_few_are_seen_and_the_rest_is_folded():
    text = render_markdown(Problems("lint", "1", [problem(number) for number in range(1, 101)]))
    head, folded = text.split("<details>", 1)
    assert head.count("\n- ") == FEW
    assert folded.startswith(f"<summary>{100 - FEW} more</summary>")
    assert folded.count("\n- `") == MOST - FEW
    assert f"and {100 - MOST} that are not listed here" in folded
    assert text.count("<details>") == text.count("</details>") == 1


def test_it_fits_into_a_comment():
    assert len(render(samples.thousand(), "markdown")) < 65_536


def test_fixes_that_hold_are_shown_as_diffs():
    diff = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+```\n"
    fixes = [
        Fix(title="Do `it`", applicability="safe", verdict="proved", diff=diff),
        Fix(title="No", applicability="safe", verdict="failed", diff="-q"),
    ]
    text = render_markdown(Problems("lint", "1", [problem(fixes=fixes)]))
    assert "<summary>Fix (proved) of a.py:1: Do <code>it</code></summary>" in text
    assert f"````diff\n{diff.rstrip()}\n````" in text
    assert "-q" not in text


@pytest.mark.parametrize(
    "harm",
    [
        "<img src=x onerror=alert(1)>", "</details><script>", "[a](javascript:x)", "![i](http://x/y.png)",
        "@everyone", "#1", "**bold**", "a\n# heading", "a\n\n- item", "`", "``` `", "http://example.org",
        "\u202etxt", "a\x1b[31m", "&lt;b&gt;",
    ],
)  # fmt: skip
def test_text_of_others_is_no_markup(harm):
    quiet = render_markdown(Problems("lint x", "1", [problem()], headline="x"))
    text = render_markdown(
        Problems(f"lint {harm}", "1", [problem(title=harm, file=harm, expression=harm)], headline=harm)
    )
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    assert "<" not in outside.replace("<U+", "")
    assert not re.search(r"(?<!\\)[\[\]*#!]", re.sub(r"\*\*BF101\*\*|^### ", "", outside).replace("&#", ""))
    assert "@" not in outside
    assert "://" not in outside
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert text.count("\n") == quiet.count("\n")


def test_hostile_report():
    text = render(samples.hostile(), "markdown")
    assert "<script" not in re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    text.encode()
