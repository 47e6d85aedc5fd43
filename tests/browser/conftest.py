"""A real Chromium, and pages in it that report what they should not do."""

import os
import shutil

import pytest

from breakfinder.report.render import render
from report import samples


@pytest.fixture(scope="session")
def chromium():
    names = ("chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("BREAKFINDER_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if path is None:
        message = "no Chromium: install one, or name it in BREAKFINDER_CHROMIUM"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def report_file(tmp_path_factory):
    """The page of a sample, as a file; the text may be changed before it is written."""
    folder = tmp_path_factory.mktemp("pages")

    def write(name, change=lambda html: html, suffix=""):
        path = folder / f"{name}{suffix}.html"
        if not path.exists():
            path.write_text(
                change(render((samples.ALL | samples.COLLECTIONS)[name](), "html")), encoding="utf-8"
            )
        return path

    return write


@pytest.fixture
def visit(chromium, report_file):
    """Opens a sample's page.  At the end, no page may have complained or asked for anything."""
    faults, contexts = [], []

    def open_page(name, fragment="", **options):
        options.setdefault("viewport", {"width": 1280, "height": 900})
        context = chromium.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        url = report_file(name).as_uri()

        def request(route):
            if route.request.url.split("#")[0] == url:
                route.continue_()
            else:
                faults.append(f"request: {route.request.url}")
                route.abort()

        context.route("**/*", request)
        page.on("console", lambda message: faults.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: faults.append(f"error: {error}"))
        page.on("dialog", lambda dialog: faults.append(f"dialog: {dialog.message}"))
        page.goto(url + fragment)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert faults == []
