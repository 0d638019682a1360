"""The verb ``interview``: a question to answer aloud, the model answers, and the learner's own rating."""

from __future__ import annotations

from datetime import datetime

from course.cards.page import page
from course.core.i18n import pick, t
from course.core.markup import plain
from course.learning.interviewing import criteria_html, following, model_html, where_words
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
    if not item_ids:
        say(where_words(entries, bank, now))
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
