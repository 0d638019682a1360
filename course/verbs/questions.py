"""The verbs that show question cards (practice, bets, causes, checkpoints), and ``answer``, which answers by typing."""

from __future__ import annotations

import os

from course.cards.text import answer as answer_in_text
from course.core import catalog
from course.core.i18n import t
from course.learning.bets import asked_again
from course.learning.embedded_questions import embedded_questions
from course.learning.entry import now
from course.learning.sheet import AnswerSheet, saved_notebooks
from course.questions.items import Item
from course.verbs import colab_notice, reviewing, state, student_id
from course.verbs.experiments import new_card
from course.verbs.lessons import speak
from course.verbs.say import if_validated, in_words, say


def _item(item_id: str, kind: str | None = None) -> Item | None:
    """The item; or None after a sentence, where the verb does not fit its kind."""
    item = state.now.bank[item_id]
    if kind == "predict" and item.kind != "predict":
        say(
            t(
                f'`{item_id}` is not a bet; show it with `review("{item_id}")`.',
                f'`{item_id}` 不是赌注；请用 `review("{item_id}")` 显示它。',
            )
        )
        return None
    return item


def _show(item: Item, sheet: AnswerSheet | None = None) -> None:
    """Display the card."""
    new_card(item, sheet).show()


def _as_due(item: Item) -> Item:
    """The item; a lost bet that has come back is a question about what was measured."""
    return asked_again(item, state.now.log.entries(), now())


@in_words
def review(*item_ids: str, due: int | None = None) -> None:
    """Flashcards: the items named, with the answer given before and a button to try again; else the daily review of all
    lessons.

    due: only a warm-up of at most so many cards, from the lessons before this one.
    """
    if item_ids:
        for item_id in item_ids:
            item = _item(item_id)
            if item is not None:
                _show(_as_due(item))
    elif due is None:
        reviewing.daily(lambda item_id: new_card(_as_due(state.now.bank[item_id])))
    elif not isinstance(due, int) or due < 1:
        say(t("`due` is a number of cards, for example `review(due=3)`.", "`due` 是卡片张数，例如 `review(due=3)`。"))
    else:
        reviewing.warm(due, lambda item_id: new_card(_as_due(state.now.bank[item_id])))


@in_words
def predict(item_id: str) -> None:
    """A bet: it locks when placed and is settled by its experiment."""
    item = _item(item_id, "predict")
    if item is not None:
        _show(item)


@in_words
def explain(item_id: str) -> None:
    """After an experiment: which cause fits? The same card as ``review(item_id)`` shows."""
    review(item_id)


@in_words
def answer(item_id: str, *options: str | int | float, confidence: int | str | None = None, because: str = "") -> None:
    """Answer any card by typing: ``answer("05-revisit", "b", because="...")`` or ``answer("03-vgg16", 15.5e9)``.

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


@in_words
def checkpoint(lesson_id: str, language: str | None = None, paper: str = "") -> None:
    """Start a checkpoint: shows the answer sheet, which fills as you answer.

    paper: is written in checkpoints in which each student has other numbers; leave it as it is.
    """
    if not speak(language):
        return
    items, tasks, notices = embedded_questions(saved_notebooks(lesson_id), lesson_id)
    if not items and (lesson_id not in catalog.BY_ID or not catalog.BY_ID[lesson_id].checkpoint):
        say(t(f"There is no checkpoint `{lesson_id}`.", f"没有名为 `{lesson_id}` 的测验。"))
        return
    state.now.lesson = lesson_id
    if items:
        state.now.bank.embed(lesson_id, items)
    state.now.tasks = tasks
    for notice in (*notices, *colab_notice.before_answering()):
        say(notice)
    ids = [item.id for item in state.now.bank.items(lesson_id, checkpoint=True)]
    sheet = state.now.sheet = colab_notice.open_answers(lesson_id, ids)
    sheet.salt = paper
    if paper and (known := os.environ.get("JUPYTERHUB_USER") or sheet.last_student):
        student_id.use_student(known)
    sheet.show()
    if paper and not sheet.student:
        student_id.ask()
    for notice in (
        *colab_notice.to_hand_in(state.now.sheet),
        *state.now.sheet.take_notices(),
        *state.now.log.take_notices(),
    ):
        say(notice)


@in_words
def question(item_id: str) -> None:
    """A checkpoint question: your answer is recorded, without right or wrong, and can be changed."""
    item = _item(item_id)
    if item is None:
        return
    if not item.checkpoint:
        say(
            t(
                f'`{item_id}` is a practice card; show it with `review("{item_id}")`.',
                f'`{item_id}` 是练习卡片；请用 `review("{item_id}")` 显示它。',
            )
        )
        return
    if state.now.sheet is None:
        say(
            t(
                f'Run the first cell of this checkpoint first: `checkpoint("{item.lesson}")`.',
                f'请先运行这个测验的第一个单元格：`checkpoint("{item.lesson}")`。',
            )
        )
        return
    if state.now.sheet.asks(item):
        _show(item, state.now.sheet)
    else:
        say(student_id.question())
    if state.now.sheet.own(item) is None:
        if_validated(t(f"{item_id}: not answered yet.", f"{item_id}：尚未作答。"))
