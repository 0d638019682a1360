"""Protects who answers cards: every kind by mouse and by keys, in both languages, light and dark; habits; several cards in a cell; an
interview question said, uncovered and rated, by keyboard.
"""

from __future__ import annotations

import shutil

import pytest

from course.cards.render import SHEET
from course.core.i18n import pick
from course.core.look import COLOURS
from course.core.markup import plain
from course.learning.log import AnswerLog
from course.questions.bank import Bank
from tests.browser.conftest import Notebook, assert_colours_hold, assert_open_to_all, comes_to, languages
from tests.browser.on_page import CardOnPage, cards, items, write_cards

WORDS = {
    "en": {
        "recorded": "Recorded at",
        "kept": "Recorded earlier",
        "locked": "Your bet is locked",
        "fresh": "A fresh try",
        "empty": "Not answered yet",
        "again": "Try again",
    },
    "zh": {
        "recorded": "已记录（",
        "kept": "之前已记录",
        "locked": "赌注已锁定",
        "fresh": "重新作答",
        "empty": "还没有作答",
        "again": "再答一次",
    },
}


def explained(card: CardOnPage, language: str, words: dict[str, str]) -> None:
    """The feedback says what this kind of card has to say."""
    item = card.item
    if item.checkpoint:
        card.wait_told(words["recorded"])
        return
    if item.kind == "predict":
        card.wait_told(words["locked"])
        return
    card.bar.get_by_text(words["again"]).wait_for()
    fold = card.feedback.locator("summary")
    for one in fold.all():  # what is not in sight is one press away
        one.click()
    told = card.told()
    for one in fold.all():
        one.click()
    for text in [one.why for one in item.options] or [item.number.why]:
        assert plain(pick(text, language))[:12] in told, (item.id, told)
    status = card.feedback.locator("[role=status]")
    assert status.get_attribute("aria-live") == "polite" and status.inner_text().strip()


def answer_all(book: Notebook, language: str, choose: str) -> None:
    """Answer every card, by mouse or by keys."""
    for card in cards(book):
        card.box.scroll_into_view_if_needed()
        getattr(card, choose)()
        if choose == "choose_by_mouse":
            card.box.locator("button.tbq-go").nth(2).click()
        else:
            card.to(".tbq-go")
            book.page.keyboard.press("Tab")
            book.page.keyboard.press("Enter")
        explained(card, language, WORDS[language])


@pytest.mark.parametrize("language", languages("zh"))
def test_every_kind_of_card(page, lab, language):
    lab.forget()
    words = WORDS[language]
    book = Notebook(page, lab, write_cards(lab, language)).open()
    book.run_all()
    nothing_to_hand_in(next(cards(book)), words)
    assert_open_to_all(page, "before answering", ".tbq")
    assert_colours_hold(page, "before answering", ".tbq")
    answer_all(book, language, "choose_by_mouse")
    assert_open_to_all(page, "after answering", ".tbq")
    assert_colours_hold(page, "after answering", ".tbq")

    told = {card.item.id: card.told() for card in cards(book)}
    book.restart_and_run_all()
    for card in cards(book):
        card.wait_told(words["kept"] if card.item.checkpoint else told[card.item.id].splitlines()[1])
        assert card.item.checkpoint or card.told() == told[card.item.id]
    given = AnswerLog(lab.folder / "home" / "answers.jsonl").entries()
    assert [entry.item for entry in given] == [item.id for item in items()]

    lab.forget()
    book.restart_and_run_all()
    answer_all(book, language, "choose_by_keys")
    for card in cards(book):
        if not card.item.checkpoint and card.item.kind != "predict":
            start_afresh_by_keys(card, words)
    assert len(AnswerLog(lab.folder / "home" / "answers.jsonl").entries()) == len(items())


def nothing_to_hand_in(card: CardOnPage, words: dict[str, str]) -> None:
    """An empty answer has a verdict of its own and is not written down."""
    card.box.locator("button.tbq-go").first.click()
    card.wait_told(words["empty"])


def start_afresh_by_keys(card: CardOnPage, words: dict[str, str]) -> None:
    """The button that was pressed opens the card again; nothing is chosen then."""
    card.bar.get_by_text(words["again"]).focus()
    card.page.keyboard.press("Enter")
    card.wait_told(words["fresh"])
    assert card.box.locator(".tbq-chosen, .tbq-right, .tbq-wrong").count() == 0
    assert card.item.kind != "number" or card.first_control().input_value() == ""


# --- What people do to cards: double clicks, typing while a cell runs, and the same notebook open twice on one page. ---


