"""The bets in words: one text for terminals, one page for notebooks, the same sentences in both."""

from __future__ import annotations

from collections.abc import Sequence

from course.cards.page import listing, page, table
from course.i18n import pick, t
from course.learning.calibration import ENOUGH, Bet, Level, Return, Score, bet_levels, score
from course.learning.marking import CONFIDENCE
from course.markup import inline, plain
from course.questions.wording import reason_alone

TONES = {"won": "main", "lost": "bet", "inconclusive": "part", "open": "", "late": ""}


def state_words(state: str) -> str:
    """The state of a bet, with a sign that repeats it."""
    return {
        "won": t("● won", "● 押中"),
        "lost": t("◌ lost", "◌ 没押中"),
        "inconclusive": t("? inconclusive", "? 无法判定"),
        "open": t("○ not measured yet", "○ 还没测"),
        "late": t("– placed after the result", "– 结果已知后才下注"),
    }[state]


def counts_words(bets: Sequence[Bet]) -> str:
    """How many bets there are of each state."""
    number = {state: sum(bet.state == state for bet in bets) for state in TONES}
    parts = [
        t(f"{number['won']} won", f"押中 {number['won']}"),
        t(f"{number['lost']} lost", f"没押中 {number['lost']}"),
    ]
    if number["inconclusive"]:
        parts.append(t(f"{number['inconclusive']} inconclusive", f"无法判定 {number['inconclusive']}"))
    if number["open"]:
        parts.append(t(f"{number['open']} not measured yet", f"还没测 {number['open']}"))
    if number["late"]:
        parts.append(
            t(
                f"{number['late']} placed when the result was known (not counted)",
                f"结果已知后才下注 {number['late']}（不计分）",
            )
        )
    noun = "bet" if len(bets) == 1 else "bets"
    return t(f"{len(bets)} {noun}: ", f"共 {len(bets)} 次下注：") + t(", ", "，").join(parts) + t(".", "。")


def level_words(level: Level) -> str:
    """What one confidence came to, with its interval; no claim from a handful."""
    low, high = (round(100 * one) for one in level.interval)
    said, stated = pick(CONFIDENCE[level.confidence]), round(100 * level.stated)
    head = t(
        f"“{said}” (read as {stated} %): right {level.right} of {level.total}, interval {low} to {high} %; ",
        f"“{said}”（按 {stated}% 计）：{level.total} 次对了 {level.right} 次，区间 {low}%～{high}%；",
    )
    return (
        head
        + {
            "few": t("too few to say more.", "次数太少，还看不出什么。"),
            "fits": t("as far as these few tell, the confidence fits.", "就这些次数来看，把握与结果相符。"),
            "over": t("right less often than said.", "实际对的比说的少，过于自信。"),
            "under": t("right more often than said.", "实际对的比说的多，可以更自信些。"),
        }[level.finding]
    )


def score_words(found: Score | None, bets: Sequence[Bet] = ()) -> str:
    """The Brier score in words; without one, why there is none."""
    if found is None and any(bet.state in ("won", "lost") for bet in bets):
        return t(
            "None of the settled bets says how sure you were, so there is no score. "
            "Press one of the three buttons, or add `confidence=2` when you type.",
            "已揭晓的赌注都没有说把握有多大，所以没有得分。下次点三个按钮之一，或者在输入时加上 `confidence=2`。",
        )
    if found is None:
        return t("No bet was settled yet, so there is no score.", "还没有已揭晓的赌注，所以没有得分。")
    head = t(
        f"Score over {found.total} settled {'bet' if found.total == 1 else 'bets'}: {found.brier:.2f}. "
        "It is the mean squared distance between confidence and outcome: 0 is perfect, "
        f"calling every bet a guess would have given {found.chance:.2f}.",
        f"{found.total} 次已揭晓的赌注，得分 {found.brier:.2f}：把握与结果之差的平方的平均值，0 最好；"
        f"如果每次都说“猜的”，会是 {found.chance:.2f}。",
    )
    gap = t(" ", "")
    return (
        head
        + gap
        + {
            "few": t(
                f"Below {ENOUGH} bets this is mostly luck; read nothing into it.",
                f"不到 {ENOUGH} 次时主要看运气，别太当真。",
            ),
            "better": t("Your confidence carried information.", "你的把握确实带有信息。"),
            "worse": t(
                "Guessing would have done better: the certain bets that lost cost most.",
                "还不如都说“猜的”：代价最大的是很确定却没押中的那几次。",
            ),
            "unclear": t("That is not clearly different from guessing yet.", "目前和猜的相比还分不出高下。"),
        }[found.compared]
    )


