"""Every word of the cards on a page of the book, in both languages; ``{name}`` is filled in by the page."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from course.cards.render import MARKS, bet_words, task_words, tone_words
from course.core.i18n import LANGUAGES, both, pick, speaking
from course.core.markup import inline
from course.learning.marking import CONFIDENCE
from course.learning.reporting import state_words
from course.learning.voice import SAID, say
from course.questions.schema import KINDS
from course.questions.wording import PAIR

_OWN = {
    # a card
    "question": both("Question", "练习题"),
    "bet": both("Bet", "下注"),
    "place": both("Card {at} of {of}", "第 {at} 题，共 {of} 题"),
    "options": both("Options", "选项"),
    "your_number": both("Your number ({unit})", "你的数字（{unit}）"),
    "for_example": both("for example 3 or 2.5e6", "例如 3 或 2.5e6"),
    "pair": PAIR,
    "your_order": both("Your order", "你的顺序"),
    "order_empty": both("Press the lines in the order they should run.", "请按执行的先后依次点击各行。"),
    "up": both("Move line {id} up", "上移 {id} 行"),
    "down": both("Move line {id} down", "下移 {id} 行"),
    "remove": both("Remove line {id}", "移除 {id} 行"),
    "used_at": both("place {at}", "第 {at} 行"),
    "sure": both("How sure are you? Your choice submits.", "你有多大把握？点一个就提交。"),
    "sure_bet": both(
        "How sure are you? Your choice places the bet, and it locks.", "你有多大把握？点一个就下注，之后不能再改。"
    ),
    "again": both("↺ Try again", "↺ 再答一次"),
    # what an answer gets
    "belief": both("The belief behind it:", "背后的想法："),
    "your_number_was": both("your number", "你的数字"),
    "used": both("used", "已用"),
    "not_used": both("not used", "未用"),
    "alien": both("does not belong", "不该出现"),
    "observe": both(
        'To see it happen, run <code>observe("{experiment}")</code> in the notebook.',
        '想亲眼看到，就在 notebook 里运行 <code>observe("{experiment}")</code>。',
    ),
    "settle": both(
        'The experiment decides: run <code>observe("{experiment}")</code> in the notebook of the lesson. Place '
        "your bet there, too.",
        '由实验揭晓：在该课的 notebook 里运行 <code>observe("{experiment}")</code>。那里也请先下注。',
    ),
    "settled_below": both("What came out stands open below.", "结果已在下面展开。"),
    # sentences in the live region
    "choose_first": both("Choose an option first, then submit.", "请先选择，再提交。"),
    "type_first": both("Type a number first, for example 3 or 2.5e6.", "请先输入一个数字，例如 3 或 2.5e6。"),
    "no_number": both(
        "“{typed}” is not a number. Write for example 3, 0.25 or 2.5e6, with a point for decimals.",
        "“{typed}”不是数字。请写成 3、0.25 或 2.5e6 这样的形式，小数点用“.”。",
    ),
    "fresh_try": both("A fresh try. Your earlier answer stays in your log.", "重新作答。之前的答案仍保留在记录里。"),
    "not_kept": both(
        "This browser keeps nothing for this page, so your answers last until you close it.",
        "这个浏览器不为本页保存数据，答案在关闭页面前有效。",
    ),
    "damaged": both(
        "Damaged lines among the stored answers: {count}, set aside. All others are there; nothing needs to be done.",
        "保存的记录里有 {count} 行损坏，已另存；其余都在，无需处理。",
    ),
    # marking: the same sentences as course/learning/marking.py, which the tests compare
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
    "comma": both(", ", "、"),
}


def _shared() -> dict[str, Callable[[], str]]:
    """Words that the cards of the notebooks have already."""
    made: dict[str, Callable[[], str]] = {}
    for kind in KINDS:
        item: Any = SimpleNamespace(kind=kind)
        made[f"task_{kind}"] = lambda item=item: task_words(item)
    made["bet_locked"] = lambda: say("bet_locked")
    for name, chosen, right in (("mine_right", True, True), ("mine_wrong", True, False), ("right", False, True)):
        made[name] = lambda chosen=chosen, right=right: state_words(chosen, right)
    made["done_bet"] = bet_words
    for tone in MARKS:
        made[f"done_{tone}"] = lambda tone=tone: tone_words(tone)
    made["mine_bet"] = lambda: state_words(True, None, bet=True)
    return made


def words() -> dict[str, dict[str, Any]]:
    """{"en": {key: words, or a list of variants}, "zh": {...}}."""
    found = {code: {key: text[code] for key, text in _OWN.items()} for code in LANGUAGES}
    for code in LANGUAGES:
        with speaking(code):
            found[code] |= {key: made() for key, made in _shared().items()}
        found[code] |= {f"said_{key}": inline(pick(text, code)) for key, text in SAID.items()}
        found[code] |= {f"confidence_{level}": text[code] for level, text in CONFIDENCE.items()}
    return found
