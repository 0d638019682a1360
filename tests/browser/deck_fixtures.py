"""The offline page opened without a network, and what a test does with it."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone

import pytest

from course.cards.offline import build
from course.questions.bank import load_bank
from course.questions.knowledge import read

NOW = datetime(2026, 3, 20, 12, tzinfo=timezone.utc)


@pytest.fixture(scope="module")
def bank():
    return load_bank()


@pytest.fixture(scope="module")
def file(bank, tmp_path_factory):
    path = tmp_path_factory.mktemp("deck") / "deck.html"
    path.write_text(build(bank.items(), bank.misconceptions(), "en", read()[0].values()), "utf-8")
    return path


@pytest.fixture
def open_deck(chromium, file):
    """Open the page without a network: ``open_deck(language="zh", dark=True, width=390, script="...")``."""
    contexts = []

    def opened(language="en", dark=False, width=390, script=None):
        context = chromium.new_context(
            viewport={"width": width, "height": 850},
            offline=True,
            color_scheme="dark" if dark else "light",
            timezone_id="Europe/Berlin",
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.asked, page.faults = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("pageerror", lambda error: page.faults.append(str(error)))
        page.on("console", lambda message: page.faults.append(message.text))
        if script:
            page.add_init_script(script)
        page.goto(file.as_uri())
        if language != "en":
            page.click(f"[data-language={language}]")
        return page

    yield opened
    for context in contexts:
        assert all(page.faults == [] for page in context.pages)
        assert all(url.startswith(("file:", "blob:")) for page in context.pages for url in page.asked)
        context.close()


def go_to(page, item_id):
    page.select_option("#show", "all")
    page.evaluate("id => { at = queue.indexOf(id); draw(); }", item_id)


def reload(page):
    """Load the page again, after the browser had a moment to pass on what was stored."""
    page.wait_for_timeout(400)
    page.reload()


def first(bank, kind):
    return next(item for item in bank.items() if item.kind == kind)


def stored(page):
    return [json.loads(line) for line in page.evaluate("answers.text()").splitlines()]


def save(page, folder):
    """Press “Save my answers” and return the file."""
    with page.expect_download() as download:
        page.click("#export")
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def line(item, days_ago, verdict, confidence=2, **more):
    moment = (NOW - timedelta(days=days_ago)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return {
        "id": f"{item.id} {days_ago}",
        "time": moment,
        "event": "answer",
        "item": item.id,
        "verdict": verdict,
        "confidence": confidence,
        "options": ["a"],
        **more,
    }
