"""The feedback on an answer as data, for cards and their text twins. Strings are in the language in use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from course.core.i18n import Text, both, pick, t
from course.core.units import format_points
from course.core.verdict import Verdict
from course.learning.marking import OptionFeedback, Response, feedback, misconceptions_of
from course.questions.items import Item, Number, within
from course.questions.wording import reason_alone

TONES = {"correct": "good", "partly": "part", "incorrect": "bad", "not attempted": "calm", "inconclusive": "calm"}


SAID: dict[str, Text] = {
    "hit": both("🎯 Right.", "🎯 答对了。"),
    "part": both("Partly right: {points} points.", "部分正确：{points} 分。"),
    "miss": both("Not this one: it is {right}.", "不是这个：答案是 {right}。"),
    "miss_open": both("Not yet.", "还不对。"),
    "bet_won": both("🎯 Your bet came true.", "🎯 押中了！"),
    "bet_late": both("It came out as you said.", "结果和你说的一样。"),
    "bet_lost": both("🎲 It came out otherwise.", "🎲 结果不是这样。"),
    "bet_locked": both("🎲 Your bet is locked.", "🎲 赌注已锁定。"),
}
"""Key -> the verdict in words, also on a page of the book. {right}: letters of the right options; {points}."""


def say(key: str, **words: object) -> str:
    """The words for a key in the language in use."""
    text = pick(SAID[key])
    for name, word in words.items():
        text = text.replace(f"{{{name}}}", str(word))
    return text


def headline_key(item: Item, state: str) -> str:
    """The key of the headline after an answer. state: correct, partly or incorrect."""
    return {"correct": "hit", "partly": "part"}.get(state, "miss" if item.kind == "single" else "miss_open")


def bet_key(state: str, late: bool = False) -> str:
    """The key of the headline after a bet. late: its result was known when it was placed."""
    if late and state == "correct":
        return "bet_late"
    return {"correct": "bet_won", "incorrect": "bet_lost"}.get(state, "bet_locked")


@dataclass(frozen=True)
class Line:
    """The explanation of one option. label: its letter. state: words such as "your choice, right". right: None if undecided."""

    label: str
    text: str
    state: str
    right: bool | None
    chosen: bool
    why: str
    belief: str = ""


@dataclass(frozen=True)
class Report:
    """headline: the verdict in words; tone: good, part, bad or calm.

    next_step: the experiment that shows it, in words. because: the learner's own reason beside the right one, in a sentence.
    feedback: what ``lines`` was made from.
    """

    headline: str
    tone: str
    messages: tuple[str, ...]
    lines: tuple[Line, ...] = ()
    next_step: str = ""
    because: str = ""
    feedback: tuple[OptionFeedback, ...] = ()


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
    """The longest of ``state_words``: a card reserves this width, so that nothing moves when the state appears."""
    return max((state_words(True, right, bet) for right in (None, True, False)), key=len)


def explained(item: Item, found: Report) -> bool:
    """Whether the feedback lists every option with its text, so that the question need not list them as well."""
    return (
        bool(found.lines)
        and item.kind != "order"
        and {one.id for one in item.options} <= {one.label for one in found.lines}
    )


def not_yet() -> str:
    """The verdict on an empty answer, in words."""
    return t("Not answered yet.", "还没有作答。")


def report(
    item: Item,
    response: Response,
    verdict: Verdict,
    beliefs: Mapping[str, Text] | None = None,
    settled: str | None = None,
    late: bool = False,
) -> Report:
    """The feedback on a practice answer or a bet. beliefs: misconception id -> statement.

    late: the bet was placed when its result was known.
    """
    if item.kind == "spoken":
        return rated(item, response, verdict)
    bet, state = item.kind == "predict", verdict.state
    if bet:
        head = say(bet_key(state, late))
        messages = [pick(message) for message in verdict.messages if state != "correct"]
    elif state in ("correct", "partly", "incorrect"):
        points = f"{format_points(verdict.points)} / {format_points(verdict.max_points)}"
        head = say(headline_key(item, state), right=t(", ", "、").join(item.correct), points=points)
        messages = _seen(item, verdict)
    else:
        head = not_yet()
        messages = [said for said in map(pick, verdict.messages) if said != head]
    if late:
        messages.append(
            t(
                "The result was known before you bet, so `bets()` does not count it.",
                "下注时结果已经揭晓，所以 `bets()` 里不计分。",
            )
        )
    beside = _reason(item, response, settled)
    if bet and settled is None:
        return Report(head, "calm", tuple(messages), because=beside)
    beliefs = beliefs or {}
    each = feedback(item, response, settled)
    held = set() if bet else set(misconceptions_of(item, response))
    lines = [_line(item, one, beliefs, held, bet) for one in _sorted(item, each)]
    if praised(item, verdict):  # its reason stands in the praise already
        lines = [replace(line, why="") if line.right else line for line in lines]
    experiment = "" if bet or state == "correct" else next_experiment(item, each)
    return Report(head, TONES[state], tuple(messages), tuple(lines), _next_words(experiment), beside, tuple(each))


def rated(item: Item, response: Response, verdict: Verdict) -> Report:
    """The feedback on a rating in the interview: how many criteria were met, and what to add next time."""
    head = {
        "correct": t("🎯 All of it: you can be asked this.", "🎯 全说到了：这题不怕问！"),
        "partly": t("A part of it is there. It comes back soon.", "说到了一部分，很快再来一遍。"),
        "incorrect": t(
            "☕ Not yet, and now you know where it is thin. It comes back tomorrow.",
            "☕ 还不行，但薄弱处找到了，明天再来。",
        ),
    }[verdict.state]
    left = [f"• {pick(one.text)}" for one in item.options if one.correct and one.id not in response.options]
    add = [t("Next time, add:", "下次补上："), *left] if left else []
    own = t(f"Your key words: {response.because}", f"你的关键词：{response.because}") if response.because else ""
    messages = (*map(pick, verdict.messages), *add, *filter(None, [own]))
    return Report(head, TONES[verdict.state], messages)


def praised(item: Item, verdict: Verdict) -> bool:
    """Whether the praise is the explanation itself: for a right answer to a question with one right option."""
    return verdict.state == "correct" and item.kind in ("single", "number")


def _seen(item: Item, verdict: Verdict) -> list[str]:
    """Sentences on the answer: the explanation after a right one, how far off it is after a wrong one."""
    if praised(item, verdict):
        return [pick(item.number.why if item.number else item.option(item.correct[0]).why)]
    return [] if item.kind == "single" else [pick(message) for message in verdict.messages]


def _reason(item: Item, response: Response, settled: str | None) -> str:
    """The learner's own reason beside the right one; "" where none was written."""
    if not response.because:
        return ""
    own = reason_alone(response.because)
    mine = t(f"💡 You wrote: “because {own}”.", f"💡 你写的是：“因为{own}”。")
    if item.kind == "predict" and settled is None:
        return mine
    return mine + t(" Is it one of the reasons above?", "它和上面的解释是一回事吗？")


