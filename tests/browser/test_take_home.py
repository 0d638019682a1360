"""The one file to take home in a real Chromium without a network: for everyone, in each language, light and dark, and on paper."""

from __future__ import annotations

import pytest

import course
from course.core.i18n import LANGUAGES, speaking
from course.verbs import state
from tests.browser.conftest import assert_open_to_all, shoot


@pytest.mark.parametrize("language, theme", zip(LANGUAGES, ("dark", "light"), strict=True))
def test_it_follows_the_system_fits_a_phone_and_opens_for_the_printer(chromium, tmp_path, monkeypatch, language, theme):
    monkeypatch.setattr(state, "now", state.State())
    monkeypatch.setenv("COURSE_TEXT", "1")
    with speaking(language):
        course.take_home(tmp_path / "mine.html")
    context = chromium.new_context(viewport={"width": 1100, "height": 900}, offline=True, color_scheme=theme)
    page, asked, faults = context.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text))
    page.goto((tmp_path / "mine.html").as_uri())
    assert page.evaluate("document.documentElement.lang").startswith(language)
    assert_open_to_all(page, theme)
    shoot(page, f"take-home-{language}-{theme}")
    page.set_viewport_size({"width": 360, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details.ask:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details.ask[open]").count() == 0
    context.close()
    assert faults == [] and all(url.startswith(("file:", "data:")) for url in asked)
