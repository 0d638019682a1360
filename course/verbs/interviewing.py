"""The verb ``interview``: a question to answer aloud, the model answers, and the learner's own rating."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from course.cards.card_spoken import criteria_html, model_html
from course.cards.page import page
from course.core.i18n import pick, t
from course.core.markup import plain
from course.learning.entry import Entry
from course.learning.review import timetable
from course.questions.bank import Bank
from course.questions.interview import Spoken
from course.verbs import state
from course.verbs.experiments import new_card
from course.verbs.say import in_words, put, say


@in_words
def interview(*item_ids: str, count: int = 1, reveal: bool = False) -> None:
    """Show interview questions: those named, else the next ``count``, due ones first.

    reveal: print the model answers and the criteria, for learners who type (a card has a button for it).
    """
    if not isinstance(count, int) or count < 1:
        say(
            t(
                "`count` is a number of questions, for example `interview(count=3)`.",
                "`count` 是题数，例如 `interview(count=3)`。",
            )
        )
        return
    entries, bank = state.now.log.entries(), state.now.bank
    now = datetime.now().astimezone()
    for item_id in item_ids or following(entries, bank, now, count):
        item = bank[item_id]
        if not isinstance(item, Spoken):
            call = f'`review("{item_id}")`'
            say(
                t(
                    f"`{item_id}` is no interview question; show it with {call}.",
                    f"`{item_id}` 不是面试题；请用 {call} 显示它。",
                )
            )
        elif reveal:
            put(page("🎤 " + plain(pick(item.stem)), model_html(item), criteria_html(item)))
        else:
            shown = new_card(item)
            shown.reopen()
            shown.show()


def following(entries: Iterable[Entry], bank: Bank, now: datetime, count: int = 1) -> list[str]:
    """Ids of the questions to ask at ``now`` (aware): those due, then those never asked, then those due soonest."""
    questions = {one.id: one for one in bank.interview()}
    met = {one.item: one.due for one in timetable(entries, bank) if one.item in questions}
    due = [item for item, when in met.items() if when <= now]  # longest overdue first, as the timetable is
    fresh = [item for item in questions if item not in met]
    return list(dict.fromkeys([*due, *fresh, *met]))[:count]
