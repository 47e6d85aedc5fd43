"""What can be told of the page without a browser; tests/browser looks at it in one."""

import base64
import hashlib
import re
import time
from html.parser import HTMLParser

import pytest

from breakfinder.report.model import Frame, Scenario
from breakfinder.report.render import render
from breakfinder.report.render.html import frame_rows, inline, path, prose, unbroken
from report import samples

VOID = {"meta", "link", "br", "img", "input", "hr", "wbr"}


class Page(HTMLParser):
    """Elements and their attributes, text, and whether each element was closed where it should be."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.open, self.texts = [], [], {}
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID and not self.get_starttag_text().endswith("/>"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open, self.getpos())
        self.open.pop()

    def handle_data(self, data):
        if self.open:
            self.texts[self.open[-1]] = self.texts.get(self.open[-1], "") + data

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(params=samples.ALL.values(), ids=samples.ALL, scope="module")
def page(request):
    return Page(render(request.param(), "html"))


def test_every_element_is_closed_and_every_id_is_used_once(page):
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_every_reference_inside_the_page_has_its_target(page):
    ids = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    for _, attributes in page.elements:
        for name in ("href", "aria-labelledby", "aria-controls"):
            value = attributes.get(name, "")
            if name != "href" or value.startswith("#"):
                assert not value or value.removeprefix("#") in ids, (name, value)


def test_needs_nothing_from_elsewhere(page):
    for tag, attributes in page.elements:
        assert "src" not in attributes and tag not in ("link", "iframe", "object", "embed", "base")
        href = attributes.get("href", "")
        assert not href.startswith(("http:", "//", "javascript:"))
        assert not href.startswith("data:") or (
            href.startswith("data:text/x-patch;") and "download" in attributes
        )


def test_has_no_inline_style_or_handler(page):
    for tag, attributes in page.elements:
        assert not [name for name in attributes if name == "style" or name.startswith("on")], tag


def test_only_its_own_script_and_style_are_allowed(page):
    (policy,) = [a["content"] for a in page.all("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    for tag, directive in (("script", "script-src"), ("style", "style-src")):
        assert len(page.all(tag)) == 1
        digest = base64.b64encode(hashlib.sha256(page.texts[tag].encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_answers_in_order():
    html = render(samples.with_findings(), "html")
    order = [
        "<h1 ",
        "The run, in order",
        "fullgraph=True</code></h3>",
        "3 findings, worst first",
        'id="F1"',
        "<mark>",
        "<h4>Why</h4>",
        "<h4>What to do</h4>",
        "torch&#39;s words" if "torch&#39;s words" in html else "torch's words",
        'id="F2"',
        "About this run",
    ]
    places = [html.index(words) for words in order]
    assert places == sorted(places)


def test_marks_the_exact_expression():
    html = render(samples.cleared_by_fullgraph(), "html")
    (marked,) = re.findall(r"<mark>(.*?)</mark>", html)
    assert re.sub(r"<[^>]*>", "", marked) == "chosen.flatten().tolist()"


def test_findings_stay_in_the_order_of_the_report():
    report = samples.with_scenarios()
    report.findings.reverse()
    assert re.findall(r'<article [^>]* id="(F\d)"', render(report, "html")) == ["F5", "F4", "F3", "F2", "F1"]


def test_a_reference_that_is_no_https_link_is_no_link():
    html = render(samples.hostile(), "html")
    assert 'href="javascript' not in html
    report = samples.with_findings()
    assert f'href="{report.findings[0].torch.reference}"' in render(report, "html")


def test_a_thousand_findings_are_rendered_within_three_seconds():
    report = samples.thousand()
    began = time.process_time()
    html = render(report, "html")
    assert time.process_time() - began < 3
    assert html.count("<article ") == 1000


def test_prose_has_paragraphs_code_and_blocks_and_nothing_else():
    assert prose("Use `a < b`.\n\n    x = 1\n      y\n\n<b>") == (
        "<p>Use <code>a &lt; b</code>.</p>\n<pre><code>x = 1\n  y</code></pre>\n<p>&lt;b&gt;</p>"
    )
    assert inline("a ` b") == "a ` b"
    assert unbroken("2 places, 91 % of ops") == "2\xa0places, 91\xa0% of ops"


def test_a_path_of_an_installed_package_is_shown_from_its_package_on():
    assert path("/opt/env/lib/python3.12/site-packages/transformers/m.py:3:1") == "transformers/<wbr>m.py:3:1"
    assert path("src/<b>.py") == "src/<wbr>&lt;b&gt;.py"


def test_only_frames_that_are_alike_share_a_row():
    frames = [
        Frame(compile_id=f"{index}/0", function="forward", file="m.py", line=line, outcome="compiled", ops=2)
        for index, line in enumerate([4, 4, 9])
    ]
    rows = frame_rows(Scenario(name="forward", frames=frames), [])
    assert [(row.frame.line, row.times, row.ops) for row in rows] == [(4, 2, 4), (9, 1, 2)]