def _sorted(item: Item, lines: list[OptionFeedback]) -> list[OptionFeedback]:
    """Order items explain the steps in their right order, then the lines that do not belong."""
    if item.kind != "order":
        return lines
    place = {one: number for number, one in enumerate(item.order)}
    return sorted(lines, key=lambda line: place.get(line.option, len(place)))


def _line(item: Item, line: OptionFeedback, beliefs: Mapping[str, Text], held: set[str], bet: bool) -> Line:
    option = item.option(line.option)
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
        return Line("✗", t("your number", "你的数字"), t("not right", "不对"), False, True, pick(line.why), belief)
    return Line("✓", number_words(number), t("right", "正确"), True, line.chosen, pick(line.why))


def number_words(number: Number) -> str:
    """The right number with its unit, and what else is accepted."""
    text = f"{number.value:,.10g} {pick(number.unit)}"
    if not within(number.low, number.value, number.value) or not within(number.high, number.value, number.value):
        text += t(
            f" (accepted: {number.low:,.6g} to {number.high:,.6g})",
            f"（{number.low:,.6g} 到 {number.high:,.6g} 都算对）",
        )
    return text


def next_experiment(item: Item, lines: list[OptionFeedback]) -> str:
    """The experiment that shows why a wrong answer is wrong: the one named by the wrong option, else by the item, else ""."""
    wrong = [item.option(line.option) for line in lines if line.chosen and line.right is False]
    named = [one.experiment for one in wrong if one and one.experiment]
    return (named or [item.experiment or ""])[0]


def _next_words(experiment: str) -> str:
    if not experiment:
        return ""
    return t(f'To see it happen, run `observe("{experiment}")`.', f'想亲眼看到，就运行 `observe("{experiment}")`。')
