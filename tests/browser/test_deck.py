"""The offline page in a real Chromium: answered by hand, kept, saved, merged, and open to everyone."""

from __future__ import annotations

import json

import pytest

from course.cards.__main__ import main as command
from course.i18n import LANGUAGES, pick
from course.learning.bets import bet_of
from course.learning.log import AnswerLog, answer_log
from course.learning.marking import Response, mark
from course.markup import plain
from tests.browser.conftest import assert_open_to_all, languages, shoot
from tests.browser.deck_fixtures import bank, file, first, go_to, line, open_deck, reload, save, stored  # noqa: F401

BLOCKED = """Object.defineProperty(window, "localStorage", {
    get() { throw new DOMException("denied", "SecurityError"); } });"""


# --- a learner at work ---


@pytest.mark.parametrize("language", LANGUAGES)
def test_answered_with_the_mouse_every_option_explains_itself(bank, open_deck, language):
    item = first(bank, "single")
    page = open_deck(language)
    go_to(page, item.id)
    wrong = next(one for one in item.options if not one.correct)
    page.locator(".option").nth([one.id for one in item.options].index(wrong.id)).click()
    page.locator(".levels button").nth(2).click()
    said = page.locator("article").inner_text()
    for one in item.options:
        assert plain(pick(one.why, language)) in said
    assert plain(pick(bank.misconceptions()[wrong.misconception], language)) in said
    assert "🕳" in page.inner_text(".result h3") and wrong.id in page.inner_text(".result h3")
    assert page.evaluate("document.activeElement.id") == f"result--{item.id}"
    assert page.evaluate("document.documentElement.lang").startswith(language)
    entry = stored(page)[-1]
    assert (entry["event"], entry["item"], entry["options"], entry["confidence"], entry["verdict"]) == (
        "answer",
        item.id,
        [wrong.id],
        3,
        "incorrect",
    )


def test_answered_by_keyboard_alone_from_the_top_of_the_page(open_deck):
    page = open_deck()
    keys = page.keyboard
    keys.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    keys.press("Enter")
    keys.press("Enter")
    assert page.inner_text("#live") == "Choose an option first, then submit."
    keys.press("2")
    assert page.is_checked("[name=choice][value=b]")
    keys.press("ArrowDown")  # the arrows of a radio group stay its own
    assert page.is_checked("[name=choice][value=c]")
    keys.press("Enter")
    assert page.locator(".result").count() == 1 and stored(page)[-1]["confidence"] == 2
    keys.press("Enter")
    assert page.inner_text("#place").startswith("Card 2 of 8")
    assert page.evaluate("document.activeElement.id") == "place"
    keys.press("ArrowLeft")
    assert page.inner_text("#place").startswith("Card 1 of 8") and page.locator(".result").count() == 1
    keys.press("ArrowRight")
    keys.press("ArrowRight")
    assert page.inner_text("#place").startswith("Card 3 of 8")


def test_several_numbers_and_orders_by_keyboard(bank, open_deck):
    page = open_deck()
    many, number, order = (first(bank, kind) for kind in ("multiple", "number", "order"))
    go_to(page, many.id)
    page.locator(".option input").first.focus()
    for one in many.correct:
        page.keyboard.press(str([option.id for option in many.options].index(one) + 1))
    page.keyboard.press("Enter")
    assert stored(page)[-1]["verdict"] == "correct"
    go_to(page, number.id)
    page.focus("[id^=number--]")
    page.keyboard.type("nine")
    page.keyboard.press("Enter")
    assert "“nine” is not a number" in page.inner_text("#live")
    assert page.get_attribute("[id^=number--]", "aria-invalid") == "true"
    page.fill("[id^=number--]", f"{number.number.value:.15g}")
    page.keyboard.press("Enter")
    assert stored(page)[-1]["verdict"] == "correct" and stored(page)[-1]["number"] == number.number.value
    go_to(page, order.id)
    swapped = [order.order[1], order.order[0], *order.order[2:]]
    page.locator(".option").first.focus()
    for one in swapped:
        page.keyboard.press(str([option.id for option in order.options].index(one) + 1))
    page.focus(f"#up-{swapped[1]}--{order.id}")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == f"up-{swapped[1]}--{order.id}"
    page.locator(".levels button").nth(1).focus()
    page.keyboard.press("Enter")
    assert stored(page)[-1]["options"] == list(order.order) and stored(page)[-1]["verdict"] == "correct"