ITEM = "05-why-flip"
NUMBER = "05-resnet-keys"
LOADING = """() => {
  window.loading = 0;
  const look = () => window.loading += [...document.querySelectorAll('.jp-OutputArea-child')].filter(one =>
    one.checkVisibility() && one.innerText.includes('Loading widget')).length;
  new MutationObserver(look).observe(document.body, {childList: true, subtree: true});
}"""


@pytest.fixture
def book(page, lab):
    lab.forget()
    cards = [f"practice({one!r})" for one in (ITEM, NUMBER)]
    name = lab.write("habits.ipynb", "from course.cards.cards import Card as practice", *cards)
    opened = Notebook(page, lab, name).open()
    opened.run_all()
    return opened


@pytest.mark.one_of_each  # a card, answered in JupyterLab
def test_what_is_typed_while_a_cell_runs_is_handed_in_whole(page, lab, book):
    card = page.locator(f".tbq-live-{NUMBER}")
    field, submit = card.locator(".tbq-number input"), card.locator("button.tbq-go").nth(2)
    book.tell_kernel("import time; time.sleep(3)")
    field.focus()
    page.keyboard.type("64", delay=40)
    for _ in range(10):
        page.keyboard.press("Tab")
        if submit.evaluate("button => document.activeElement === button"):
            break
    page.keyboard.press("Enter")
    card.get_by_text("Try again").wait_for()
    (given,) = AnswerLog(lab.folder / "home" / "answers.jsonl").entries()
    assert given.item == NUMBER and given.number == 64, "later letters do not come after the press"


def test_double_clicks_and_a_second_notebook(page, lab, book):
    card = page.locator(f".tbq-live-{ITEM}")
    card.locator("button.tbq-opt").first.dblclick()
    card.locator(".tbq-chosen").first.wait_for()
    book.rested()
    assert card.locator(".tbq-chosen").count() == 1, "the second click does not take the choice back"
    card.locator("button.tbq-go").nth(1).dblclick()
    card.get_by_text("Try again").wait_for()
    book.rested()
    assert card.locator(".tbq-lines li").count() > 2, "the second click does not wipe the feedback away"
    assert len(AnswerLog(lab.folder / "home" / "answers.jsonl").entries()) == 1
    card.get_by_text("Try again").click()
    card.get_by_text("A fresh try").wait_for()

    book.save()
    shutil.copy(lab.work / "habits.ipynb", lab.work / "habits-too.ipynb")
    saved = page.locator(f".tbq-static-{ITEM}")
    assert saved.count() == 1 and not saved.is_visible(), "the live card stands for its copy"
    page.evaluate(LOADING)
    book.command("docmanager:open", '{path: "habits-too.ipynb", factory: "Notebook", options: {mode: "split-right"}}')
    page.wait_for_function(f"document.querySelectorAll('.tbq-static-{ITEM}').length == 2")
    shown = [False, True]  # a notebook not run shows its saved cards
    comes_to(page, lambda: [one.is_visible() for one in saved.all()], shown)
    assert page.evaluate("window.loading") == 0, "no widget that loads was seen above a saved card"


# --- The cards of one cell: one open, the others folded to a line; by mouse, by keys, after a restart, without a kernel. ---


IDS = ("05-why-flip", "05-bet-price", "05-resnet-keys", "05-key-members")
RIGHT = {"en": "✓ right", "zh": "✓ 正确"}


class Deck:
    """The cards of the one cell on the page."""

    def __init__(self, book: Notebook) -> None:
        self.book, self.page = book, book.page
        self.boxes = [book.page.locator(f".tbq-live-{one}").first for one in IDS]

    def opened(self) -> list[bool]:
        """Of each card whether it shows more than its line."""
        return [box.locator(".tbq-bar").is_visible() for box in self.boxes]

    def line(self, place: int):
        return self.boxes[place].locator("summary.tbq-head")

    def comes_open(self, *wanted: int) -> None:
        """Exactly these cards are open."""
        comes_to(self.page, self.opened, [place in wanted for place in range(len(IDS))])


