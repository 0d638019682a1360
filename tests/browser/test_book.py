"""Protects who reads the book without a kernel or a network: its pages in both languages, its search, and the file to take home."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
from filelock import FileLock

import course
from course.core.i18n import LANGUAGES, pick, speaking
from course.core.markup import plain
from course.questions import messages
from course.questions.bank import load_bank
from course.verbs import state
from grader.book import pages
from tests.browser.conftest import assert_open_to_all, languages
from tests.conftest import ROOT, hurried

pytest.importorskip("sphinx")
LESSON = "05_cudnn_benchmark"
BET, QUESTION = "05-bet-race", "05-false-how"
WORDS = {"en": ("workspace", "Search", "You bet", "中文"), "zh": ("工作区", "搜索", "你押的是", "English")}
HEADINGS = """() => [...document.querySelectorAll('h1,h2,h3,h4,h5,h6,[role=heading]')].filter(one => one.checkVisibility())
  .map(one => Number(one.ariaLevel ?? one.tagName[1]))"""
IN_ROW = ".book-card[data-item='{}']"


def built(folder, lessons, executed="executed"):
    """The site of these lessons; what was executed for it is kept between runs, in the folder of this name."""
    from grader.book import site as book
    from grader.project import Project

    kept = ROOT / "build" / "book" / executed
    kept.mkdir(parents=True, exist_ok=True)
    (folder / "executed").symlink_to(kept)
    return book.build(Project(), folder, lessons or Project().lessons())


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The book of one lesson, which measures for some seconds alone; the processes of a run share it."""
    folder = tmp_path_factory.getbasetemp()
    folder = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "book"
    with FileLock(f"{folder}.lock"), pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "nbformat.read", lambda path, version: nbformat.reads(hurried(Path(path).read_text("utf-8")), version)
        )
        if not (folder / "book.zip").exists():
            folder.mkdir()
            built(folder, [LESSON], "hurried")
    return folder / "site"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return built(tmp_path_factory.mktemp("whole"), [])


