"""The verbs that show question cards (practice, bets, causes, the daily review), and ``answer``, which answers by typing."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from course.cards.typed import answer as answer_in_text
from course.core.i18n import t
from course.learning.bets import asked_again, returns
from course.learning.entry import now
from course.learning.review import due, greeting, plan
from course.questions.items import Item
from course.verbs import state
from course.verbs.experiments import new_card
from course.verbs.say import in_words, say


def _as_due(item_id: str) -> Item:
    """The item; a lost bet that has come back is a question about what was measured."""
    return asked_again(state.now.bank[item_id], state.now.log.entries(), now())


@in_words
def review(*item_ids: str, due: int | None = None) -> None:
    """Flashcards: the items named, with the answer given before and a button to try again; else the daily review of all
    lessons.

    due: only a warm-up of at most so many cards, from the lessons before this one.
    """
    if item_ids:
        for item_id in item_ids:
            new_card(_as_due(item_id)).show()
    elif due is None:
        daily()
    elif not isinstance(due, int) or due < 1:
        say(t("`due` is a number of cards, for example `review(due=3)`.", "`due` 是卡片张数，例如 `review(due=3)`。"))
    else:
        warm(due)


@in_words
def predict(item_id: str) -> None:
    """A bet: it locks when placed and is settled by its experiment."""
    item = state.now.bank[item_id]
    if item.kind != "predict":
        say(
            t(
                f'`{item_id}` is not a bet; show it with `review("{item_id}")`.',
                f'`{item_id}` 不是赌注；请用 `review("{item_id}")` 显示它。',
            )
        )
        return
    new_card(item).show()


@in_words
def explain(item_id: str) -> None:
    """After an experiment: which cause fits? The same card as ``review(item_id)`` shows."""
    review(item_id)


@in_words
def answer(item_id: str, *options: str | int | float, confidence: int | str | None = None, because: str = "") -> None:
    """Answer any card by typing: ``answer("05-revisit", "b", because="...")`` or ``answer("05-resnet-keys", 20)``.

    because: your reason, one line.
    """
    answer_in_text(
        item_id,
        *options,
        confidence=confidence,
        because=because,
        log=state.now.log,
        bank=state.now.bank,
        sheet=state.now.sheet,
    )


# --- the daily review ---


def _now() -> datetime:
    """This moment in the learner's own time zone, so that days are the learner's days."""
    return datetime.now().astimezone()


def daily() -> None:
    """The cards due today, whatever lesson is being read."""
    found = plan(state.now.log.entries(), state.now.bank, _now())
    say(*greeting(found, _now()))
    _show_in_turn(found.items)


def warm(at_most: int) -> None:
    """At most so many cards to start a lesson with: lost bets that have come back, then concepts that are due."""
    entries, bank, lesson = state.now.log.entries(), state.now.bank, state.now.lesson
    bets = [one.item for one in returns(entries, bank, lesson) if one.due <= _now()]
    items = list(dict.fromkeys([*bets, *due(entries, bank, _now(), lesson)]))[:at_most]
    if not items:
        say(
            t(
                "Nothing from earlier lessons is due. Go on; the cards you answer will come back here.",
                "没有到期的复习卡。继续往下学吧，你答过的卡片会按时回到这里。",
            )
        )
    _show_in_turn(items)


def _show_in_turn(item_ids: Iterable[str]) -> None:
    """The cards, each asking anew; on a page one is open, and the next opens when it is answered (see ``course.cards.deck``)."""
    for item_id in item_ids:
        card = new_card(_as_due(item_id))
        card.reopen()
        card.show()
