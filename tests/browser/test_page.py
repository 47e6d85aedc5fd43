"""The page does what it offers, in a real browser."""

import re
import time

import pytest

from report import samples

pytestmark = pytest.mark.browser


def shown(page):
    return page.eval_on_selector_all(
        ".finding", "all => all.filter(one => one.offsetParent !== null).map(one => one.id)"
    )


def focused(page):
    return page.evaluate("document.activeElement.closest('.finding')?.id ?? document.activeElement.id")


def wait_for_focus(page, finding):
    """The browser tells of a new address only after the click that brought it."""
    page.wait_for_function(
        "id => document.activeElement.closest('.finding')?.id === id", arg=finding, timeout=5000
    )


@pytest.mark.parametrize("width", [1280, 390, 360])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", samples.ALL)
def test_opens_without_complaint_and_fits_the_screen(visit, name, scheme, width):
    page = visit(name, color_scheme=scheme, viewport={"width": width, "height": 800})
    assert page.locator("h1").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_filters_narrow_the_findings(visit):
    page = visit("scenarios")
    assert shown(page) == ["F1", "F2", "F3", "F4", "F5"]
    page.select_option("[data-filter=scenario]", "forward")
    assert shown(page) == ["F1", "F2", "F4"]
    page.select_option("[data-filter=kind]", "recompilation")
    assert shown(page) == ["F4"]
    assert page.inner_text("#shown") == "1 of 5"
    page.select_option("[data-filter=kind]", "")
    page.select_option("[data-filter=scenario]", "")
    page.select_option("[data-filter=owner]", "transformers")
    assert shown(page) == ["F3"]
    page.select_option("[data-filter=owner]", "")
    page.select_option("[data-filter=rule]", "BF102")
    assert shown(page) == ["F2"]


def test_search_finds_words_anywhere_in_a_finding(visit):
    page = visit("scenarios")
    for words, expected in [
        ("GB0170", ["F1"]),
        ("experts tolist", ["F2"]),
        ("routing.py:7", ["F2"]),
        ("F3", ["F3"]),
        ("  ", ["F1", "F2", "F3", "F4", "F5"]),
    ]:
        page.fill("#search", words)
        assert shown(page) == expected
    page.fill("#search", "nothing has these words")
    assert shown(page) == []
    page.click("#clear")
    assert len(shown(page)) == 5


def test_a_link_opens_and_focuses_its_finding(visit):
    page = visit("thousand", "#F700")
    finding = page.locator("#F700")
    assert finding.locator("details").first.evaluate("one => one.open")
    wait_for_focus(page, "F700")
    box = finding.bounding_box()
    assert 0 <= box["y"] < 300


def test_a_link_inside_the_page_finds_what_filters_hide(visit):
    page = visit("scenarios")
    page.select_option("[data-filter=rule]", "BF601")
    assert shown(page) == ["F4"]
    page.locator(".verdicts a[href='#F2']").first.click()
    wait_for_focus(page, "F2")
    assert "F2" in shown(page)
    assert page.url.endswith("#F2")


def test_a_link_to_nothing_does_no_harm(visit):
    for fragment in ("#F99", "#%E0%A4%A", "#'\"<b>"):
        assert len(shown(visit("scenarios", fragment))) == 5


def test_scenarios_are_tabs(visit):
    page = visit("scenarios")
    panels = page.locator("[role=tabpanel]")
    assert [panels.nth(index).is_visible() for index in range(3)] == [True, False, False]
    page.get_by_role("tab", name="decode").click()
    assert [panels.nth(index).is_visible() for index in range(3)] == [False, True, False]
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("tab", name="train").get_attribute("aria-selected") == "true"
    assert [panels.nth(index).is_visible() for index in range(3)] == [False, False, True]


def test_the_keyboard_goes_through_the_findings(visit):
    page = visit("scenarios")
    page.keyboard.press("j")
    assert focused(page) == "F1"
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert focused(page) == "F3"
    page.keyboard.press("k")
    assert focused(page) == "F2"
    details = page.locator("#F2 > details")
    was = details.evaluate("one => one.open")
    page.keyboard.press("Enter")
    assert details.evaluate("one => one.open") is not was
    page.keyboard.press("/")
    assert focused(page) == "search"
    page.keyboard.type("jk?/")
    assert page.input_value("#search") == "jk?/"
    page.keyboard.press("Escape")
    assert page.input_value("#search") == ""
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()


def test_the_keyboard_passes_over_what_is_filtered_out(visit):
    page = visit("scenarios")
    page.select_option("[data-filter=scenario]", "train")
    page.locator("h1").click()
    seen = []
    for _ in range(4):
        page.keyboard.press("j")
        seen.append(focused(page))
    assert seen == ["F1", "F2", "F3", "F5"]


