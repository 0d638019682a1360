"""The one file to take home in a real Chromium without a network: for everyone, in both languages and themes, and on paper."""

from __future__ import annotations

import re
import zlib

import pytest

import course
from course.core.catalog import LESSONS
from course.core.i18n import LANGUAGES, set_language
from course.flags import GROUPS, SWITCHES
from course.verbs import state
from course.verbs.portfolio.poster import Entry
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


def test_a_cheat_sheet_fits_the_two_sides_of_one_sheet_of_paper(page):
    for language in LANGUAGES:
        page.evaluate(f"language('{language}')")
        heights = page.evaluate(
            f"Object.fromEntries([...document.querySelectorAll('#{language}-sheets .tbp-sheet')].map("
            "one => [one.querySelector('h3 code').textContent, one.getBoundingClientRect().height]))"
        )
        assert len(heights) == len(GROUPS)
        assert {name for name, height in heights.items() if not 0 < height <= 2 * SIDE} == set()


def test_printed_it_has_no_empty_page_and_two_a_lesson_at_most(page):
    for language in LANGUAGES:
        page.evaluate(f"language('{language}'), dispatchEvent(new Event('beforeprint'))")
        drawn = page_contents(page.pdf(prefer_css_page_size=True))
        assert 10 < len(drawn) <= 2 * len(LESSONS), language
        assert min(map(len, drawn)) > 2000, "a page with hardly a word on it"


def page_contents(pdf: bytes) -> list[bytes]:
    """What is drawn on each page of a PDF that Chromium made."""
    found = []
    for place in re.findall(rb"/Type /Page\n.*?/Contents (\d+) 0 R", pdf, re.DOTALL):
        stream = re.search(rb"\n" + place + rb" 0 obj\n.*?stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
        found.append(zlib.decompress(stream[1]))
    return found


def test_the_map_is_one_page_in_type_that_can_be_read(page):
    for language in LANGUAGES:
        page.evaluate(f"language('{language}')")
        section = page.locator(f"#{language}-map")
        assert section.locator(".wide").is_hidden() and section.bounding_box()["height"] < 0.95 * SIDE
        names = section.locator(".paper-map li").all_inner_texts()
        for switch in SWITCHES.values():
            assert any(Entry(switch).name in one for one in names), switch.name
        points = section.locator(".paper-map code").evaluate_all(
            "all => Math.min(...all.map(one => parseFloat(getComputedStyle(one).fontSize))) * 72 / 96"
        )
        assert points >= 7


def test_on_paper_the_backs_of_the_cards_are_there_at_once(page):
    """A card opened for the printer does not turn first: paper shows the first moment of an animation, and there it is blank."""
    seen = page.evaluate(
        "dispatchEvent(new Event('beforeprint')), "
        "[...document.querySelectorAll('main:not([hidden]) .tbk details > div')].map(one => getComputedStyle(one).opacity)"
    )
    assert len(seen) > 40 and set(seen) == {"1"}
