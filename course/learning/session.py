"""Handles an answer given on a card or typed: check it, mark it, write it to the log or the answer sheet."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from course.core.i18n import t
from course.core.tables import clip
from course.core.verdict import Verdict
from course.learning.bets import bet_of
from course.learning.entry import LONGEST_REASON, Entry
from course.learning.log import AnswerLog
from course.learning.marking import Response, mark, mark_bet, response_of
from course.learning.sheet import AnswerSheet
from course.questions.items import Item, redrawn


class AnswerError(ValueError):
    """The answer cannot be accepted; the message, in the learner's language, says what to do instead."""


class NotAttempted(AnswerError):
    """Nothing was answered yet; nothing is written to the log."""


def validate(item: Item, response: Response) -> Response:
    """Check that the response fits the kind of the item, and return it. Raises AnswerError with the next step otherwise."""
    if item.kind == "number":
        if response.number is None:
            raise NotAttempted(t("Type a number first, for example 3 or 2.5e6.", "请先输入一个数字，例如 3 或 2.5e6。"))
        return response
    known = [one.id for one in item.options]
    if strange := [one for one in response.options if one not in known]:
        raise AnswerError(
            t(
                f"There is no option {clip(', '.join(strange))}; the options are {', '.join(known)}.",
                f"没有选项 {clip('、'.join(strange))}；可选的是 {'、'.join(known)}。",
            )
        )
    if not response.options:
        raise NotAttempted(t("Choose an option first, then submit.", "请先选择，再提交。"))
    if item.kind in ("single", "predict") and len(response.options) > 1:
        raise AnswerError(t("Choose exactly one option.", "本题只能选一项。"))
    if len(set(response.options)) != len(response.options):
        raise AnswerError(t("An option is named twice; name each one once.", "有选项重复了，每个选项只写一次。"))
    return response


def entries_of(item: Item, log: AnswerLog, events: Sequence[str]) -> list[Entry]:
    """The entries of one item with one of those events, oldest first."""
    return [entry for entry in log.entries() if entry.item == item.id and entry.event in events]


def earlier(item: Item, log: AnswerLog) -> Response | None:
    """The last answer to an item, or the bet on it; None where there is none, where it no longer fits the item, or where it
    was given to another variant.
    """
    if item.kind == "predict":
        bet = bet_of(item, log.entries())
        return response_of(bet) if bet else None
    found = entries_of(item, log, ("answer",))
    if not found or (found[-1].variant or "") != item.seed:
        return None
    try:
        return validate(item, response_of(found[-1]))
    except AnswerError:  # the item has changed since
        return None


_facing: dict[tuple[Path, str], str] = {}


def current_variant(item: Item, log: AnswerLog) -> Item:
    """The variant of a practice question that the learner sees: the one shown last in this kernel, else the one answered
    last. An item without variants is returned unchanged.
    """
    if not item.varies or item.checkpoint:
        return item
    given = entries_of(item, log, ("answer",))
    seed = _facing.get((log.path, item.id), (given[-1].variant or "") if given else "")
    return remember_variant(redrawn(item, seed), log)


def another(item: Item, log: AnswerLog) -> Item:
    """The next variant of a practice question, with other numbers. The seed "" is followed by "again 1", then "again 2"."""
    if not item.varies or item.checkpoint:
        return item
    turn = item.seed.removeprefix("again ")
    return remember_variant(redrawn(item, f"again {int(turn) + 1 if turn.isdecimal() else 1}"), log)


def remember_variant(item: Item, log: AnswerLog) -> Item:
    """Store which variant the learner sees, so that a typed answer belongs to it; returns the item."""
    _facing[log.path, item.id] = item.seed
    return item


def submit(item: Item, response: Response, log: AnswerLog) -> Verdict:
    """Mark a practice answer and write it to the log. A bet goes to ``place_bet``. Raises AnswerError."""
    if item.kind == "predict":
        return place_bet(item, response, log)
    verdict = mark(item, validate(item, response))
    more = {"verdict": verdict.state, "points": verdict.points, "variant": item.seed}
    _write(log, "answer", item, response, because=one_line(response.because), **more)
    return verdict


def _write(log: AnswerLog, event: str, item: Item, response: Response, **more: Any) -> None:
    """Append a response to the log."""
    log.append(
        event,
        item.id,
        options=response.options,
        number=response.number,
        confidence=response.confidence,
        lesson=item.lesson,
        **more,
    )


def record(item: Item, response: Response, sheet: AnswerSheet | None, log: AnswerLog) -> str:
    """Write a checkpoint answer to the answer sheet and to the log; returns the sentence to show. Raises AnswerError."""
    if sheet is None or sheet.checkpoint != item.lesson:
        raise AnswerError(
            t(
                f'Run the first cell of this checkpoint first: checkpoint("{item.lesson}").',
                f'请先运行本测验的第一个单元格：checkpoint("{item.lesson}")。',
            )
        )
    if not sheet.asks(item):
        raise AnswerError(
            t(
                f'This card belongs to another paper. Run its cell again: question("{item.id}").',
                f'这张卡片属于另一份试卷。请重新运行它的单元格：question("{item.id}")。',
            )
        )
    validate(item, response)
    moment = sheet.record(item.id, response)
    _write(log, "answer", item, response)
    given = response.words
    sentences = [
        t(
            f"Recorded at {moment:%H:%M:%S}: {given}. You can change it until you hand in.",
            f"已记录（{moment:%H:%M:%S}）：{given}。交卷前都可以修改。",
        ),
        *sheet.take_notices(),
    ]
    return " ".join(sentences)


def one_line(because: str) -> str:
    """A learner's reason in the form of the log: on one line, at most LONGEST_REASON characters."""
    return " ".join(because.split())[:LONGEST_REASON]


def place_bet(item: Item, response: Response, log: AnswerLog) -> Verdict:
    """Lock a bet and write it to the log. Raises AnswerError when one is locked already."""
    validate(item, response)
    if (bet := bet_of(item, log.entries())) is not None:
        raise AnswerError(
            t(
                f"Your bet is locked: {response_of(bet).words}. It cannot be changed any more.",
                f"你的赌注已锁定：{response_of(bet).words}，不能再改。",
            )
        )
    _write(log, "bet", item, response, because=one_line(response.because))
    return mark_bet(item, response, None)


_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]*)?")


def parse_number(text: str) -> float:
    """The number typed: 3, 2.5e6, 1,234,567, full-width digits.

    Raises AnswerError otherwise, also for nan, inf, and a comma before decimals (0,125).
    """
    clean = unicodedata.normalize("NFKC", str(text)).strip().replace("_", "").replace(" ", "").replace("−", "-")
    if _THOUSANDS.fullmatch(clean):
        clean = clean.replace(",", "")
    try:
        value = float(clean)
        if value - value == 0:
            return value
    except ValueError:
        pass
    shown = clip(text)
    raise AnswerError(
        t(
            f"“{shown}” is not a number. Write for example 3, 0.25 or 2.5e6, with a point for decimals.",
            f"“{shown}”不是数字。请写成 3、0.25 或 2.5e6 这样的形式，小数点用“.”。",
        )
    )
