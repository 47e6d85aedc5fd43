"""Text from a model stays text: no element, no script, no request, no text turned around."""

import pytest

from breakfinder.report.render.visible import visible
from report import samples

pytestmark = pytest.mark.browser


def test_no_script_of_the_model_runs_and_no_element_of_it_exists(visit):
    page = visit("hostile")
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    page.mouse.move(600, 400)
    page.wait_for_timeout(200)
    assert page.evaluate("window.pwned") is None
    assert page.locator("#injected").count() == 0
    assert page.locator("img, iframe, object, embed, link, svg svg svg").count() == 0
    assert page.locator("script").count() == 1
    assert page.locator("style").count() == 1
    handlers = page.evaluate(
        "Array.from(document.querySelectorAll('*')).flatMap(e => e.getAttributeNames())"
        ".filter(name => name.startsWith('on') || name === 'style')"
    )
    assert handlers == []
    links = page.evaluate("Array.from(document.links).filter(a => !a.hash).map(a => a.href)")
    assert [link[:40] for link in links] == ["data:text/x-patch;charset=utf-8;base64,K"], "the patch alone"


@pytest.mark.parametrize("attack", samples.ATTACKS)
def test_every_attack_can_be_read_as_text(visit, attack):
    page = visit("hostile")
    body = page.evaluate("document.querySelector('main').textContent")
    assert body.count(visible(attack)) > 20


def test_no_text_is_hidden_or_turned_around(visit):
    page = visit("hostile")
    text = page.evaluate("document.documentElement.textContent + document.title")
    attributes = page.evaluate(
        "Array.from(document.querySelectorAll('*')).flatMap("
        "e => Array.from(e.attributes, a => a.value)).join(' ')"
    )
    for content in (text, attributes):
        assert visible(content) == content


def test_filters_work_with_hostile_values(visit):
    page = visit("hostile")
    page.select_option("[data-filter=rule]", index=1)
    assert page.locator(".finding:visible").count() == 1
    page.select_option("[data-filter=rule]", "")
    page.select_option("[data-filter=scenario]", "forward")
    assert page.locator(".finding:visible").count() == 2


@pytest.mark.parametrize(
    "injected",
    [
        "<script>window.pwned = 1</script>",
        "<img src=x onerror='window.pwned = 1'>",
        "<script src='https://example.invalid/x.js'></script>",
        "<style>body { display: none }</style>",
        "<link rel=stylesheet href='https://example.invalid/x.css'>",
        "<p style='position: fixed'>x</p>",
        "<iframe src='https://example.invalid/'></iframe>",
    ],
)
def test_the_policy_stops_what_would_slip_through(chromium, report_file, injected):
    """Were escaping to fail one day, the browser itself refuses."""
    name = f"-{abs(hash(injected))}"
    path = report_file("findings", lambda html: html.replace("<main>", f"<main>{injected}"), name)
    assert injected in path.read_text(encoding="utf-8")
    page = chromium.new_page()
    refusals, requests = [], []
    page.on("console", lambda message: refusals.append(message.text))
    page.on("request", lambda request: requests.append(request.url))
    page.on("response", lambda response: requests.append(f"answer {response.url}"))
    page.goto(path.as_uri())
    page.wait_for_timeout(100)
    assert page.evaluate("window.pwned") is None
    assert page.locator("h1").is_visible()
    assert any("Content Security Policy" in text for text in refusals), refusals
    assert not [url for url in requests if url.startswith("answer http")]
    page.close()
