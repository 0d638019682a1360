"""What the course says after an answer: headlines and remarks for right and wrong answers, streaks, a smaller question.

Which wording is used follows from the item and the number of the try, not from chance, so that a card opened again says the same.
``static/voice.js`` uses the same words and rules; the tests compare the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from course.i18n import Text, both, pick
from course.learning.entry import Entry
from course.questions.items import Item

SAID: dict[str, tuple[Text, ...]] = {
    # headlines
    "hit": (
        both("🎯 Yes!", "🎯 漂亮！"),
        both("🎯 Exactly.", "🎯 没错！"),
        both("🎯 That is it.", "🎯 就是它！"),
        both("🎯 Well done.", "🎯 看得准！"),
    ),
    "hit_again": (both("🎯 Now you have it.", "🎯 这回拿下了！"), both("🎯 This time it is right.", "🎯 这次对了！")),
    "part": (
        both(
            "Partly right: {points} points. What is missing stands below.", "部分正确：{points} 分，还缺什么，看下面。"
        ),
        both(
            "Partly right: {points} points. Something right, something still open.",
            "部分正确：{points} 分，有对的，也有还差的。",
        ),
    ),
    "miss": (
        both("Not this one: it is {right}.", "不是这个：答案是 {right}。"),
        both("A fair try, and it is {right}.", "敢选就好，不过答案是 {right}。"),
        both("Off this time: it is {right}.", "这次没中：答案是 {right}。"),
    ),
    "miss_open": (
        both("Not yet.", "还不对。"),
        both("Off this time.", "这次没中。"),
        both("A fair try, not there yet.", "敢试就好，还差一步。"),
    ),
    "sure_miss": (
        both("🕳️ A good trap: it is not {chosen}.", "🕳️ 这个坑挖得好：不是 {chosen}。"),
        both("🕳️ A surprise: it is not {chosen}.", "🕳️ 意外吧：不是 {chosen}。"),
        both("🕳️ Certain, and yet it is not {chosen}.", "🕳️ 很确定，却不是 {chosen}。"),
    ),
    "stubborn": (
        both("☕ A stubborn one. Take a smaller step.", "☕ 这题有点犟，先迈一小步。"),
        both(
            "☕ It is a hard one, and you keep at it. A smaller step:", "☕ 这题确实难，你还在试，好样的。先迈一小步："
        ),
    ),
    # about the confidence
    "certain_right": (
        both("You were certain, and for a good reason.", "你说“很确定”，确定得有理。"),
        both("Certain, and rightly so.", "很确定，也确实该确定。"),
        both("You knew this one.", "这个你是真懂。"),
    ),
    "sure_right": (
        both(
            "Fairly sure, and right: you may trust yourself a little more.",
            "比较有把握，而且对了：可以再相信自己一点。",
        ),
        both("You were fairly sure. Now you can be sure.", "刚才是比较有把握，现在可以放心了。"),
    ),
    "guess_right": (
        both(
            "It was a guess: say the reason once in your own words, and it stays. It comes again soon.",
            "这次是猜的：用自己的话把理由说一遍，就记住了。它很快会再来。",
        ),
        both(
            "A lucky guess is half the way; the reason is the other half. It comes again soon.",
            "猜对是一半，知道为什么是另一半。它很快会再来。",
        ),
    ),
    "certain_wrong": (
        both(
            "You were certain: what surprises us is what we remember best.", "你当时很确定：让人吃惊的，往往记得最牢。"
        ),
        both(
            "You were certain. That makes this the card most worth your time today.",
            "你当时很确定，所以今天最值得看的就是这张卡。",
        ),
    ),
    "sure_wrong": (
        both(
            "You were fairly sure. Which word of the reason is new to you?",
            "你当时比较有把握。理由里哪一点是你没想到的？",
        ),
        both(
            "You were fairly sure, so something speaks for it. Read its reason first.",
            "你当时比较有把握，说明它有几分道理。先看它的那条解释。",
        ),
    ),
    "guess_wrong": (
        both(
            "You said it was a guess: knowing what one does not know is worth a lot.",
            "你说是猜的：知道自己不知道，就很了不起。",
        ),
        both("A guess costs nothing here. Now it has a reason.", "这里猜错不扣分，现在你有理由可依了。"),
    ),
    "what_if": (
        both(
            "It is {right}. What would have to be true for {chosen}? Its own explanation says it.",
            "答案是 {right}。{chosen} 要成立，得满足什么条件？看它的那条解释。",
        ),
    ),
    "streak": (
        both("That makes {count} in a row.", "这就连对 {count} 题了。"),
        both("{count} in a row, and counting.", "连对 {count} 题，势头正好。"),
    ),
    # the smaller step, where the question has none of its own
    "step_choice": (
        both(
            "Cover the options, read only why {right} is right, and say in one sentence what is different for your choice.",
            "先把选项遮住，只看 {right} 为什么对，再用一句话说说你选的差在哪里。",
        ),
    ),
    "step_number": (
        both(
            "Divide your number by the right one: which factor is left over, and where does it come from?",
            "用你的数除以正确的数：多出来的是哪个因子？它从哪里来？",
        ),
    ),
    "step_order": (
        both(
            "Find the one line that cannot run before another. Put only those two right.",
            "先找出哪一行必须排在另一行后面，只把这两行排对。",
        ),
    ),
    # code exercises
    "solved": (
        both("🎯 At the first try. It runs, and it is right.", "🎯 一次就过：跑得通，也是对的。"),
        both(
            "🎯 First try! Read the solution all the same: another way is worth seeing.",
            "🎯 一次通过！参考解法也值得一看，看看别的写法。",
        ),
    ),
    "solved_again": (
        both(
            "🎯 There it is, at try {count}. Found by yourself, kept for good.",
            "🎯 第 {count} 次，成了！自己找到的，记得最牢。",
        ),
        both("🎯 Try {count}, and it is right. That was patience.", "🎯 第 {count} 次做对了，有耐心！"),
    ),
    "solved_helped": (
        both(
            "🎯 Right at try {count}, with some help. Can you say why it works?",
            "🎯 第 {count} 次做对了，看过提示。说得出为什么对吗？",
        ),
    ),
    # bets
    "bet_won": (
        both("🎯 Your bet came true, and you placed it before measuring.", "🎯 押中了！而且是测量之前押的。"),
        both("🎯 Called it before the measurement did.", "🎯 还没测，你就说中了。"),
    ),
    "bet_late": (both("It came out as you said.", "结果和你说的一样。"),),
    "bet_close": (both("◐ Close: half the bet is yours.", "◐ 很接近：赢了一半。"),),
    "bet_lost": (
        both("🎲 It came out otherwise.", "🎲 结果不是这样。"),
        both("🎲 Not what you bet on: that is what measuring is for.", "🎲 没押中，所以才要测。"),
    ),
    "bet_sure_lost": (
        both("🕳️ You were certain, and the machine is of another mind.", "🕳️ 你很确定，可机器不这么想。"),
        both("🕳️ Certain, and surprised: a good catch.", "🕳️ 很确定却没押中：这一注最值。"),
    ),
    "bet_locked": (both("🎲 Your bet is locked.", "🎲 赌注已锁定。"),),
}
"""Key -> the variants. {right}, {chosen}: option letters; {points}; {count}."""

STREAKS = (3, 5, 8)


@dataclass(frozen=True)
class Past:
    """A learner's answers up to one answer, with that one. tries: answers to this item; misses: wrong answers to it in a row;
    streak: right answers in a row over all questions.
    """

    tries: int = 1
    misses: int = 0
    streak: int = 0


FIRST = Past()


def past_of(item: Item, entries: Iterable[Entry]) -> Past:
    """The past of the latest answer to an item."""
    answers = [entry for entry in entries if entry.event == "answer" and entry.verdict]
    last = max((place for place, entry in enumerate(answers) if entry.item == item.id), default=None)
    if last is None:
        return Past()
    until = answers[: last + 1]
    own = [entry.verdict for entry in until if entry.item == item.id]
    return Past(len(own), _run(own, "incorrect"), _run([entry.verdict for entry in until], "correct"))


def _run(verdicts: Sequence[str | None], wanted: str) -> int:
    """How many of the last verdicts in a row are ``wanted``."""
    count = 0
    for verdict in reversed(verdicts):
        if verdict != wanted:
            break
        count += 1
    return count


def say(key: str, item_id: str, tries: int = 1, **words: object) -> str:
    """The words for a key, in the wording that this item and this try get, in the language in use."""
    variants = SAID[key]
    text = pick(variants[(sum(map(ord, item_id)) + tries - 1) % len(variants)])
    for name, word in words.items():
        text = text.replace(f"{{{name}}}", str(word))
    return text


def headline_key(item: Item, state: str, confidence: int | None, past: Past) -> str:
    """The key of the headline after an answer. state: correct, partly or incorrect."""
    if state == "correct":
        return "hit" if past.tries == 1 else "hit_again"
    if state == "partly":
        return "part"
    if past.misses >= 3:
        return "stubborn"
    if confidence == 3 and item.kind != "number":
        return "sure_miss"
    return "miss" if item.kind == "single" else "miss_open"


def remark_keys(item: Item, state: str, confidence: int | None, past: Past) -> list[str]:
    """The keys of the remarks after the headline."""
    keys = []
    if state == "incorrect":
        if past.misses >= 3:
            return [
                "step_own" if item.step else f"step_{'choice' if item.kind in ('single', 'multiple') else item.kind}"
            ]
        if confidence == 3 and item.kind == "single":
            keys.append("what_if")
    end = {"correct": "right", "incorrect": "wrong"}.get(state)
    if end and confidence in (1, 2, 3):
        keys.append(f"{('guess', 'sure', 'certain')[confidence - 1]}_{end}")
    if state == "correct" and (past.streak in STREAKS or past.streak and past.streak % 10 == 0):
        keys.append("streak")
    return keys


def bet_key(state: str, confidence: int | None, late: bool = False) -> str:
    """The key of the headline after a bet. late: its result was known when it was placed."""
    if late and state == "correct":
        return "bet_late"
    if state == "incorrect":
        return "bet_sure_lost" if confidence == 3 else "bet_lost"
    return {"correct": "bet_won", "partly": "bet_close"}.get(state, "bet_locked")
