"""The bets in words: what was asked, what was bet, what came out."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Sequence

from course.core.catalog import BY_ID
from course.core.i18n import html_language, pick, t
from course.core.markup import code_block, inline, plain
from course.core.tables import Table
from course.figures.shown import STYLE, Betted, bet_html
from course.learning.bets import Bet, Return, levels
from course.learning.marking import CONFIDENCE
from course.questions.items import Item
from course.questions.wording import reason_alone


def state_words(bet: Bet) -> str:
    """How a bet stands, with a sign that repeats it, and which measurement settled it."""
    said = {
        "won": t("● won", "● 押中"),
        "lost": t("◌ lost", "◌ 没押中"),
        "inconclusive": t("? undecided", "? 没测出结论"),
        "open": t("○ not measured yet", "○ 还没测"),
        "late": t("– placed when the result was known", "– 结果已知后才下注"),
    }[bet.state]
    return f"{said} · {settled_words(bet)}" if bet.settled else said


def level_table(bets: Sequence[Bet]) -> Table:
    """How often the bets of each confidence came true: a line each."""
    head = ["", t("settled", "已揭晓"), t("right", "押中"), t("hit rate", "命中率")]
    lines = [
        [
            pick(CONFIDENCE[one.confidence]) if one.confidence else t("not said", "没说"),
            f"{one.total}",
            f"{one.right}",
            f"{one.right / one.total:.0%}",
        ]
        for one in levels(bets)
    ]
    return Table([head, *lines])


def settled_words(bet: Bet) -> str:
    """Which measurement settled a bet. Call it for one that was measured."""
    parts = (bet.record or "").split(" ", 2)
    if bet.source:
        words = f"{bet.settled.astimezone():%Y-%m-%d}{t(', ', '，')}{pick(bet.source)}"
    elif len(parts) == 3 and parts[0] in ("live", "replay"):
        day, name = parts[1][:10], parts[2]
        words = (
            t(f"measured here, {day}, {name}", f"本机实测，{day}，{name}")
            if parts[0] == "live"
            else t(f"recorded {day} on {name}", f"录制于 {day}，{name}")
        )
    else:
        words = t(f"measured {bet.settled.astimezone():%Y-%m-%d}", f"测于 {bet.settled.astimezone():%Y-%m-%d}")
    return words


def answer_words(item: Item, answer: str | None) -> str:
    """An option in words, without a full stop at the end; marks for code and bold stay."""
    option = item.option(str(answer))
    return pick(option.text).rstrip(".。") if option else "–"


def outcome_words(item: Item, winner: str, won: bool) -> str:
    """What came out, after the bet."""
    return t("as you bet", "和你押的一样") if won else answer_words(item, winner)


def bet_sentence(bet: Bet) -> str:
    """A settled bet as sentences, with marks: what was asked, what was bet, what came out."""
    sign, said = "●" if bet.state == "won" else "◌", answer_words(bet.item, bet.choice)
    asked = f"{sign} {asked_words(bet.item)}{t(' ', '')}"
    came = answer_words(bet.item, bet.outcome)
    if bet.state == "won":
        return asked + t(f"You bet “{said}”, and so it was.", f"你押“{said}”，果然如此。")
    return asked + t(f"You bet “{said}”; it was “{came}”.", f"你押“{said}”，结果是“{came}”。")


SHORTEST = 45
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


def headline_words(bets: Sequence[Bet]) -> str:
    """What all bets came to, in one sentence."""
    won, settled = (sum(bet.state in states for bet in bets) for states in (("won",), ("won", "lost")))
    if settled:
        return t(f"You won {won} of {settled} {_bets(settled)}.", f"{settled} 次下注有了结果，押中 {won} 次。")
    if bets:
        return t(
            f"{len(bets)} {_bets(len(bets))}, no result that counts yet.",
            f"下了 {len(bets)} 次注，还没有能计分的结果。",
        )
    return t("No bets yet.", "还没有下过注。")


def _bets(count: int) -> str:
    return "bet" if count == 1 else "bets"


def rest_words(bets: Sequence[Bet]) -> str:
    """How many bets do not count, and why; "" where all do."""
    many = Counter(bet.state for bet in bets)
    parts = [
        t(f"{many['inconclusive']} undecided", f"{many['inconclusive']} 次没测出结论"),
        t(f"{many['open']} not measured yet", f"{many['open']} 次还没测"),
        t(f"{many['late']} placed when the result was known", f"{many['late']} 次在结果已知后才押"),
    ]
    kept = [words for words, state in zip(parts, ("inconclusive", "open", "late"), strict=True) if many[state]]
    return t("Not counted: ", "不计分的：") + t(", ", "，").join(kept) + t(".", "。") if kept else ""


def betted_words(bet: Bet) -> Betted:
    """A bet and what came out."""
    mine = answer_words(bet.item, bet.choice)
    if bet.because:
        mine += t(f", because {reason_alone(bet.because)}", f"，因为{reason_alone(bet.because)}")
    if bet.confidence in CONFIDENCE:
        mine += t(f" ({pick(CONFIDENCE[bet.confidence])})", f"（{pick(CONFIDENCE[bet.confidence])}）")
    if bet.state in ("open", "inconclusive"):
        why = t("nothing decided it yet", "还没有测出结论") if bet.settled else t("not measured yet", "还没测")
        if bet.item.experiment:
            why += t(f', run `observe("{bet.item.experiment}")`', f'，运行 `observe("{bet.item.experiment}")`')
        return Betted(mine, still=why)
    return Betted(mine, outcome_words(bet.item, bet.outcome, bet.state == "won"), t("It came out", "结果是"))


def _question(bet: Bet) -> str:
    """What was asked; in a game, the case and what was tried."""
    stem = pick(bet.item.stem).strip()
    return f"**{plain(stem)}** · {pick(bet.setting)}" if bet.setting else stem


def _of_lessons(bets: Sequence[Bet]) -> list[tuple[str, list[Bet]]]:
    """(title of the lesson, its bets), the lesson of the latest bet first; in a lesson the latest bet first."""
    found: dict[str, list[Bet]] = {}
    for bet in reversed(bets):
        found.setdefault(bet.item.lesson, []).append(bet)
    named = []
    for lesson, own in found.items():
        known = BY_ID.get(lesson)
        won, settled = (sum(bet.state in states for bet in own) for states in (("won",), ("won", "lost")))
        count = t(f" ({won} of {settled} won)", f"（{settled} 次押中 {won} 次）") if settled else ""
        named.append((f"{lesson[:2]} {pick(known.question) if known else lesson}{count}", own))
    return named


def _returns(bets: Sequence[Bet], returns: Sequence[Return]) -> list[str]:
    """The lost bets that come back, a line each, with marks."""
    items = {bet.item.id: bet.item for bet in bets}
    return [
        t(f"From {one.due.astimezone():%Y-%m-%d}: ", f"{one.due.astimezone():%Y-%m-%d} 起：")
        + asked_words(items[one.item])
        for one in returns
    ]


def _none() -> str:
    return t("Place one with `predict(...)` in a lesson, then measure.", "在课里用 `predict(...)` 下注，然后测量。")


def _returns_title() -> str:
    return t("Lost bets that come back with `review()`:", "没押中的赌注会在 `review()` 时再来：")


def _sure_title() -> str:
    return t("As sure as right?", "把握和结果相称吗？")


def bets_html(bets: Sequence[Bet], returns: Sequence[Return] = ()) -> str:
    """All bets as a block like those of results."""
    parts = [f'<h3 class="tbr-head">{inline(headline_words(bets))}</h3>']
    parts.append(f'<p class="tbr-small">{inline(rest_words(bets) if bets else _none())}</p>')
    if (sure := level_table(bets)).lines[1:]:
        parts.append(f'<p class="tbr-small">{_sure_title()}</p><figure class="tbr-pic">{sure.html()}</figure>')
    for number, (title, own) in enumerate(_of_lessons(bets)):
        parts.append(_fold(title, "".join(map(_bet_html, own)), opened=number == 0))
    if returns:
        parts.append(
            _fold(plain(_returns_title()), "".join(f"<li>{inline(line)}</li>" for line in _returns(bets, returns)))
        )
    return f'{STYLE}<section class="tbr" lang="{html_language()}">{"".join(parts)}</section>'


def _fold(title: str, inside: str, opened: bool = False) -> str:
    state = " open" if opened else ""
    return f'<details class="tbr-fold"{state}><summary>{html.escape(plain(title))}</summary>{inside}</details>'


def _bet_html(bet: Bet) -> str:
    code = code_block(pick(bet.item.code)) if bet.item.code else ""
    asked = f'<p class="tbr-small">{inline(state_words(bet))}</p><p>{inline(_question(bet))}</p>{code}'
    return f'<div class="tbr-one">{asked}{bet_html(betted_words(bet))}</div>'
