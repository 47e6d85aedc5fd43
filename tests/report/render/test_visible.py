import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from breakfinder.report.render.visible import one_line, visible


def test_writes_out_what_would_act_or_hide():
    assert visible("a\x1b[2J\u202eb") == "a<U+001B>[2J<U+202E>b"


def test_keeps_lines_and_tabs_and_other_scripts():
    assert visible("a\tb\nc\r\nd größe 日本 שלום") == "a\tb\nc\nd größe 日本 שלום"


def test_one_line_has_one_line():
    assert one_line("  a\n\tb\r\nc ") == "a b c"


@given(st.text(st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp", "L", "P"])))
def test_nothing_is_left_that_a_terminal_obeys_or_that_turns_the_text_around(text):
    left = visible(text)
    assert not [c for c in left if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") and c not in "\n\t"]
    turning = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    assert not [c for c in left if unicodedata.bidirectional(c) in turning]
    left.encode("utf-8")
