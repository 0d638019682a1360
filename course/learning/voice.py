"""What the course says after an answer: a verdict. ``course/cards/static/card.js`` uses the same words; a test compares the two."""

from __future__ import annotations

from course.core.i18n import Text, both, pick
from course.questions.items import Item

SAID: dict[str, Text] = {
    "hit": both("🎯 Right.", "🎯 答对了。"),
    "part": both("◐ Partly right: {points} points.", "◐ 部分正确：{points} 分。"),
    "miss": both("Not this one: it is {right}.", "不是这个：答案是 {right}。"),
    "miss_open": both("Not yet.", "还不对。"),
    # code exercises
    "solved": both("🎯 At the first try. It runs, and it is right.", "🎯 一次就过：跑得通，也是对的。"),
    "solved_again": both("🎯 Right, at try {count}.", "🎯 第 {count} 次做对了。"),
    "solved_helped": both(
        "🎯 Right at try {count}, with some help. Can you say why it works?",
        "🎯 第 {count} 次做对了，看过提示。说得出为什么对吗？",
    ),
    "stubborn": both("☕ A hard one. Take a smaller step.", "☕ 这题不容易，先迈一小步。"),
    # bets
    "bet_won": both("🎯 Your bet came true.", "🎯 押中了！"),
    "bet_late": both("It came out as you said.", "结果和你说的一样。"),
    "bet_lost": both("🎲 It came out otherwise.", "🎲 结果不是这样。"),
    "bet_locked": both("🎲 Your bet is locked.", "🎲 赌注已锁定。"),
}
"""Key -> the words. {right}: letters of the right options; {points}; {count}: of tries."""


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