def settled_words(bet: Bet) -> str:
    """Which record settled a bet."""
    if bet.settled is None:
        return t(f'run observe("{bet.item.experiment}")', f'运行 observe("{bet.item.experiment}")')
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
    if bet.changed:
        words += t("; runs disagreed, the latest counts", "；几次结果不一致，以最近一次为准")
    return words


def _answer(bet: Bet, answer: str | float | None) -> str:
    if bet.item.slider and isinstance(answer, float):
        return f"{answer:.3g} {pick(bet.item.slider.unit)}"
    option = bet.item.option(str(answer))
    return pick(option.text).rstrip(".。") if option else "–"


def _said(bet: Bet) -> str:
    """What was bet, and why where the learner wrote it."""
    said = _answer(bet, bet.choice)
    if bet.setting:
        said = f"{pick(bet.setting)} → {said}"
    if not bet.because:
        return said
    own = reason_alone(bet.because)
    return said + t(f", because {own}", f"，因为{own}")


def bet_sentence(bet: Bet) -> str:
    """A settled bet as a sentence, with marks."""
    said, came = _answer(bet, bet.choice), _answer(bet, bet.outcome)
    if bet.state == "won":
        return t(
            f"{state_words('won')}: you bet “{said}”, and so it was.", f"{state_words('won')}：你押“{said}”，果然如此。"
        )
    return t(
        f"{state_words('lost')}: you bet “{said}”; it was “{came}”.",
        f"{state_words('lost')}：你押“{said}”，结果是“{came}”。",
    )


def _return_words(one: Return) -> str:
    return t(f"`{one.item}` from {one.due.astimezone():%Y-%m-%d}", f"`{one.item}`：{one.due.astimezone():%Y-%m-%d} 起")


def _rows(bets: Sequence[Bet]) -> list[tuple[str, str, str, str, str, str]]:
    """(id, bet, confidence, outcome, state, settled by) of each bet, in words."""
    return [
        (
            bet.item.id,
            _said(bet),
            pick(CONFIDENCE[bet.confidence]) if bet.confidence in CONFIDENCE else "–",
            _answer(bet, bet.outcome),
            bet.state,
            settled_words(bet),
        )
        for bet in bets
    ]


def _none() -> str:
    return t(
        "No bets yet. Place one with `predict(...)` in a lesson, then measure.",
        "还没有下过注。在课里用 `predict(...)` 下注，然后测量。",
    )


def _returns_title() -> str:
    return t("Lost bets that come back with `review()`:", "没押中的赌注会在 `review()` 时再来：")


def bets_text(bets: Sequence[Bet], returns: Sequence[Return] = ()) -> str:
    """All bets as plain text."""
    if not bets:
        return plain(_none())
    lines = [counts_words(bets)]
    for identity, choice, sure, outcome, state, settled in _rows(bets):
        came = t(f"came out: {plain(outcome)}; ", f"结果：{plain(outcome)}；") if outcome != "–" else ""
        lines.append(
            f"{state_words(state)}  [{identity}] {plain(choice)} ({sure}); {came}{settled}"
            if t("en", "zh") == "en"
            else f"{state_words(state)}  [{identity}] {plain(choice)}（{sure}）；{came}{settled}"
        )
    lines += [plain(score_words(score(bets), bets)), *map(level_words, bet_levels(bets))]
    if returns:
        lines += [plain(_returns_title()), *(f"  - {plain(_return_words(one))}" for one in returns)]
    return "\n".join(lines)


def bets_html(bets: Sequence[Bet], returns: Sequence[Return] = (), picture: str = "") -> str:
    """All bets as a page. picture: HTML of the calibration plot."""
    title = t("Your bets", "你的赌注")
    if not bets:
        return page(title, f"<p>{inline(_none())}</p>")
    rows = [
        (
            f"<code>{identity}</code>",
            inline(choice),
            sure,
            inline(outcome),
            f'<span class="{TONES[state]} nowrap">{state_words(state)}</span>',
            f"<small>{inline(settled)}</small>",
        )
        for identity, choice, sure, outcome, state, settled in reversed(_rows(bets))
    ]
    heads = [
        t("Bet", "题号"),
        t("You said", "你押的"),
        t("How sure", "把握"),
        t("It came out", "结果"),
        t("State", "状态"),
        t("Settled by", "依据"),
    ]
    return page(
        title,
        f"<p>{inline(counts_words(bets))}</p><p>{inline(score_words(score(bets), bets))}</p>",
        picture,
        listing(t("Confidence and outcome", "把握与结果"), [inline(level_words(one)) for one in bet_levels(bets)]),
        listing(plain(_returns_title()), [inline(_return_words(one)) for one in returns]),
        f"<h4>{t('Every bet, the latest first', '全部赌注，最近的在前')}</h4>",
        table(heads, rows, title),
    )
