import re
import unicodedata

import pytest

from breakfinder.report.model import Location
from breakfinder.report.render import render
from breakfinder.report.render.text import MOST_FINDINGS, render_text
from report import samples

ANSI = re.compile(r"\x1b\[[0-9;]*m")


def plain(report, width=None):
    return render_text(report, width=width, color=False)


def test_says_verdict_place_expression_why_and_what_to_do():
    text = plain(samples.with_findings())
    assert text.startswith(
        "Breaks into 4 graphs: 2 places to fix, 1 place that recompiles, 89 % of ops captured\n"
    )
    assert (
        "src/gatednet/routing.py:7:23: BF102 `.tolist()` moves a tensor's values to Python\n"
        "  7 | return sorted(set(chosen.flatten().tolist()))\n"
        "    |                   ^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "  why     The list's length and its numbers are Python values"
    ) in text
    assert "\n  do      Keep the routing on the device" in text
    assert "explain missed it, fullgraph=True clears it" in text
    assert "\n  fix     Always clamp: proved\n" in text
    assert "3 of 126 layers traced" in text
    assert "\n  explain forward: said 4 graphs, 3 graph breaks; it missed F2\n" in text
    assert re.search(r"^forward +4 +2 +9 +1 +2 +89 % +raises$", text, re.MULTILINE)


def test_a_clean_model_is_told_in_a_few_lines():
    text = plain(samples.clean())
    assert text.splitlines()[0] == "Compiles to one graph"
    assert len(text.splitlines()) < 8


def test_a_failure_names_its_stage_and_message():
    text = plain(samples.failed())
    assert "build: GatedNet() raised TypeError: missing 1 required positional argument: 'width'" in text
    assert 'File "src/gatednet/modeling_gatednet.py", line 12' in text


def test_without_color_there_is_none_and_no_drawing():
    text = plain(samples.with_scenarios())
    assert "\x1b" not in text
    assert not [c for c in text if "\u2500" <= c <= "\u259f"]
    assert all(line == line.rstrip() for line in text.splitlines())


def test_color_changes_nothing_but_color():
    report = samples.with_scenarios()
    colored = render_text(report, width=100, color=True)
    assert ANSI.search(colored)
    lines = [line.rstrip() for line in ANSI.sub("", colored).splitlines()]
    assert lines == plain(report, width=100).splitlines()


def test_color_does_not_depend_on_the_environment(monkeypatch):
    report = samples.with_findings()
    first = render_text(report, width=100, color=True), plain(report, width=100)
    for name, value in {"NO_COLOR": "1", "FORCE_COLOR": "1", "TERM": "dumb", "COLUMNS": "40"}.items():
        monkeypatch.setenv(name, value)
    assert (render_text(report, width=100, color=True), plain(report, width=100)) == first


@pytest.mark.parametrize("width", [60, 100])
def test_paragraphs_keep_to_the_width(width):
    paragraphs = [
        line
        for line in plain(samples.with_findings(), width=width).splitlines()
        if line.startswith(("  why", "  do", "         "))
        and not line.startswith(("          +", "          -"))  # source is never wrapped
    ]
    assert paragraphs
    assert all(len(line) <= width for line in paragraphs)


def test_without_a_width_nothing_is_wrapped():
    text = plain(samples.with_findings())
    assert "so the graph ends here and Python decides.\n" in text
    assert len([line for line in text.splitlines() if line.startswith("  why")]) == 3


def test_of_many_findings_the_worst_are_shown_and_the_rest_counted():
    text = plain(samples.thousand())
    shown = re.findall(r"^          (F\d+),", text, re.MULTILINE)
    assert shown == [f"F{n}" for n in range(1, MOST_FINDINGS + 1)]
    assert f"and {1000 - MOST_FINDINGS} more findings, all in the html and json reports" in text


@pytest.mark.parametrize("color", [False, True])
def test_nothing_hostile_reaches_the_terminal(color):
    text = ANSI.sub("", render_text(samples.hostile(), width=100, color=color))
    assert not [c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs") and c != "\n"]
    assert "<U+001B>[2J" in text
    assert "<U+202E>desrever" in text


def test_carets_stand_under_wide_and_hidden_characters():
    finding = samples.findings()[0].model_copy(
        update={
            "location": Location(
                file="m.py",
                line=1,
                column=6,
                end_line=1,
                end_column=10,
                snippet="'日本' + x.y\u202e",
                snippet_line=1,
            )
        }
    )
    lines = plain(samples.report(findings=[finding], status="findings")).splitlines()
    row = next(index for index, line in enumerate(lines) if "日本" in line)
    assert lines[row + 1] == "    | " + " " * 7 + "^^^^"


def test_the_format_named_text_is_the_plain_one():
    report = samples.with_findings()
    assert render(report, "text") == plain(report)


def test_ways_out_are_told_in_short():
    text = render_text(samples.fixed(), width=None, color=False)
    assert "\n          +        if not torch.compiler.is_compiling():\n" in text
    assert "\n  fixes   After 2 steps: one graph, no breaks, 100 % of ops captured. --patch FILE" in text
    assert "\n  setting capture_scalar_outputs=True clears every break. `.item()` gives" in text
    assert "nested_graph_breaks" not in text, "only settings that help"
    assert "\n  likely  " in text