@pytest.fixture
def open_page(chromium, request):
    """Open a page of ``site``, or of the book given, without a network: ``open_page("zh", "find", dark=True, width=390)``;
    nothing may fail or be asked for.
    """
    contexts, faults = [], []

    def opened(code, name, dark=False, width=1280, script=True, book="site"):
        context = chromium.new_context(
            viewport={"width": width, "height": 900},
            offline=True,
            color_scheme="dark" if dark else "light",
            java_script_enabled=script,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("request", lambda one: one.url.startswith(("file:", "data:", "blob:")) or faults.append(one.url))
        page.on(
            "requestfailed", lambda one: one.failure == "net::ERR_ABORTED" or faults.append(f"{one.url}: {one.failure}")
        )
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text))
        page.goto((request.getfixturevalue(book) / code / f"{name}.html").as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert faults == []


def stored(page):
    return [json.loads(line) for line in page.evaluate("answers.text()").splitlines()]


def reload(page):
    page.wait_for_timeout(400)  # the browser passes on what was stored
    page.reload()


def choose(radio) -> None:
    """Choose an option by the keyboard: a picture that loads above it moves the page away under a pointer."""
    radio.press("Space")
    assert radio.is_checked()


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_card_is_answered_in_the_page_and_found_again(open_page, code):
    item = load_bank()[QUESTION]
    page = open_page(code, LESSON, dark=code == "zh")
    card = page.locator(IN_ROW.format(QUESTION))
    card.locator(".levels button").first.click()
    assert card.locator(".said").inner_text() != "", "nothing chosen: a sentence, no answer"
    wrong = next(one for one in item.options if not one.correct)
    choose(card.locator(f"[value={wrong.id}]"))
    card.locator(".levels button").nth(2).click()
    assert plain(pick(wrong.why, code)) in card.inner_text()
    assert page.evaluate("document.activeElement.id") == f"result--{QUESTION}"
    entry = stored(page)[-1]
    assert (entry["item"], entry["options"], entry["confidence"], entry["verdict"]) == (
        QUESTION,
        [wrong.id],
        3,
        "incorrect",
    )
    reload(page)
    assert card.locator(".result.bad").count() == 1, "shown again"
    card.locator("[data-do=again]").click()
    card.locator(f"[value={item.correct[0]}]").focus()
    page.keyboard.press(str([one.id for one in item.options].index(item.correct[0]) + 1))
    page.keyboard.press("Enter")
    assert card.locator(".result.good").count() == 1 and len(stored(page)) == 2
    page.goto(page.url.replace(LESSON, "index"))
    assert stored(page)[-1]["verdict"] == "correct", "other pages of the book have it too"


@pytest.mark.one_of_each  # a page of the book, opened
@pytest.mark.parametrize("code", languages("zh"))
def test_a_bet_opens_the_result_with_the_bet_in_it(open_page, code):
    page = open_page(code, LESSON, dark=code == "en", width=1280 if code == "en" else 390)
    card, result = page.locator(IN_ROW.format(BET)), page.locator(f"details:has(template[data-item='{BET}'])")
    picture = result.locator(".tbr-pic img").first
    assert result.get_attribute("open") is None
    before = picture.get_attribute("src")
    card.locator(".option").nth(1).click()
    card.locator(".levels button").nth(1).click()
    assert result.get_attribute("open") is not None and picture.get_attribute("src") != before
    assert WORDS[code][2] in result.locator(".tbr-bet").inner_text()
    assert result.locator(".tbr-bet").count() == 1 and page.locator("details.book-result[open]").count() == 1
    themes = {theme: result.locator(f".tb-{theme}:visible").count() for theme in ("light", "dark")}
    assert themes == ({"light": 0, "dark": 1} if code == "en" else {"light": 1, "dark": 0})
    result.locator("img:visible").scroll_into_view_if_needed()
    page.wait_for_function(
        "document.querySelector('details[open] img').closest('.tbr').querySelectorAll('img').length > 1"
    )
    reload(page)
    assert result.get_attribute("open") is not None and WORDS[code][2] in result.inner_text()
    assert [one["event"] for one in stored(page)] == ["bet"]


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_first_page_opens_with_three_bets_of_one_tap_each(open_page, code):
    page = open_page(code, "index", dark=code == "zh", width=375 if code == "en" else 1280)
    cards, results = page.locator(".book-front .book-card"), page.locator(".book-front .book-result")
    assert_open_to_all(page, f"first page {code}")
    for place, one in enumerate(pages.BETS):
        card, result = cards.nth(place), results.nth(place)
        assert not result.is_visible()
        if place == 1:
            card.locator("[data-do=bet]").first.focus()
            page.keyboard.press("2")
        else:
            card.locator("[data-do=bet]").nth(1).click()
        assert page.evaluate("document.activeElement.className") == "tbr-head"
        result.locator("img:visible").first.scroll_into_view_if_needed()
        page.wait_for_function(
            "[...document.querySelectorAll('.book-front img')].some(one => one.checkVisibility() && one.complete)"
        )
        option = load_bank()[one].options[1]
        assert plain(pick(option.text, code)) in result.locator(".tbr-bet").inner_text()
        said = result.locator(".tbr-pic img:visible").get_attribute("alt")
        assert {"en": "your bet:", "zh": "你押："}[code] in said
    assert [(line["item"], line["options"], "confidence" in line) for line in stored(page)] == [
        (one, ["b"], False) for one in pages.BETS
    ]
    assert_open_to_all(page, f"first page {code}, three bets placed")
    assert_fits(page, 320)
    page.goto((page.url.rsplit("/", 1)[0]) + f"/{LESSON}.html")
    assert (
        page.locator(f"details.book-result:has(template[data-item='{pages.BETS[2]}'])").get_attribute("open")
        is not None
    )


@pytest.mark.parametrize("code", languages("zh"))
def test_search_finds_and_the_language_switch_leads_to_the_twin(open_page, code):
    wanted, search, _, other = WORDS[code]
    page = open_page(code, LESSON)
    page.get_by_role("link", name=f"🔍 {search}").first.click()
    page.get_by_role("searchbox").fill(wanted)
    hit = page.locator(f".book-hits a[href*='{LESSON}.html']").first  # the messages may name cuDNN, too
    assert page.locator(".book-hits mark", has_text=wanted).count() >= 2
    hit.click()
    page.wait_for_url(f"**/{code}/{LESSON}.html#*")
    assert wanted in page.locator("article[role=main]").inner_text()
    page.get_by_role("link", name=other, exact=True).first.click()
    twin = next(one for one in LANGUAGES if one != code)
    assert f"{twin}/{LESSON}.html" in page.url and page.evaluate("document.documentElement.lang").startswith(twin)


def assert_fits(page, width):
    """No part of the page lies beside a window of that width."""
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width, page.url
    page.set_viewport_size({"width": 1280, "height": 900})


@pytest.mark.parametrize("code", languages("en"))
def test_a_lesson_is_open_to_all_before_and_after_an_answer_and_fits_a_phone(open_page, code):
    for dark in (False, True):
        page = open_page(code, LESSON, dark)
        assert_open_to_all(page, f"{LESSON} {code}", colours_alone=dark)
        card = page.locator(answered := IN_ROW.format(QUESTION))
        card.locator(".option").first.click()
        card.locator(".levels button").first.click()
        assert_open_to_all(page, f"{LESSON} {code}, answered", answered, colours_alone=dark)
        assert_fits(page, 360)


@pytest.mark.long
@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("dark", [False, True])
def test_every_page_of_the_whole_book_is_open_to_all_and_fits_a_phone(open_page, whole, code, dark):
    page = open_page(code, "index", dark, book="whole")
    for path in sorted((whole / code).glob("*.html")):
        page.goto(path.as_uri())
        assert_open_to_all(page, f"{path.stem} {code}")
        assert_fits(page, 360)
        levels = page.evaluate(HEADINGS)
        assert levels.count(1) == 1 and all(after <= before + 1 for before, after in pairwise(levels)), (
            path.stem,
            levels,
        )
        assert page.locator("img:not([alt]), img[alt='']").count() == 0, path.stem


@pytest.mark.parametrize("code", LANGUAGES)
def test_without_script_everything_can_be_read(open_page, code):
    item = load_bank()[QUESTION]
    page = open_page(code, LESSON, script=False)
    said = page.locator(IN_ROW.format(QUESTION)).inner_text()
    assert all(plain(pick(one.text, code)) in said for one in item.options)
    result = page.locator("details.book-result").first
    result.locator("summary").first.click()
    assert result.locator(".tbr-head").is_visible()


# --- The book's search ranks: what a person types or pastes leads to the section that answers, in both languages. ---


TRACEBACK = """Traceback (most recent call last):
  File "/home/me/train.py", line 12, in <module>
    y = model(x)
RuntimeError: cuDNN error: {}
"""


QUERIES = [
    ("torch.backends.cudnn.benchmark = True", "cudnn.benchmark"),
    ("should I set benchmark=True", "cudnn.benchmark"),
    ("benchmark my GPU", "cudnn.benchmark"),
    ("4090", "CUFFT_INTERNAL_ERROR"),
    ("OMP_NUM_THREADS no effect", "OMP_NUM_THREADS"),
    ("cufft_plan_cache memory", "cuda.cufft_plan_cache.max_size"),
    (TRACEBACK.format("CUDNN_STATUS_EXECUTION_FAILED"), "CUDNN_STATUS_EXECUTION_FAILED"),
    (
        TRACEBACK.format("GET was unable to find an engine to execute this computation"),
        "GET was unable to find an engine",
    ),
    ("MPS backend out of memory (MPS allocated: 3.40 GB, other allocations: 1.2 GB)", "MPS backend out of memory"),
    ("RNN backward training mode LSTM eval", "cudnn RNN backward"),
]
"""What is typed or pasted, and a part of the heading that it leads to."""


@pytest.mark.parametrize("code", LANGUAGES)
def test_what_is_typed_or_pasted_leads_to_its_section(open_page, code):
    """A message pasted with a traceback comes first, or second, where another message lies in it."""
    page = open_page(code, "find")

    def headings(query):
        return [row[3] for row in page.evaluate("query => ranked(query)", query)["found"]]

    for query, heading in QUERIES:
        assert any(heading in one for one in headings(query)[:5]), (query, headings(query)[:8])
    late = {}
    for one in messages.read().values():
        found = headings(TRACEBACK.format(one.says[0].replace(messages.VARIES, "abc")))
        said = messages.letters(one.says[0])
        if messages.VARIES not in one.says[0] and not any(said in messages.letters(heading) for heading in found[:2]):
            late[one.id] = found[:3]
    assert late == {}


# --- The one file to take home in a real Chromium without a network: for everyone, in each language, light and dark, and on paper. ---


@pytest.mark.parametrize("language", languages("zh"))
def test_it_follows_the_system_fits_a_phone_and_opens_for_the_printer(fresh_page, tmp_path, monkeypatch, language):
    monkeypatch.setattr(state, "now", state.State())
    monkeypatch.setenv("COURSE_TEXT", "1")
    with speaking(language):
        course.take_home(tmp_path / "mine.html")
    page, faults = fresh_page, []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text))
    page.goto((tmp_path / "mine.html").as_uri())
    assert page.evaluate("document.documentElement.lang").startswith(language)
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        assert_open_to_all(page, theme, colours_alone=theme == "dark")
    page.set_viewport_size({"width": 360, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details.ask:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details.ask[open]").count() == 0
    assert faults == []