def test_progress_survives_a_reload_and_undo_takes_an_answer_back(open_deck):
    page = open_deck("zh")
    for _ in range(2):
        page.locator(".option").first.click()
        page.locator(".levels button").nth(1).click()
        page.locator("button.go[data-do=next]").click()
    assert "80 张卡片已答 2 张" in page.inner_text("#count").replace(
        str(page.evaluate("deck.items.filter(one => one.kind !== 'predict').length")), "80"
    )
    page.locator("[data-do=undo]").click()
    assert page.inner_text("#live") == "已撤销，可以重新作答。" and page.inner_text("#place").startswith("第 2 题")
    assert page.locator(".result").count() == 0
    reload(page)
    assert "已答 1 张" in page.inner_text("#count") and page.evaluate("view.language") == "zh"
    assert [one["event"] for one in stored(page)] == ["answer", "answer", "undo"]
    page.locator(".option").nth(1).click()
    page.locator(".levels button").first.click()
    page.locator("[data-do=again]").click()
    assert page.locator("[name=choice]:checked").count() == 0 and len(stored(page)) == 4


def test_saved_answers_merge_into_the_log_of_the_notebooks(bank, open_deck, tmp_path, capsys):
    page = open_deck()
    page.locator(".option").first.click()
    page.locator(".levels button").first.click()
    wager, chosen = first(bank, "predict"), first(bank, "predict").options[1].id
    go_to(page, wager.id)
    page.locator(".option").nth(1).click()
    page.locator(".levels button").nth(2).click()
    assert page.inner_text(".result h3") == "🎲 Your bet is locked."
    assert not any(plain(pick(one.why)) in page.inner_text("article") for one in wager.options)
    path = save(page, tmp_path)
    assert command(["merge", str(path)]) == 0 and "2 new" in capsys.readouterr().out
    entries = answer_log().entries()
    assert [entry.event for entry in entries] == ["answer", "bet"] and entries[0].confidence == 1
    assert entries[0].verdict == mark(bank[entries[0].item], Response(entries[0].options)).state
    assert bet_of(wager, entries).options == (chosen,) and answer_log().take_notices() == []
    assert path.read_bytes() == answer_log().path.read_bytes()
    reload(page)
    go_to(page, wager.id)
    assert page.locator(".levels").count() == 0, "a bet is locked for good"


def test_answers_of_the_notebooks_can_be_loaded(bank, open_deck, tmp_path):
    log = AnswerLog(tmp_path / "answers.jsonl")
    items = [item for item in bank.items() if item.kind == "single"][:2]
    for item in items:
        log.append("answer", item.id, options=item.correct, verdict="correct", confidence=2, lesson=item.lesson)
    log.undo(log.entries()[0])
    with open(log.path, "a", encoding="utf-8") as handle:
        handle.write(
            'half a line\n{"id":"n","time":"2030-01-01T00:00:00.000000Z","event":"new","item":"x","schema":9}\n'
        )
    page = open_deck()
    page.set_input_files("#file", log.path)
    page.get_by_text("New entries read from answers.jsonl: 4. Lines that are no answers: 1, left out.").wait_for()
    assert "1 of" in page.inner_text("#count")
    page.set_input_files("#file", log.path)
    page.get_by_text("New entries read from answers.jsonl: 0.").wait_for()
    assert '"schema":9' in save(page, tmp_path).read_text("utf-8")


