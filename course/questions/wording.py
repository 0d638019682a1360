"""Words about a question for cards and their text twins: what it is, what to do, how to answer by typing."""

from __future__ import annotations

import re

from course.core.i18n import both, pick, t
from course.questions.items import Item

PAIR = both("Only one of these two:", "下面两行只选一行：")
"""What stands above a distractor and the line that it tempts in place of."""


def reason_alone(because: str) -> str:
    """The learner's reason without a leading "because", so that it can follow one."""
    return re.sub(r"^(because|因为)[\s,，:：…]*", "", because, flags=re.I)


def task_words(item: Item) -> str:
    """What the learner has to do, in words."""
    return {
        "single": t("choose one", "单选"),
        "multiple": t("choose all that apply", "多选"),
        "number": t("type a number", "填数字"),
        "order": t("put the lines in order; some may not belong", "排出正确顺序，可能有多余的行"),
        "predict": t("place your bet, it locks", "选一项，提交后锁定"),
        "spoken": t("say it aloud, then rate yourself", "先说出声，再给自己打分"),
    }[item.kind]


def title_words(item: Item) -> str:
    """The kind of card in words."""
    if item.checkpoint:
        points = "point" if item.points == 1 else "points"
        return t(f"Checkpoint · {item.points:g} {points}", f"测验 · {item.points:g} 分")
    if item.kind == "predict":
        return t("Bet", "下注")
    if item.kind == "spoken":
        return t("Interview", "面试题")
    return t("Question", "练习题")


def recorded_words() -> str:
    """The words of a checkpoint card for an answer that is recorded on the sheet."""
    return t("✓ Recorded earlier. You can change it until you hand in.", "✓ 之前已记录，交卷前都可以修改。")


def unrecorded_words(recorded: str) -> str:
    """The words once another option is chosen and not recorded yet. recorded: the answer on the sheet."""
    return t(
        f"○ This change is not recorded yet; your sheet holds: {recorded}. Press one of the three buttons to record it.",
        f"○ 这个改动还没有记录，答题卡上仍是：{recorded}。点上面三个按钮之一即可记录。",
    )


def call_text(item: Item) -> str:
    """The call that answers this item without a widget. Its example is no real option, so that it gives no hint."""
    letter, number = t('"LETTER"', '"字母"'), t("NUMBER", "数字")
    if item.kind == "number":
        return f'answer("{item.id}", {number})'
    many = item.kind in ("order", "multiple", "spoken")
    return f'answer("{item.id}", {f"{letter}, {letter}" if many else letter})'


def pairs(item: Item) -> list[tuple[str, ...]]:
    """The option ids in the order shown: each alone, or together with the wrong line that looks like it."""
    partner = {one.pairs_with: one.id for one in item.options if one.pairs_with}
    groups: list[tuple[str, ...]] = []
    done: set[str] = set()
    for one in item.options:
        if one.id in done:
            continue
        other = one.pairs_with or partner.get(one.id)
        groups.append((one.id, other) if other and other not in done else (one.id,))
        done.update(groups[-1])
    return groups


# --- a bet in words: what was asked, what was bet, what came out ---


def answer_words(item: Item, answer: str | None) -> str:
    """An option in words, without a full stop at the end; marks for code and bold stay."""
    option = item.option(str(answer))
    return pick(option.text).rstrip(".。") if option else "–"


def outcome_words(item: Item, winner: str, won: bool) -> str:
    """What came out, after the bet."""
    return t("as you bet", "和你押的一样") if won else answer_words(item, winner)


SHORTEST = 90
"""A question shorter than this (a Chinese character counts twice) says too little without the sentence before it."""


def asked_words(item: Item) -> str:
    """The question of a bet, without the rest of its text: the last sentence that asks, else the last; with code marks."""
    text = pick(item.stem).replace("**", "").replace("\n", " ").strip()
    said = [one for one in re.split(r"(?<=[.?!])(?=\s)|(?<=[。？！])", text) if one.strip()]
    last = next(
        (place for place, one in reversed(list(enumerate(said))) if re.search(r"[?？]\W*$", one)), len(said) - 1
    )
    asked = ""
    while last >= 0 and sum(1 + (sign > "\u2e80") for sign in asked) < SHORTEST:
        asked, last = said[last] + asked, last - 1
    return asked.strip()
