"""Marking: an item and a response give a verdict, points and reasons. Pure functions on plain data.

Practice items contain their key; a checkpoint item needs ``items.with_key`` first. No answer of a learner raises an
exception: an option id that the item does not have counts as a wrong choice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from course.core.i18n import LANGUAGES, Text, both, pick
from course.core.verdict import Verdict
from course.learning.entry import Entry
from course.questions.items import Item, Number, Trap, within

CONFIDENCE = {1: both("a guess", "猜的"), 2: both("fairly sure", "比较有把握"), 3: both("certain", "很确定")}

SENTENCES: dict[str, Text] = {
    "not_answered": both("Not answered yet.", "还没有作答。"),
    "one_asked": both("More than one option was chosen, and one is asked for.", "选了不止一项，而本题只能选一项。"),
    "right_option": both("That is the right option.", "选对了。"),
    "other_right": both("{right} is right, {chosen} was chosen.", "正确答案是 {right}，你选的是 {chosen}。"),
    "hits": both(
        "Right options chosen: {hits} of {total}. Wrong ones: {wrong}; each takes one back.",
        "{total} 个正确选项选中了 {hits} 个，错选 {wrong} 个；每个错选抵消一个正确选项。",
    ),
    "exactly": both("Exactly the right options.", "全部选对，没有多选。"),
    "not_a_number": both("The answer is not a number.", "答案不是数字。"),
    "right_number": both("That number is right.", "这个数字正确。"),
    "too_large_by": both("Too large by a factor of about {times}.", "偏大，大约差了 {times} 倍。"),
    "too_small_by": both("Too small by a factor of about {times}.", "偏小，大约差了 {times} 倍。"),
    "far_too_large": both("Too large by a factor of more than a million.", "偏大，差了一百万倍以上。"),
    "far_too_small": both("Too small by a factor of more than a million.", "偏小，差了一百万倍以上。"),
    "too_large": both("Too large.", "偏大。"),
    "too_small": both("Too small.", "偏小。"),
    "in_place": both("Every line is in its place.", "每一行都在正确的位置。"),
    "placed": both(
        "{placed} of {total} lines stand in the right order relative to each other.",
        "{total} 行中有 {placed} 行的相对顺序正确。",
    ),
    "strange": both(
        "Lines that do not belong: {list}. Each takes one back.", "有 {count} 行不该出现：{list}；每行抵消一行。"
    ),
    "lines_missing": both("Lines missing: {count}.", "缺少 {count} 行。"),
}
"""What marking says, also on a page of the book (``course/cards/offline.py``)."""


def _say(key: str, **values: Any) -> Text:
    """A sentence with its values; a list as each language joins it."""
    joined = {"en": ", ", "zh": "、"}
    return {
        code: text.format(**{k: joined[code].join(v) if isinstance(v, tuple) else v for k, v in values.items()})
        for code, text in SENTENCES[key].items()
    }


def confidence_of(said: object) -> int | None:
    """A typed confidence as 1, 2 or 3. Accepts the number, "guess", "fairly", "certain", or the words of either language; None
    for anything else.
    """
    words = {pick(text, code): level for level, text in CONFIDENCE.items() for code in LANGUAGES}
    return {**words, "guess": 1, "fairly": 2, "1": 1, "2": 2, "3": 3}.get(str(said))


@dataclass(frozen=True)
class Response:
    """An answer. options: ids (for order items in the chosen order). confidence: 1, 2, 3. because: the learner's own reason,
    one line, "" for none.
    """

    options: tuple[str, ...] = ()
    number: float | None = None
    confidence: int | None = None
    because: str = ""

    @property
    def empty(self) -> bool:
        """Whether nothing was answered."""
        return not self.options and self.number is None

    @property
    def words(self) -> str:
        """The answer itself, such as "b", "c, a, d" or "3"; empty for no answer."""
        return ", ".join(self.options) or ("" if self.number is None else f"{self.number:.10g}")


def response_of(entry: Entry) -> Response:
    """The response that an entry holds."""
    return Response(entry.options, entry.number, entry.confidence, entry.because or "")


class OptionFeedback(NamedTuple):
    """The feedback on one option. right: None where no key decides (a bet before its experiment)."""

    option: str
    chosen: bool
    right: bool | None
    why: Text


def mark(item: Item, response: Response) -> Verdict:
    """The verdict on ``response``, out of ``item.points``.

    multiple: (right chosen - wrong chosen) / right ones, at least 0. order: (longest run in the right
    relative order - lines that do not belong) / lines, at least 0. predict: inconclusive until ``mark_bet``.
    number: all or nothing. spoken: the learner's own rating, criteria met / criteria; below half it is incorrect.
    Raises ValueError when the item carries no key.
    """
    if item.kind == "predict":
        return mark_bet(item, response, None)
    if not item.keyed:
        raise ValueError(f"{item.id} carries no key: merge one in with with_key(item, key)")
    if response.empty or (item.kind == "number") != (response.number is not None):
        return _verdict(item, 0.0, _say("not_answered"), state="not attempted")
    kinds = {"single": _single, "multiple": _multiple, "number": _number, "order": _order, "spoken": _spoken}
    return kinds[item.kind](item, response)


def mark_bet(item: Item, response: Response, settled: str | None) -> Verdict:
    """The verdict on a bet. settled: the option that the experiment named; None where there is no result."""
    if response.empty:
        return _verdict(item, 0.0, both("No bet was placed.", "还没有下注。"), state="not attempted")
    if settled is None:
        return _verdict(
            item,
            0.0,
            both(
                f'Run `observe("{item.experiment}")` to settle it.', f'运行 `observe("{item.experiment}")` 揭晓结果。'
            ),
            state="inconclusive",
            bet=response.options,
        )
    won = response.options[:1] == (settled,)
    message = (
        both("The measurement agrees with the bet.", "测量结果与你的预测一致。")
        if won
        else both(
            f"The measurement came out as {settled}, the bet was on {response.options[0]}.",
            f"测量结果是 {settled}，你押的是 {response.options[0]}。",
        )
    )
    return _verdict(item, float(won), message, bet=response.options, settled=settled)


def _verdict(item: Item, share: float, *messages: Text, state: str | None = None, **evidence: object) -> Verdict:
    """Verdict for a share of the points, rounded to a hundredth of a point."""
    points = item.points if share == 1 else math.floor(share * item.points * 100 + 0.5) / 100
    state = state or ("correct" if share == 1 else "partly" if points > 0 else "incorrect")
    return Verdict(state, points, item.points, messages, dict(evidence))


def _single(item: Item, response: Response) -> Verdict:
    chosen = tuple(dict.fromkeys(response.options))
    if len(chosen) > 1:
        return _verdict(item, 0.0, _say("one_asked"), chosen=chosen)
    right = chosen[0] in item.correct
    message = _say("right_option") if right else _say("other_right", right=item.correct[0], chosen=chosen[0])
    return _verdict(item, float(right), message, chosen=chosen)


def _multiple(item: Item, response: Response) -> Verdict:
    chosen = set(response.options)
    hits, wrong = len(chosen & set(item.correct)), len(chosen - set(item.correct))
    total = len(item.correct)
    share = max(0.0, (hits - wrong) / total)
    message = _say("hits", hits=hits, total=total, wrong=wrong) if share < 1 else _say("exactly")
    return _verdict(item, share, message, chosen=tuple(sorted(chosen)))


def _spoken(item: Item, response: Response) -> Verdict:
    met, total = len(set(response.options) & set(item.correct)), len(item.correct)
    state = "correct" if met == total else "partly" if 2 * met >= total else "incorrect"
    message = both(f"Criteria met: {met} of {total}.", f"{total} 条标准说到了 {met} 条。")
    return _verdict(item, met / total, message, state=state, chosen=tuple(sorted(set(response.options))))


def trap_of(number: Number, value: float) -> Trap | None:
    """The trap that has the number ``value``, or None."""
    return next((trap for trap in number.traps if within(value, trap.low, trap.high)), None)


def _number(item: Item, response: Response) -> Verdict:
    number, value = item.number, response.number
    if math.isnan(value):
        return _verdict(item, 0.0, _say("not_a_number"), state="not attempted")
    if within(value, number.low, number.high):
        return _verdict(item, 1.0, _say("right_number"), number=value)
    if trap := trap_of(number, value):  # its line of the feedback says why
        return _verdict(item, 0.0, number=value, misconception=trap.misconception)
    return _verdict(item, 0.0, _miss(value, number.value), number=value)


def _miss(value: float, target: float) -> Text:
    """A sentence that says how far off a number is."""
    if target and value and (value > 0) == (target > 0) and not 0.5 <= value / target <= 2:
        times = value / target if abs(value) > abs(target) else target / value
        way = "large" if abs(value) > abs(target) else "small"
        if times >= 1e6:
            return _say(f"far_too_{way}")
        return _say(f"too_{way}_by", times=f"{times:.2g}" if times < 10 else f"{times:,.0f}")
    return _say("too_large" if value > target else "too_small")


def common_run(left: tuple[str, ...], right: tuple[str, ...]) -> int:
    """Length of the longest common subsequence."""
    row = [0] * (len(right) + 1)
    for one in left:
        previous = row
        row = [0]
        for place, other in enumerate(right):
            row.append(previous[place] + 1 if one == other else max(row[-1], previous[place + 1]))
    return row[-1]


def _order(item: Item, response: Response) -> Verdict:
    chosen = tuple(dict.fromkeys(response.options))
    strange = [one for one in chosen if one not in item.order]
    kept = tuple(one for one in chosen if one in item.order)
    placed, total = common_run(kept, item.order), len(item.order)
    if chosen == item.order:
        return _verdict(item, 1.0, _say("in_place"), chosen=chosen)
    messages = [_say("placed", placed=placed, total=total)]
    if strange:
        messages.append(_say("strange", list=tuple(strange), count=len(strange)))
    if missing := total - len(kept):
        messages.append(_say("lines_missing", count=missing))
    return _verdict(item, max(0.0, (placed - len(strange)) / total), *messages, chosen=chosen)


def feedback(item: Item, response: Response, settled: str | None = None) -> list[OptionFeedback]:
    """(option id, chosen, right, why) for EVERY option, in the order shown.

    For a number item: one line for the key ("number"), and before it one for the trap ("trap") that has the learner's
    number, if any. settled: the option that the experiment found, for predict items.
    """
    if item.kind == "number":
        return _number_feedback(item, response)
    right = set(item.order if item.kind == "order" else item.correct)
    if item.kind == "predict":
        right = {settled}
    known = item.keyed or settled is not None
    return [
        OptionFeedback(one.id, one.id in response.options, one.id in right if known else None, one.why)
        for one in item.options
    ]


def _number_feedback(item: Item, response: Response) -> list[OptionFeedback]:
    number, value = item.number, response.number
    given = value is not None and not math.isnan(value)
    lines = []
    if given and (trap := trap_of(number, value)):
        lines.append(OptionFeedback("trap", True, False, trap.why))
    hit = given and within(value, number.low, number.high)
    return [*lines, OptionFeedback("number", bool(hit), True, number.why)]


def misconceptions_of(item: Item, response: Response) -> list[str]:
    """The ids of the misconceptions that the wrong choices of a response stand for; empty for a right answer or a bet."""
    if item.kind == "number":
        trap = None if response.number is None else trap_of(item.number, response.number)
        right = trap and within(response.number, item.number.low, item.number.high)
        return [trap.misconception] if trap and trap.misconception and not right else []
    wrong = [item.option(line.option) for line in feedback(item, response) if line.chosen and line.right is False]
    return list(dict.fromkeys(one.misconception for one in wrong if one and one.misconception))
