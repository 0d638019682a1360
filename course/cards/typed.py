"""Answering by typing: ``answer`` writes the same log entry as a click on the card. Its text is made from the HTML (``core.plain_text``).

For screen readers, terminals, notebooks without widgets, and whoever prefers typing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable

from course.cards.render import body_html, told_html
from course.core.i18n import t
from course.core.plain_text import text_of
from course.learning.bets import asked_again
from course.learning.entry import now
from course.learning.log import AnswerLog, answer_log
from course.learning.marking import Response, confidence_of
from course.learning.reporting import not_yet, report
from course.learning.session import (
    AnswerError,
    NotAttempted,
    another,
    current_variant,
    earlier,
    one_line,
    parse_number,
    record,
    submit,
)
from course.learning.sheet import AnswerSheet, current_sheet
from course.questions.bank import Bank, default_bank
from course.questions.items import Item

Answer = str | int | float | list | tuple


def text_mode() -> bool:
    """Whether cards are to be text: COURSE_TEXT=1, no ipywidgets, or no notebook kernel."""
    if os.environ.get("COURSE_TEXT", "0") not in ("", "0"):
        return True
    try:
        import ipywidgets  # noqa: F401
        from IPython import get_ipython
    except ImportError:
        return True
    return getattr(get_ipython(), "kernel", None) is None


def parse_response(
    item: Item, answers: tuple[Answer, ...], confidence: int | str | None, because: str = ""
) -> Response:
    """The Response of a typed answer: option ids ("b", or "b", "d", or "b, d", or "bd"), their places from 1, or
    a number.
    """
    sure = None if confidence is None else confidence_of(confidence)
    if confidence is not None and sure is None:
        raise AnswerError(
            t(
                "confidence is 1 (a guess), 2 (fairly sure) or 3 (certain).",
                "confidence 只能是 1（猜的）、2（比较有把握）或 3（很确定）。",
            )
        )
    if item.kind == "number":
        if len(answers) != 1:
            raise AnswerError(t(f'Give one number: answer("{item.id}", 3)', f'请给出一个数字：answer("{item.id}", 3)'))
        typed = str(answers[0]).strip()
        return Response((), parse_number(typed) if typed else None, sure, because)
    return Response(tuple(_letters(item, answers)), None, sure, because)


def _letters(item: Item, answers: Iterable[Answer]) -> list[str]:
    """The option ids named, in order; what names none stays as it is, for the sentence about it."""
    places = {str(place): one.id for place, one in enumerate(item.options, 1)}
    known, found = set(places.values()), []
    for one in answers:
        if isinstance(one, (list, tuple)):
            found += _letters(item, one)
            continue
        for word in re.split(r"[\s,，、]+", str(one).strip().lower()):
            found += [places[word]] if word in places else list(word) if set(word) <= known else [word]
    return found


def answer(
    item_id: str,
    *options: Answer,
    confidence: int | str | None = None,
    because: str = "",
    log: AnswerLog | None = None,
    bank: Bank | None = None,
    sheet: AnswerSheet | None = None,
    write: Callable[[str], None] = print,
) -> None:
    """Answer a question in text: ``answer("05-revisit", "b")``, ``answer("05-resnet-keys", 20)``.

    Writes the log entry (or, for a checkpoint question, the answer sheet) that a click on the card writes,
    and prints the same feedback. because: your own reason, one line. Without options it prints the question.
    A mistake in the call is answered by a sentence.
    """
    log, bank = log or answer_log(), bank or default_bank()
    try:
        item = asked_again(current_variant(bank[item_id], log), log.entries(), now())
        if not options:
            write(text_of(body_html(another(item, log) if earlier(item, log) else item)))
            return
        response = parse_response(item, options, confidence, one_line(str(because)))
        if item.checkpoint:
            write(record(item, response, sheet or current_sheet(), log))
        else:
            verdict = submit(item, response, log)
            write(text_of(told_html(report(item, response, verdict, bank.misconceptions()))))
    except (AnswerError, LookupError, ValueError) as error:
        write(f"{not_yet()} {error}" if isinstance(error, NotAttempted) else str(error))
    for notice in log.take_notices():
        write(notice)
