"""What the course says after an answer: a verdict, and a smaller question after the third wrong try in a row.

``course/cards/static/voice.js`` uses the same words and rules; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from course.core.i18n import Text, both, pick
from course.learning.entry import Entry
from course.questions.items import Item

SAID: dict[str, Text] = {
    "hit": both("🎯 Right.", "🎯 答对了。"),
    "hit_again": both("🎯 This time it is right.", "🎯 这次对了。"),
    "part": both("◐ Partly right: {points} points.", "◐ 部分正确：{points} 分。"),
    "miss": both("Not this one: it is {right}.", "不是这个：答案是 {right}。"),
    "miss_open": both("Not yet.", "还不对。"),
    "stubborn": both("☕ A hard one. Take a smaller step.", "☕ 这题不容易，先迈一小步。"),
    # the smaller step, where the question has none of its own
    "step_choice": both(
        "Cover the options, read only why {right} is right, and say in one sentence what is different for your choice.",
        "先把选项遮住，只看 {right} 为什么对，再用一句话说说你选的差在哪里。",
    ),
    "step_number": both(
        "Divide your number by the right one: which factor is left over, and where does it come from?",
        "用你的数除以正确的数：多出来的是哪个因子？它从哪里来？",
    ),
    "step_order": both(
        "Find the one line that cannot run before another. Put only those two right.",
        "先找出哪一行必须排在另一行后面，只把这两行排对。",
    ),
    # code exercises
    "solved": both("🎯 At the first try. It runs, and it is right.", "🎯 一次就过：跑得通，也是对的。"),
    "solved_again": both("🎯 Right, at try {count}.", "🎯 第 {count} 次做对了。"),
    "solved_helped": both(
        "🎯 Right at try {count}, with some help. Can you say why it works?",
        "🎯 第 {count} 次做对了，看过提示。说得出为什么对吗？",
    ),
    # bets
    "bet_won": both("🎯 Your bet came true.", "🎯 押中了！"),
    "bet_late": both("It came out as you said.", "结果和你说的一样。"),
    "bet_close": both("◐ Close: half the bet is yours.", "◐ 很接近：赢了一半。"),
    "bet_lost": both("🎲 It came out otherwise.", "🎲 结果不是这样。"),
    "bet_locked": both("🎲 Your bet is locked.", "🎲 赌注已锁定。"),
}
"""Key -> the words. {right}: letters of the right options; {points}; {count}: of tries."""


@dataclass(frozen=True)
class Past:
    """A learner's answers to one item up to one answer, with that one. tries: all of them; misses: wrong ones in a row."""

    tries: int = 1
    misses: int = 0


def past_of(item: Item, entries: Iterable[Entry]) -> Past:
    """The past of the latest answer to an item."""
    own = [entry.verdict for entry in entries if entry.event == "answer" and entry.verdict and entry.item == item.id]
    misses = next((n for n, verdict in enumerate(reversed(own)) if verdict != "incorrect"), len(own))
    return Past(len(own), misses) if own else Past()


def say(key: str, **words: object) -> str:
    """The words for a key in the language in use."""
    text = pick(SAID[key])
    for name, word in words.items():
        text = text.replace(f"{{{name}}}", str(word))
    return text


def headline_key(item: Item, state: str, past: Past) -> str:
    """The key of the headline after an answer. state: correct, partly or incorrect."""
    if state == "correct":
        return "hit" if past.tries == 1 else "hit_again"
    if state == "partly":
        return "part"
    if past.misses >= 3:
        return "stubborn"
    return "miss" if item.kind == "single" else "miss_open"


def step_key(item: Item, state: str, past: Past) -> str:
    """The key of the smaller step after the headline: "own" for that of the item, "" where there is to be none."""
    if state != "incorrect" or past.misses < 3:
        return ""
    return "own" if item.step else f"step_{'choice' if item.kind in ('single', 'multiple') else item.kind}"


def bet_key(state: str, late: bool = False) -> str:
    """The key of the headline after a bet. late: its result was known when it was placed."""
    if late and state == "correct":
        return "bet_late"
    return {"correct": "bet_won", "partly": "bet_close", "incorrect": "bet_lost"}.get(state, "bet_locked")
