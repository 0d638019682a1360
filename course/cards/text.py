"""The text twin of every card: the question as text, and ``answer`` writing the same log entry as a click.

For screen readers, terminals, notebooks without widgets, and whoever prefers typing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable

from course.core.i18n import pick, t
from course.core.markup import plain
from course.learning.bets import asked_again
from course.learning.entry import now
from course.learning.log import AnswerLog, answer_log
from course.learning.marking import Response, confidence_of
from course.learning.numbers import parse_number
from course.learning.reporting import Report, not_yet, report
from course.learning.session import (
    AnswerError,
    NotAttempted,
    another,
    current_variant,
    earlier,
    one_line,
    record,
    submit,
)
from course.learning.sheet import AnswerSheet, current_sheet
from course.questions.bank import Bank, default_bank
from course.questions.items import Item
from course.questions.wording import PAIR, call_text, pairs, task_words, title_words

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


def card_text(item: Item, response: Response | None = None, listed: bool = False) -> str:
    """The question as plain text: stem, code, options (unless they are listed below it), how to answer."""
    parts = [f"[{item.id}] {title_words(item)} · {task_words(item)}", plain(pick(item.stem))]
    if item.code:
        parts.append("\n".join("    " + line for line in pick(item.code).strip("\n").splitlines()))
    if item.kind == "spoken" and response is None:  # its criteria would give the answer away
        call = f'`interview("{item.id}", reveal=True)`'
        return "\n\n".join([*parts, plain(t(f"Say it aloud, then {call}.", f"先说出声，再运行 {call}。"))])
    if item.options and not listed:
        parts.append("\n".join(_option_lines(item)))
    if item.number:
        parts.append(t(f"Unit: {plain(pick(item.number.unit))}", f"单位：{plain(pick(item.number.unit))}"))
    if response:
        parts.append(t("Your answer: ", "你的答案：") + response.words)
    how = t("Answer with:", "作答方式：")
    sure = t(
        "add confidence=1 (guess), 2 (fairly sure) or 3 (certain) if you like",
        "可加 confidence=1（猜的）、2（比较有把握）或 3（很确定）",
    )
    if not item.checkpoint:
        sure += t('; and because="...", your reason in one line', '；还可加 because="..."，写一句你的理由')
    return "\n\n".join([*parts, f"{how} {call_text(item)}\n  ({sure})"])


def _option_lines(item: Item) -> list[str]:
    lines = []
    for group in pairs(item):
        lines += [f"  {pick(PAIR)}"] * (len(group) > 1)
        lines += [f"  {one}) {plain(pick(item.option(one).text))}" for one in group]
    return lines


def report_text(found: Report) -> str:
    """The whole feedback as plain text."""
    lines = [found.headline, *map(plain, found.messages)]
    for one in found.lines:
        state = f"  <- {one.state}" if one.state else ""
        lines += ["", f"  {one.label}) {plain(one.text)}{state}", *([f"     {plain(one.why)}"] if one.why else [])]
        if one.belief:
            lines.append(t(f"     The belief behind it: {plain(one.belief)}", f"     背后的想法：{plain(one.belief)}"))
    if found.next_step:
        lines += ["", plain(found.next_step)]
    if found.because:
        lines += ["", plain(found.because)]
    return "\n".join(lines)


def parse_response(
    item: Item, answers: tuple[Answer, ...], confidence: int | str | None, because: str = ""
) -> Response:
    """The Response of a typed answer: option ids ("b", or "b", "d", or "b, d", or "bd"), their places from 1, or
    a number.
    """
    sure = _confidence(confidence)
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


def _confidence(value: int | str | None) -> int | None:
    if value is None:
        return None
    level = confidence_of(value)
    if level is None:
        raise AnswerError(
            t(
                "confidence is 1 (a guess), 2 (fairly sure) or 3 (certain).",
                "confidence 只能是 1（猜的）、2（比较有把握）或 3（很确定）。",
            )
        )
    return level


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
    """Answer a question in text: ``answer("05-revisit", "b")``, ``answer("03-vgg", 15.5e9)``.

    Writes the log entry (or, for a checkpoint question, the answer sheet) that a click on the card writes,
    and prints the same feedback. because: your own reason, one line. Without options it prints the question.
    A mistake in the call is answered by a sentence.
    """
    log, bank = log or answer_log(), bank or default_bank()
    try:
        item = asked_again(current_variant(bank[item_id], log), log.entries(), now())
        if not options:
            write(card_text(another(item, log) if earlier(item, log) else item))
            return
        response = parse_response(item, options, confidence, one_line(str(because)))
        if item.checkpoint:
            write(record(item, response, sheet or current_sheet(), log))
        else:
            verdict = submit(item, response, log)
            write(report_text(report(item, response, verdict, bank.misconceptions())))
    except (AnswerError, LookupError, ValueError) as error:
        write(f"{not_yet()} {error}" if isinstance(error, NotAttempted) else str(error))
    for notice in log.take_notices():
        write(notice)