def test_all_can_be_folded_and_unfolded(visit):
    page = visit("scenarios")
    opened = "all => all.filter(one => one.open).length"
    page.click("#fold")
    assert page.eval_on_selector_all(".finding > details", opened) == 0
    page.click("#fold")
    assert page.eval_on_selector_all(".finding > details", opened) == 5


def test_the_theme_follows_the_system_until_it_is_chosen(visit):
    background = "getComputedStyle(document.body).backgroundColor"
    light = visit("findings", color_scheme="light").evaluate(background)
    page = visit("findings", color_scheme="dark")
    dark = page.evaluate(background)
    assert light != dark
    page.click("#theme")
    assert page.inner_text("#theme") == "Theme: light"
    assert page.evaluate(background) == light
    page.reload()
    assert page.evaluate(background) == light
    page.click("#theme")
    page.emulate_media(color_scheme="light")
    assert page.evaluate(background) == dark


CONTRAST = """() => {
  const luminance = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const parse = text => text.match(/[0-9.]+/g).map(Number);
  const background = element => {
    for (let e = element; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] === 1) return c;
    }
  };
  const poor = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
    if (element.closest("svg, script")) continue;
    const [a, b] = [parse(getComputedStyle(element).color), background(element)].map(luminance);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) poor.push([element.className || element.tagName, walker.currentNode.data.trim(), ratio]);
  }
  return poor;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["scenarios", "failed", "cleared", "recompiling", "fixed"])
def test_all_text_has_the_contrast_of_wcag_aa(visit, name, scheme):
    page = visit(name, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert page.evaluate(CONTRAST) == []


@pytest.mark.parametrize("name", ["scenarios", "cleared"])
def test_the_titles_of_findings_stand_out(visit, name):
    page = visit(name)
    colors = page.eval_on_selector_all(
        ".finding .title, h1", "all => [...new Set(all.map(one => getComputedStyle(one).color))]"
    )
    assert len(colors) == 1


def test_every_control_has_a_name_and_a_visible_focus(visit):
    page = visit("scenarios")
    nameless = page.eval_on_selector_all(
        "button, select, input, a",
        "all => all.filter(e => !(e.textContent.trim() || e.ariaLabel)).map(e => e.outerHTML)",
    )
    assert nameless == []
    for _ in range(12):
        page.keyboard.press("Tab")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid", page.evaluate("document.activeElement.outerHTML")


def test_the_picture_has_words_for_those_who_do_not_see_it(visit):
    page = visit("findings")
    picture = page.get_by_role("group", name="Call 1: 356 ops in 4 graph runs, 45 ops in eager")
    names = picture.locator("[role=img]").evaluate_all(
        "all => all.map(one => one.getAttribute('aria-label'))"
    )
    assert names[:3] == [
        "graph of 26 ops, forward",
        "graph of 140 ops, GatedBlock.forward, resumed at line 22",
        "11 ops run in eager",
    ]
    widths = picture.locator("[role=img] > rect:first-of-type").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().width)"
    )
    assert widths[1] / widths[0] == pytest.approx(140 / 26, rel=0.02)


def test_without_javascript_everything_can_be_read(visit):
    page = visit("scenarios", java_script_enabled=False)
    for name in ("forward", "decode", "train"):
        assert page.get_by_role("heading", name=f"Scenario {name}").is_visible()
    for finding in samples.findings():
        assert page.locator(f"#{finding.id} summary").first.is_visible()
    assert page.locator("#F1 mark").first.is_visible()
    assert not page.locator("#filters").is_visible()
    assert not page.locator("#theme").is_visible()
    stack = page.locator("#F1 .more", has_text="Stack")
    assert not stack.locator("ol").is_visible()
    stack.locator("summary").click()
    assert stack.locator("ol").is_visible()
    assert page.locator("#F1 .stack .library").count() == 1


def test_a_location_can_be_copied(visit):
    page = visit("findings", permissions=["clipboard-read", "clipboard-write"])
    page.locator("#F1 .links .copy").click()
    page.locator("#F1 .links .copy", has_text="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == "src/gatednet/modeling_gatednet.py:22:12"


def test_paper_shows_every_finding_and_no_controls(visit):
    page = visit("thousand")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert not page.locator("#filters").is_visible()
    assert page.locator("#F900 .code").first.is_visible()


def test_paper_shows_every_scenario_under_its_name(visit):
    page = visit("scenarios")
    page.emulate_media(media="print")
    for name in ("forward", "decode", "train"):
        assert page.locator(".scenario-name", has_text=name).is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_a_thousand_findings_open_in_under_two_seconds(visit):
    began = time.monotonic()
    page = visit("thousand")
    page.wait_for_function("document.querySelector('#shown').textContent === '1000 of 1000'")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert time.monotonic() - began < 2
    began = time.monotonic()
    page.fill("#search", "tolist")
    page.wait_for_function("document.querySelector('#shown').textContent !== '1000 of 1000'")
    assert time.monotonic() - began < 1
    assert re.fullmatch(r"\d+ of 1000", page.inner_text("#shown"))


def test_the_patch_downloads_as_it_is(visit, tmp_path):
    page = visit("fixed")
    with page.expect_download() as caught:
        page.click("text=Download the patch")
    caught.value.save_as(tmp_path / "it.patch")
    assert (tmp_path / "it.patch").read_bytes() == samples.PATCH.encode()
    assert caught.value.suggested_filename.endswith(".patch")


def test_steps_show_their_verdicts_what_surfaced_and_what_was_checked(visit):
    page = visit("fixed")
    verdicts = page.locator("#steps .steps > li .fix h4 .tag").all_inner_texts()
    assert verdicts == ["proved", "proved under a condition"]
    first, second = page.locator("#steps .steps > li").all()
    assert "breaks 1 → 1, skipped frames 1 → 0, graphs 0 → 2, ops captured 0 % → 67 %" in first.inner_text()
    assert "came to light with it" in first.inner_text()
    assert "taken away by step 2" in first.inner_text()
    assert first.locator(".step-head a").get_attribute("href") == "#F1"
    assert first.get_by_role("link", name="step 2").get_attribute("href") == "#step-2"
    assert "If: The inputs do not have a NaN: there the gradients differ." in second.inner_text()
    second.locator("summary").first.click()
    checks = second.locator(".checks li").all_inner_texts()
    assert checks[-1] == "? same results through inductor: there is no C++ compiler"
    assert [text[0] for text in checks] == ["✓", "✓", "?"]
    assert page.inner_text("#steps .lead").startswith(
        "After 2 steps: one graph, no breaks, 100 % of ops captured"
    )


def test_added_and_removed_lines_are_told_apart_without_colour(visit):
    page = visit("fixed")
    lines = page.locator("#step-1 .diff > div.add").all_inner_texts()
    assert [line.strip("\n")[0] for line in lines] == ["+", "+"]
    assert page.locator("#step-1 .diff > div.del").count() == 1


def test_a_diff_can_be_copied_as_it_is(visit):
    from playwright.sync_api import expect

    page = visit("fixed", permissions=["clipboard-read", "clipboard-write"])
    button = page.locator("#step-1 .change .copy")
    button.click()
    expect(button).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == samples.PATCH
    expect(button).to_have_text("Copy")


def test_where_copying_is_forbidden_the_diff_is_selected(visit):
    from playwright.sync_api import expect

    page = visit("fixed")
    page.evaluate("void (navigator.clipboard.writeText = () => Promise.reject(new Error('no')))")
    button = page.locator("#step-1 .change .copy")
    button.click()
    expect(button).to_have_text("Selected")
    assert "is_compiling" in page.evaluate("getSelection().toString()")


def test_a_diff_shows_its_line_numbers_but_not_as_text(visit):
    page = visit("fixed", java_script_enabled=False)
    assert not page.locator("#step-1 .change .copy").is_visible()
    numbers = page.locator("#step-1 .diff i[data-number]")
    assert numbers.count() > 2
    assert numbers.first.inner_text() == ""
    assert numbers.first.bounding_box()["width"] > 10


def test_a_fix_that_did_not_hold_says_why_and_folds_its_change(visit):
    page = visit("fixed")
    text = page.inner_text("#F2 .fix")
    assert "did not hold" in text
    assert "same outputs: no, float32, now float64" in text
    assert page.locator("#F2 .fix .diff").is_hidden()


def test_the_settings_are_a_table_with_figures_and_reasons(visit):
    page = visit("fixed")
    rows = page.locator("table.knobs tbody tr").all()
    assert [row.get_attribute("class") for row in rows] == ["good", "", ""]
    cells = [row.locator("td").all_inner_texts() for row in rows]
    assert cells[0] == ["1 → 0", "1 → 0", "0 → 1", "0 % → 100 %", "yes"]
    assert cells[1][-1] == "no"
    assert cells[2] == ["RuntimeError: Data-dependent branching"]
    assert ["clears every break" in row.inner_text() for row in rows] == [True, False, False]


def test_on_a_narrow_screen_all_figures_of_a_setting_can_be_seen(visit):
    page = visit("fixed", viewport={"width": 360, "height": 800})
    boxes = [cell.bounding_box() for cell in page.locator("table.knobs tbody td").all()]
    assert len(boxes) == 11
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 360 for box in boxes)


def test_the_top_names_the_best_way_out(visit):
    text = visit("fixed").inner_text(".way-out")
    assert text.startswith("2 source fixes, some proved under a condition, make it compile without a break.")


def test_likely_breaks_are_apart_from_the_findings(visit):
    page = visit("fixed")
    assert page.locator("#likely li").count() == 1
    assert shown(page) == ["F1", "F2"]
