"""What feedback says, as data, the same for cards and text. Strings are in the language in use."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from course.i18n import Text, pick, t
from course.quiz.items import Item, Number
from course.quiz.marking import CONFIDENCE, OptionFeedback, Response, feedback, misconceptions_of, within
from course.verdict import Verdict

TONES = {
    "correct": "good",
    "partly": "part",
    "incorrect": "bad",
    "not attempted": "calm",
    "inconclusive": "calm",
}


@dataclass(frozen=True)
class Line:
    """One option explained.

    label: its letter. state: words such as "your choice, right". right: None if undecided.
    """

    label: str
    text: str
    state: str
    right: bool | None
    chosen: bool
    why: str
    belief: str = ""


@dataclass(frozen=True)
class Ruler:
    """The answered and the true number on one scale.

    low..high: what counts as right. stops: the marks, rising; equal lengths between two are equal factors.
    measured: whether the true number comes from an experiment.
    """

    given: float
    truth: float
    low: float
    high: float
    stops: tuple[float, ...]
    measured: bool = False


@dataclass(frozen=True)
class Report:
    """headline: the verdict in words; tone: good, part, bad or calm.

    next_step: the experiment that shows it, in words; experiment: its name. ruler: the numbers on a scale.
    """

    headline: str
    tone: str
    messages: tuple[str, ...]
    lines: tuple[Line, ...] = ()
    next_step: str = ""
    experiment: str = ""
    ruler: Ruler | None = None


def state_words(chosen: bool, right: bool | None, bet: bool = False) -> str:
    """The state of an option in words, empty for an option neither chosen nor right."""
    mine = t("your bet", "你押的") if bet else t("your choice", "你选的")
    if right is None:
        return mine if chosen else ""
    truth = t("it happened", "结果是它") if bet else t("right", "正确")
    untruth = t("did not happen", "结果不是它") if bet else t("not right", "不对")
    if chosen:
        return f"{mine}{t(', ', '，')}{truth if right else untruth}"
    return truth if right else ""


def widest_state(bet: bool = False) -> str:
    """The longest of ``state_words``: a card keeps its room, so that nothing moves when it appears."""
    return max((state_words(True, right, bet) for right in (None, True, False)), key=len)


def not_yet() -> str:
    """The verdict on an empty answer, in words."""
    return t("Not answered yet.", "还没有作答。")


def headline(verdict: Verdict, bet: bool = False) -> str:
    """The verdict in a few words."""
    if bet:
        return {
            "correct": t("You won the bet.", "你押中了。"),
            "partly": t("Close: half the bet is yours.", "很接近：赢了一半。"),
            "incorrect": t("You lost the bet.", "没押中。"),
        }.get(verdict.state, t("Your bet is locked.", "赌注已锁定。"))
    points = f"{verdict.points:g} / {verdict.max_points:g}"
    return {
        "correct": t("Correct.", "回答正确。"),
        "partly": t(f"Partly right: {points} points.", f"部分正确：{points} 分。"),
        "incorrect": t("Not right.", "不对。"),
        "not attempted": not_yet(),
    }.get(verdict.state, t("Not decided yet.", "无法判定。"))


def report(
    item: Item,
    response: Response,
    verdict: Verdict,
    beliefs: Mapping[str, Text] | None = None,
    settled: str | float | None = None,
    late: bool = False,
) -> Report:
    """The full feedback on a practice answer or a bet. beliefs: misconception id -> statement.

    late: the bet was placed when its result was known.
    """
    bet = item.kind == "predict"
    messages = [pick(message) for message in verdict.messages]
    if response.confidence in CONFIDENCE and not bet:
        messages.append(_calibration(verdict, response.confidence))
    if late:
        messages.append(t("The result was known before you bet, so `bets()` does not count it.",
                          "下注时结果已经揭晓，所以 `bets()` 里不计分。"))
    if bet and settled is None:
        return Report(headline(verdict, bet), "calm", tuple(messages))
    beliefs = beliefs or {}
    held = set(misconceptions_of(item, response))
    lines = [_line(item, one, beliefs, held, bet) for one in _sorted(item, feedback(item, response, settled))]
    experiment = next_experiment(item, response, verdict)
    return Report(
        headline(verdict, bet),
        TONES[verdict.state],
        tuple(messages),
        tuple(lines),
        _next_words(experiment),
        experiment,
        _ruler(item, response, settled),
    )


def _sorted(item: Item, lines: list[OptionFeedback]) -> list[OptionFeedback]:
    """Order items explain the steps in their right order, then the lines that do not belong."""
    if item.kind != "order":
        return lines
    place = {one: number for number, one in enumerate(item.order)}
    return sorted(lines, key=lambda line: place.get(line.option, len(place)))


def _line(item: Item, line: OptionFeedback, beliefs: Mapping[str, Text], held: set[str], bet: bool) -> Line:
    option = item.option(line.option)
    if item.slider:
        return Line("i", t("Why", "原因"), "", None, False, pick(line.why))
    if option is None:
        return _number_line(item, line, beliefs, held)
    belief = beliefs.get(option.misconception or "")
    shown = pick(belief) if belief and line.chosen and option.misconception in held else ""
    label, state = option.id, state_words(line.chosen, line.right, bet)
    if item.kind == "order":
        label = str(item.order.index(option.id) + 1) if line.right else "✗"
        state = f"{option.id}" + (t(", used", "，已用") if line.chosen else t(", not used", "，未用"))
        if not line.right:
            state += t(", does not belong", "，不该出现")
    return Line(label, pick(option.text), state, line.right, line.chosen, pick(line.why), shown)


def _number_line(item: Item, line: OptionFeedback, beliefs: Mapping[str, Text], held: set[str]) -> Line:
    number = item.number
    if line.option == "trap":
        belief = next((pick(beliefs[one]) for one in held if one in beliefs), "")
        return Line(
            "✗", t("your number", "你的数字"), t("not right", "不对"), False, True, pick(line.why), belief
        )
    return Line("✓", number_words(number), t("right", "正确"), True, line.chosen, pick(line.why))


def number_words(number: Number) -> str:
    """The right number with its unit, and what else is accepted."""
    text = f"{number.value:,.10g} {pick(number.unit)}"
    if not within(number.low, number.value, number.value) or not within(
        number.high, number.value, number.value
    ):
        text += t(
            f" (accepted: {number.low:,.6g} to {number.high:,.6g})",
            f"（{number.low:,.6g} 到 {number.high:,.6g} 都算对）",
        )
    return text


def _calibration(verdict: Verdict, confidence: int) -> str:
    said = pick(CONFIDENCE[confidence])
    if confidence == 3 and verdict.state == "incorrect":
        return t(
            f"You were {said}: that makes this the idea most worth a second look.",
            f"你当时{said}，所以这个想法最值得再看一眼。",
        )
    if confidence == 1 and verdict.state == "correct":
        return t(
            "It was a guess: read why below, it will come again soon.",
            "这次是猜的：看看下面的解释，它很快会再出现。",
        )
    return t(f"Your confidence: {said}.", f"你的把握：{said}。")


def next_experiment(item: Item, response: Response, verdict: Verdict) -> str:
    """The experiment that separates what was answered from the truth: that of the wrong choice, else that of
    the item; empty where there is nothing to separate.
    """
    if verdict.state == "correct" or item.kind == "predict":
        return ""
    wrong = [
        item.option(line.option) for line in feedback(item, response) if line.chosen and line.right is False
    ]
    named = [one.experiment for one in wrong if one and one.experiment]
    return (named or [item.experiment or ""])[0]


def _next_words(experiment: str) -> str:
    if not experiment:
        return ""
    return t(
        f'To see it happen, run `observe("{experiment}")`.',
        f'想亲眼看到，就运行 `observe("{experiment}")`。',
    )


def _ruler(item: Item, response: Response, settled: str | float | None) -> Ruler | None:
    """The scale for a settled bet on a number, or for an estimate with a tolerance; None elsewhere."""
    given = response.number
    if given is None:
        return None
    if item.slider and settled is not None:
        factor, stops = item.slider.factor, item.slider.stops
        return Ruler(given, settled, settled / factor, settled * factor, stops, measured=True)
    number = item.number
    if item.kind != "number" or min(number.low, given) <= 0 or number.low == number.high:
        return None
    if within(given, number.low, number.high) and number.high < 1.05 * number.low:
        return None
    stops = decades(min(given, number.low), max(given, number.high))
    return Ruler(given, number.value, number.low, number.high, stops)


def decades(low: float, high: float) -> tuple[float, ...]:
    """Marks of a logarithmic scale around low..high, both above 0: 1, 2, 5 steps, or powers of ten when
    many.
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    if last - first > 2:
        step = math.ceil((last - first) / 6)
        return tuple(10.0**power for power in range(first, last + step, step))
    marks = [digit * 10.0**power for power in range(first, last + 1) for digit in (1, 2, 5)]
    below = max((mark for mark in marks if mark <= low), default=marks[0])
    above = min((mark for mark in marks if mark >= high), default=marks[-1])
    return tuple(mark for mark in marks if below <= mark <= above)
