"""The one file to take home in a real Chromium without a network: for everyone, in both languages and themes, and on paper."""

from __future__ import annotations

import pytest

import course
from course.core.i18n import LANGUAGES, set_language
from course.verbs import state
from tests.browser.conftest import assert_open_to_all, shoot

SIDE = 1054
"""A4 within its margins, in px at 96 dpi."""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("taken")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(state, "now", state.State())
        patch.setenv("COURSE_TEXT", "1")
        patch.setenv("COURSE_HOME", str(folder / "home"))
        patch.chdir(folder)
        set_language("en")
        course.take_home("mine.html")
    return folder / "mine.html"


@pytest.fixture
def page(chromium, file):
    """The file as it is printed, on a page of the size of paper, offline."""
    context = chromium.new_context(
        viewport={"width": 718, "height": SIDE}, offline=True, reduced_motion="no-preference"
    )
    page = context.new_page()
    page.goto(file.as_uri())
    page.emulate_media(media="print")
    yield page
    context.close()


def test_it_speaks_both_languages_follows_both_themes_and_opens_for_the_printer(chromium, file):
    context = chromium.new_context(viewport={"width": 1100, "height": 900}, offline=True, color_scheme="dark")
    page, asked, faults = context.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text))
    page.goto(file.as_uri())

    def look(name):
        assert_open_to_all(page, name)
        shoot(page, f"take-home-{name}")

    for language, theme in zip(LANGUAGES, ("dark", "light"), strict=True):
        page.emulate_media(color_scheme=theme)
        page.locator(f"[data-speak={language}]").focus()
        page.keyboard.press("Enter")
        assert page.evaluate("document.documentElement.lang").startswith(language)
        assert page.locator("main:visible").count() == 1
        look(f"{language}-{theme}")
    page.set_viewport_size({"width": 360, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("main:visible details.ask:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("main:visible details.ask[open]").count() == 0
    context.close()
    assert faults == [] and all(url.startswith(("file:", "data:")) for url in asked)


def test_on_paper_the_backs_of_the_cards_are_there_at_once(page):
    """A card opened for the printer does not turn first: paper shows the first moment of an animation, and there it is blank."""
    seen = page.evaluate(
        "dispatchEvent(new Event('beforeprint')), "
        "[...document.querySelectorAll('main:not([hidden]) .tbk details > div')].map(one => getComputedStyle(one).opacity)"
    )
    assert len(seen) > 40 and set(seen) == {"1"}
