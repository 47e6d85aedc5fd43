import html
import re

from hypothesis import given
from hypothesis import strategies as st

from breakfinder.report.render.excerpt import Line
from breakfinder.report.render.highlight import highlight


def text_of(markup):
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


def test_colours_and_marks():
    line = Line(1, "    return f(x.item())  # why", (13, 21))
    (markup,) = highlight([line])
    assert '<span class="k">return</span>' in markup
    assert '<span class="c"># why</span>' in markup
    assert re.search(r"f\(<mark>x\.item\(\)</mark>\)", markup)


def test_a_mark_may_begin_and_end_inside_a_token():
    (markup,) = highlight([Line(1, "'abcdef'", (3, 5))])
    assert re.sub(r"</?span[^>]*>", "", markup) == "&#39;ab<mark>cd</mark>ef&#39;"


def test_a_string_over_several_lines_is_closed_on_each():
    first, second = highlight([Line(1, 'x = """a'), Line(2, 'b""" + y', (7, 8))])
    assert first.count("<span") == first.count("</span>")
    assert second.endswith("<mark>y</mark>")


def test_hidden_characters_are_shown():
    (markup,) = highlight([Line(1, "x = '\u202ea\x1b'")])
    assert '<span class="ctl">&lt;U+202E&gt;</span>' in markup
    assert '<span class="ctl">&lt;U+001B&gt;</span>' in markup


@given(
    texts=st.lists(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), max_size=40), max_size=5),
    ends=st.tuples(st.integers(0, 40), st.integers(0, 40)),
)
def test_says_what_the_source_says_and_nothing_more(texts, ends):
    lines = []
    for number, text in enumerate(texts):
        start, end = sorted(min(end, len(text)) for end in ends)
        lines.append(Line(number, text, (start, end) if start < end else None))
    for line, markup in zip(lines, highlight(lines), strict=True):
        assert text_of(markup) == line.text
        inside = re.findall(r"<mark>(.*?)</mark>", markup)
        assert [text_of(part) for part in inside] == ([line.text[slice(*line.mark)]] if line.mark else [])