@pytest.mark.parametrize("language", languages("zh"))
def test_one_card_is_open_and_the_next_opens_once_it_is_answered(page, lab, language):
    lab.forget()
    calls = f'review("{IDS[0]}")\npredict("{IDS[1]}")\nreview(*{IDS[2:]!r})'
    name = lab.write(f"folding.{language}.ipynb", f'from course import *\nlanguage("{language}")', calls)
    book = Notebook(page, lab, name).open()
    book.run_all()
    deck, bank = Deck(book), Bank()
    deck.comes_open(0)
    gist = plain(pick(bank[IDS[3]].stem, language)).split("\n")[0]
    assert gist[:20] in deck.line(3).inner_text()
    assert_open_to_all(page, "folded", ".tbq")
    assert_colours_hold(page, "folded", ".tbq")

    item = bank[IDS[0]]
    deck.boxes[0].locator("button.tbq-opt").nth([one.id for one in item.options].index(item.correct[0])).click()
    deck.boxes[0].locator("button.tbq-go").nth(1).click()
    deck.comes_open(0, 1)
    book.rested()

    deck.line(3).focus()  # one further down, by keys
    page.keyboard.press("Enter")
    deck.comes_open(0, 1, 3)
    assert deck.line(3).evaluate("line => line === document.activeElement"), "the focus stays"
    page.keyboard.press("Tab")
    assert deck.boxes[3].evaluate("box => box.contains(document.activeElement)"), "its parts follow its line"
    book.restart_and_run_all()
    deck.comes_open(1)
    assert RIGHT[language] in deck.line(0).inner_text()
    page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.restartKernel()")
    book.started()
    deck.line(3).click()
    deck.boxes[3].locator("button.tbq-opt").first.wait_for()
    assert deck.boxes[3].locator(".tbq-dead").is_visible(), "without a kernel it opens, and says so"


# --- The style sheets outside JupyterLab: the marks by which Colab, VS Code and the system tell their theme. ---


PLACES = [  # html tag, body tag, what the system prefers, whether the card is to be dark
    ("<html>", '<body data-jp-theme-light="true">', "dark", False),
    ("<html>", '<body data-jp-theme-light="false">', "light", True),
    ('<html theme="dark">', "<body>", "light", True),
    ('<html theme="light">', "<body>", "dark", False),
    ("<html>", '<body class="vscode-light">', "dark", False),
    ("<html>", '<body class="vscode-dark">', "light", True),
    ("<html>", '<body class="vscode-high-contrast">', "light", True),
    ("<html>", '<body class="vscode-high-contrast vscode-high-contrast-light">', "dark", False),
    ("<html>", "<body>", "light", False),
    ("<html>", "<body>", "dark", True),
]


def test_the_look_follows_the_place(fresh_page):
    page = fresh_page
    for html, body, system, dark in PLACES:
        page.emulate_media(color_scheme=system)
        page.set_content(f"<!doctype html>{html}<head>{SHEET}</head>{body}<div class='tbq'>text</div></body></html>")
        shown = page.evaluate("""() => { const style = getComputedStyle(document.querySelector('.tbq'));
                                         return [style.backgroundColor, style.color, style.borderRadius]; }""")
        expected = page.evaluate(
            """([bg, fg]) => [bg, fg].map(colour => { const probe = document.createElement('i');
            probe.style.color = colour; document.body.append(probe); return getComputedStyle(probe).color; })""",
            [COLOURS[name][dark] for name in ("paper", "fg")],
        )
        assert shown == [*expected, "14px"], (html, body, system)


# --- An interview question in a real JupyterLab, by keyboard alone: nothing is given away, then the answers, the criteria, the rating. ---


@pytest.mark.parametrize("language", languages("en"))
def test_said_uncovered_and_rated_by_keyboard(page, lab, language):
    lab.forget()
    item = Bank().interview()[0]
    name = lab.write(f"interview.{language}.ipynb", f'from course import *\nlanguage("{language}")', "interview()")
    Notebook(page, lab, name).open().run_all()
    box = page.locator(f".tbq-live-{item.id}").first
    box.locator("button.tbq-go:visible").first.wait_for()
    criterion = plain(pick(item.options[0].text, language))
    assert plain(pick(item.stem, language)) in box.inner_text() and criterion not in box.inner_text()
    box.locator("button.tbq-go:visible").first.focus()
    page.keyboard.press("Enter")
    box.get_by_text(criterion).first.wait_for()
    assert plain(pick(item.full[0], language))[:40] in box.inner_text()
    for place in range(len(item.correct)):
        box.locator("button.tbq-opt").nth(place).focus()
        page.keyboard.press("Enter")
    box.locator(".tbq-sure button").nth(1).focus()
    page.keyboard.press("Enter")
    box.locator(".tbq-verdict").wait_for()
    entry = AnswerLog(lab.folder / "home" / "answers.jsonl").entries()[-1]
    assert (entry.item, entry.options, entry.verdict, entry.confidence) == (item.id, item.correct, "correct", 2)
