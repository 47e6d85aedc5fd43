"""The page of several targets."""

import pytest

from report import samples

pytestmark = pytest.mark.browser


def column(page, number):
    return page.locator(f"table.sortable tbody tr td:nth-child({number})").all_inner_texts()


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("name", samples.COLLECTIONS)
def test_opens_without_complaint_and_fits_the_screen(visit, name, width):
    page = visit(name, viewport={"width": width, "height": 800})
    assert page.locator("h1").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("window.pwned") is None


def test_the_table_sorts_by_text_and_by_number(visit):
    page = visit("several")
    assert column(page, 1) == ["first", "second", "third", "fourth"]
    head = page.get_by_role("button", name="Target")
    head.click()
    assert column(page, 1) == ["first", "fourth", "second", "third"]
    head.click()
    assert column(page, 1) == ["third", "second", "fourth", "first"]
    page.get_by_role("button", name="Findings").click()
    numbers = [int(text) for text in column(page, 3)]
    assert numbers == sorted(numbers)
    assert page.locator("th[aria-sort]").all_inner_texts() == ["Findings"]


def test_a_row_leads_to_its_target_whose_findings_unfold(visit):
    page = visit("several")
    page.get_by_role("link", name="fourth").click()
    assert page.evaluate("location.hash") == "#target-4"
    finding = page.locator("#target-4 .finding").first
    assert finding.get_attribute("id").startswith("4-")
    finding.locator("summary").first.click()
    assert finding.locator(".body").is_visible()