def test_a_browser_that_keeps_nothing_says_so_and_still_works(open_deck, tmp_path):
    page = open_deck(script=BLOCKED)
    assert "This browser keeps nothing for this page" in page.inner_text("#live")
    page.locator(".option").first.click()
    page.locator(".levels button").first.click()
    assert page.locator(".result").count() == 1
    assert len(save(page, tmp_path).read_text("utf-8").splitlines()) == 1


def test_damaged_storage_is_set_aside_with_a_sentence(bank, open_deck):
    whole = json.dumps(line(bank.items()[0], 1, "correct"))
    lines = "{broken\n" + whole + "\n[1]\n"
    page = open_deck(
        script=f"""localStorage.setItem("torch-backends-course.answers", {json.dumps(lines)});
        localStorage.setItem("torch-backends-course.view", "nonsense");"""
    )
    assert page.inner_text("#live").startswith("Damaged lines among the stored answers: 2, set aside.")
    assert len(stored(page)) == 1 and page.evaluate("localStorage.getItem(ANSWERS + '.damaged')") == "{broken\n[1]"
    assert page.evaluate("new Answers('').notices") == [], "said once"


def test_nothing_due_and_the_end_of_a_sitting_are_said_kindly(bank, open_deck):
    page = open_deck()
    page.select_option("#lesson", "00_start")
    count = int(page.inner_text("#place").split(" of ")[1].split()[0])
    for _ in range(count):
        page.locator(".option").first.click()
        page.locator(".levels button").nth(1).click()
        page.locator("button.go[data-do=next]").click()
    assert page.inner_text("#place") == "Done for now"
    assert f"Answered in this sitting: {count}" in page.inner_text("main")
    assert "Coming later is fine too" in page.inner_text("main")
    reload(page)
    assert page.inner_text("#place") == "Nothing is due today" and page.input_value("#lesson") == "00_start"
    page.locator("[data-do=all]").click()
    assert page.inner_text("#place").startswith("Card 1 of")
    page.select_option("#show", "bets")
    shown = page.evaluate("queue")
    assert shown == [item.id for item in bank.items("00_start") if item.kind == "predict"]


# --- for everyone ---


@pytest.mark.parametrize("language", languages("zh"))
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_no_serious_fault_and_nothing_is_wider_than_the_screen(bank, open_deck, language, dark):
    page = open_deck(language, dark, width=360)

    def look(name):
        assert_open_to_all(page, name, colours_alone=dark)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, name
        shoot(page, f"deck-{name}-{language}-{'dark' if dark else 'light'}", full_page=True)

    page.evaluate("document.querySelector('details').open = true")
    look("start")
    for kind in ("single", "multiple", "number", "order", "predict"):
        go_to(page, first(bank, kind).id)
        if kind == "number":
            page.fill("[id^=number--]", "123456")
        else:
            page.locator(".option").first.click()
        if kind == "order":
            page.locator(".option").nth(1).click()
        look(f"{kind}-asked")
        page.locator(".levels button").nth(0).click()
        look(f"{kind}-answered")
    page.evaluate("at = queue.length; show()")
    look("end")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_knowledge_cards_turn_by_key_and_print_open(open_deck, language):
    from course.questions.knowledge import read

    page = open_deck(language, width=400)
    page.select_option("#show", "keep")
    cards = page.locator("#card details")
    assert cards.count() == len(read()[0])
    page.locator("#card summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("#card details[open]").count() == 1
    page.click("[data-do=turn]")
    assert page.locator("#card details[open]").count() == cards.count()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.emulate_media(media="print")
    assert not page.locator("header").is_visible() and page.locator("#card dl").first.is_visible()


@pytest.mark.parametrize("locale, language", [("zh-CN", "zh-CN"), ("en-GB", "en"), ("fr-FR", "en")])
def test_the_page_follows_the_language_of_the_browser(chromium, bank, tmp_path, locale, language):
    from course.cards.offline import build

    path = tmp_path / "deck.html"
    path.write_text(build(bank.items("00_start"), {}), "utf-8")
    context = chromium.new_context(locale=locale, offline=True)
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.lang") == language
    context.close()
