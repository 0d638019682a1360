"""The one file to take home in a real Chromium without a network: for everyone, in both languages and themes, and on paper."""

from __future__ import annotations

import pytest

import course
from course.i18n import LANGUAGES, set_language
from course.verbs import state
from tests.browser.conftest import SHOTS
from tests.conftest import missing

pytestmark = pytest.mark.browser


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setattr(state, "now", state.State())
    monkeypatch.setenv("COURSE_TEXT", "1")
    monkeypatch.chdir(tmp_path)
    set_language("en")
    course.take_home("mine.html")
    return tmp_path / "mine.html"


def test_it_speaks_both_languages_follows_both_themes_and_opens_for_the_printer(chromium, file):
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        missing("axe-playwright-python", "python -m pip install axe-playwright-python -c constraints.txt")
    context = chromium.new_context(viewport={"width": 1100, "height": 900}, offline=True, color_scheme="dark")
    page, asked, faults = context.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text))
    page.goto(file.as_uri())
    SHOTS.mkdir(parents=True, exist_ok=True)

    def look(name):
        found = Axe().run(page).response["violations"]
        assert [
            (one["id"], node["html"])
            for one in found
            if one["impact"] in ("serious", "critical")
            for node in one["nodes"]
        ] == [], name
        page.screenshot(path=str(SHOTS / f"take-home-{name}.png"))

    assert page.evaluate("document.documentElement.getAttribute('theme')") == "dark"  # as the system
    for language, theme in zip(LANGUAGES, ("dark", "light"), strict=True):
        page.locator(f"[data-speak={language}]").focus()
        page.keyboard.press("Enter")
        page.locator(f"[data-language={language}] [data-theme={theme}]").click()
        assert page.evaluate("document.documentElement.lang").startswith(language)
        assert page.locator("main:visible").count() == 1
        look(f"{language}-{theme}")
    page.set_viewport_size({"width": 360, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.evaluate("theme(shown = 'dark'); dispatchEvent(new Event('beforeprint'))")
    assert page.locator("main:visible details.ask:not([open])").count() == 0
    assert page.evaluate("document.documentElement.getAttribute('theme')") == "light"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.documentElement.getAttribute('theme')") == "dark"
    assert page.locator("main:visible details.ask[open]").count() == 0
    context.close()
    assert faults == [] and all(url.startswith(("file:", "data:")) for url in asked)


def test_a_sheet_of_a_well_known_submodule_fits_one_page_of_paper(chromium, file):
    context = chromium.new_context(
        viewport={"width": 718, "height": 1062}, offline=True
    )  # A4 within its margins, at 96 dpi
    page = context.new_page()
    page.goto(file.as_uri())
    page.emulate_media(media="print")
    heights = page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('#en-sheets .tbp-sheet')].map("
        "one => [one.querySelector('h3 code').textContent, one.getBoundingClientRect().height]))"
    )
    context.close()
    assert {name: heights[f"torch.backends.{name}"] <= 1062 for name in ("cudnn", "mps", "mkldnn")} == {
        "cudnn": True,
        "mps": True,
        "mkldnn": True,
    }
