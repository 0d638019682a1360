"""The verb ``bets``: all bets with their results, how often each confidence was right, and which lost bets come back."""

from __future__ import annotations

from collections.abc import Sequence

from course.cards.page import listing, page, table
from course.core.i18n import pick, t
from course.core.markup import inline, plain
from course.learning.bets import Bet, Return, levels, placed_bets, returns
from course.learning.marking import CONFIDENCE
from course.questions.wording import answer_words, asked_words, outcome_words, reason_alone
from course.verbs import state
from course.verbs.say import in_words, put, say


@in_words
def bets() -> None:
    """Show every bet with its confidence and result, how often each confidence was right, and the lost bets that come back."""
    put(bets_html())
    for notice in state.now.log.take_notices():
        say(notice)


def bets_html() -> str:
    """All bets of this learner as a page, in the language in use."""
    entries = state.now.log.entries()
    return bets_page(placed_bets(entries, state.now.bank), returns(entries, state.now.bank))


def bets_page(found: Sequence[Bet], back: Sequence[Return] = ()) -> str:
    """The hit rate of each confidence, a table of all bets, the latest first, and the lost ones that come back."""
    title, sure = t("Your bets", "你的赌注"), t("How sure", "把握")
    heads = (t("Bet", "赌注"), t("You bet", "你押的是"), t("It came out", "结果是"), t("How it stands", "状态"))
    rates = (sure, t("settled", "已揭晓"), t("right", "押中"), t("hit rate", "命中率"))
    said = [_sure(one.confidence) for one in levels(found)]
    lines = [(f"{one.total}", f"{one.right}", f"{one.right / one.total:.0%}") for one in levels(found)]
    items = {bet.item.id: bet.item for bet in found}
    return page(
        title,
        f"<p><b>{inline(headline_words(found))}</b></p>",
        table(rates, [(name, *line) for name, line in zip(said, lines, strict=True)], sure) if said else "",
        table(heads, map(_row, reversed(found)), title) if found else "",
        listing(
            plain(t("Lost bets that come back with `review()`:", "没押中的赌注会在 `review()` 时再来：")),
            [inline(_returning(one, asked_words(items[one.item]))) for one in back],
        ),
    )


def _returning(one: Return, asked: str) -> str:
    return t(f"From {one.due.astimezone():%Y-%m-%d}: ", f"{one.due.astimezone():%Y-%m-%d} 起：") + asked


def _sure(confidence: int | None) -> str:
    return pick(CONFIDENCE[confidence]) if confidence in CONFIDENCE else t("not said", "没说")


def _row(bet: Bet) -> tuple[str, str, str, str]:
    asked, mine, out = asked_words(bet.item), answer_words(bet.item, bet.choice), "–"
    if bet.because:
        mine += t(f", because {reason_alone(bet.because)}", f"，因为{reason_alone(bet.because)}")
    if bet.state in ("won", "lost", "late"):
        out = outcome_words(bet.item, bet.outcome, bet.outcome == bet.choice)
    elif bet.item.experiment:
        out = t(f'run `observe("{bet.item.experiment}")`', f'运行 `observe("{bet.item.experiment}")`')
    stands = f"{state_words(bet)}<br><small>{inline(settled_words(bet))}</small>" if bet.settled else state_words(bet)
    sure = f"<br><small>({_sure(bet.confidence)})</small>"
    return f"{inline(asked)}<small>{bet.item.lesson[:2]}</small>", f"{inline(mine)}{sure}", inline(out), stands


def state_words(bet: Bet) -> str:
    """How a bet stands, with a sign that repeats it."""
    return {
        "won": t("● won", "● 押中"),
        "lost": t("◌ lost", "◌ 没押中"),
        "inconclusive": t("? undecided", "? 没测出结论"),
        "open": t("○ not measured yet", "○ 还没测"),
        "late": t("– placed when the result was known", "– 结果已知后才下注"),
    }[bet.state]


def settled_words(bet: Bet) -> str:
    """Which measurement settled a bet. Call it for one that was measured."""
    parts, day = (bet.record or "").split(" ", 2), f"{bet.settled.astimezone():%Y-%m-%d}"
    if len(parts) == 3 and parts[0] in ("live", "replay"):
        day, name = parts[1][:10], parts[2]
        if parts[0] == "live":
            return t(f"measured here, {day}, {name}", f"本机实测，{day}，{name}")
        return t(f"recorded {day} on {name}", f"录制于 {day}，{name}")
    return t(f"measured {day}", f"测于 {day}")


def headline_words(found: Sequence[Bet]) -> str:
    """What all bets came to, and how many of them do not count."""
    won, settled = (sum(bet.state in states for bet in found) for states in (("won",), ("won", "lost")))
    if not found:
        return t(
            "No bets yet. Place one with `predict(...)`, then measure.",
            "还没有下过注。用 `predict(...)` 下注，然后测量。",
        )
    rest = len(found) - settled
    noun = "bet" if settled == 1 else "bets"
    said = t(f"You won {won} of {settled} {noun}.", f"{settled} 次下注有了结果，押中 {won} 次。")
    return said + (t(f" Not counted: {rest}.", f"不计分：{rest} 次。") if rest else "")
