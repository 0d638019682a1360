"""Practice questions on a web page without a kernel: plain data for the scripts in ``static``, which need no framework and no network.

A page marks by the rules of ``course.learning.marking`` (``static/marking.js``) and keeps the answers in the browser
(``static/answers.js``).
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from course.cards.render import MARKS, bet_words, task_words, tone_words
from course.core.i18n import LANGUAGES, Text, both, pick, speaking
from course.core.markup import inline, paragraphs
from course.core.version import __version__
from course.learning.marking import CONFIDENCE, SENTENCES
from course.learning.reporting import SAID, number_words, say, state_words
from course.questions import schema
from course.questions.items import Item
from course.questions.wording import PAIR, pairs

STATIC = Path(__file__).resolve().parent / "static"
CARD_SCRIPTS = ("marking.js", "answers.js", "card.js", "live.js")
"""What one card needs on any page."""
KINDS = ("single", "multiple", "number", "order")


def showable(items: Iterable[Item]) -> list[Item]:
    """The questions that the page can show: those it can mark, and bets."""
    return [
        item for item in items if not item.checkpoint and (item.kind in KINDS and item.keyed or item.kind == "predict")
    ]


def _html(text: Text) -> dict[str, str]:
    return {code: inline(pick(text, code)) for code in LANGUAGES}


def item_data(item: Item) -> dict[str, Any]:
    """One question as plain data; texts are HTML in both languages."""
    data: dict[str, Any] = {
        "id": item.id,
        "lesson": item.lesson,
        "concept": item.concept,
        "kind": item.kind,
        "experiment": item.experiment,
        "stem": {code: paragraphs(pick(item.stem, code)) for code in LANGUAGES},
        "right": list(item.order if item.kind == "order" else item.correct),
        "options": [_option_data(item, place) for place in range(len(item.options))],
    }
    if item.code:
        data["code"] = {code: html.escape(pick(item.code, code).strip("\n")) for code in LANGUAGES}
    if item.kind == "order":
        data["groups"] = pairs(item)
    if item.kind == "number":
        data["number"] = _number_data(item)
    return data


def _option_data(item: Item, place: int) -> dict[str, Any]:
    option = item.options[place]
    data: dict[str, Any] = {"id": option.id, "text": _html(option.text)}
    if item.kind != "predict":  # an experiment settles a bet; its explanations would give the result away
        data |= {"why": _html(option.why), "belief": option.misconception}
    return data


def _number_data(item: Item) -> dict[str, Any]:
    number, said = item.number, {}
    for code in LANGUAGES:
        with speaking(code):
            said[code] = inline(number_words(number))
    return {
        "value": number.value,
        "low": number.low,
        "high": number.high,
        "unit": _html(number.unit),
        "words": said,
        "why": _html(number.why),
        "traps": [
            {"low": trap.low, "high": trap.high, "why": _html(trap.why), "belief": trap.misconception}
            for trap in number.traps
        ],
    }


def page_data(items: Iterable[Item], beliefs: Mapping[str, Text], language: str) -> dict[str, Any]:
    """Everything the cards of a page know in one language, as plain data. beliefs: misconception id -> statement."""
    data = {
        "words": words(),
        "items": [item_data(item) for item in showable(items)],
        "beliefs": {one: _html(text) for one, text in beliefs.items()},
    }
    return {"version": __version__, "language": language, **_cut(data, [language])}


def _cut(data: Any, languages: Sequence[str]) -> Any:
    """The data with every text in these languages alone."""
    if isinstance(data, list):
        return [_cut(one, languages) for one in data]
    if not isinstance(data, dict):
        return data
    if data.keys() == set(LANGUAGES):
        return {code: data[code] for code in languages}
    return {key: _cut(value, languages) for key, value in data.items()}


def read(name: str) -> str:
    """A file of ``static``."""
    return (STATIC / name).read_text("utf-8")


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
    "comma": both(", ", "、"),
}


def _shared() -> dict[str, Callable[[], str]]:
    """Words that the cards of the notebooks have already."""
    made: dict[str, Callable[[], str]] = {}
    for kind in schema.KINDS:
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
    found = {code: {key: text[code] for key, text in (_OWN | SENTENCES).items()} for code in LANGUAGES}
    for code in LANGUAGES:
        with speaking(code):
            found[code] |= {key: made() for key, made in _shared().items()}
        found[code] |= {f"said_{key}": inline(pick(text, code)) for key, text in SAID.items()}
        found[code] |= {f"confidence_{level}": text[code] for level, text in CONFIDENCE.items()}
    return found
