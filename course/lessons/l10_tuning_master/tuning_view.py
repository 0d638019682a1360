"""How the tuning game shows its panel and what came of the settings, as HTML; text is made from it (``core.plain_text``)."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from course.cards.page import table
from course.core.i18n import pick, t
from course.core.markup import inline, plain
from course.core.units import format_ratio, ratio_words
from course.figures.kinds import Bet as Marked
from course.figures.kinds import Ratio, ratio_rows
from course.game import view
from course.game.cases import EVIDENCE
from course.game.view import aside, colon, source_words
from course.learning.marking import CONFIDENCE
from course.lessons.l10_tuning_master.panel import FEW, Config, Outcome, Plan, config_in, in_words, key, shared
from course.lessons.l10_tuning_master.tuning import BET_NOTE, HINT_POINTS, Attempt, Bet, Tuning

RULED_SIGNS = {"fits": "✓", "works": "◐", "breaks": "✗"}
SIDES = {"faster": "left", "same": "middle", "slower": "right"}


# --- in sentences, with marks ------------------------------------------------------------------------------------------


def interval(outcome: Outcome) -> str:
    """0.44 [0.43, 0.45] times today's time; words where the rounds make no interval."""
    if outcome.get("verdict") == FEW:
        return t("too few rounds", "轮数太少")
    value, low, high = format_ratio(outcome["ratio"], outcome["low"], outcome["high"])
    return value if low == high else f"{value} [{low}, {high}]"


def limits_words(plan: Plan, bet: Bet) -> str:
    """What became of every requirement, in sentences."""
    found = ""
    for one in plan.limits:
        value, bound = bet.outcome.get("facts", {}).get(one.id), one.bound(bet.today)
        words = {True: t("kept", "守住了"), False: t("broken", "没守住"), None: t("not measured here", "这里没有测")}
        known = bound is not None and value is not None
        figures = f"{one.words(value)}{t('; limit ', '；上限 ')}{one.words(bound)}" if known else ""
        told = colon(pick(one.name), words[one.kept(bet.outcome, bet.today)]) + (aside(figures) if figures else "")
        found += t(f" {told[0].upper()}{told[1:]}.", f"{told}。")
    return found


def sentence(plan: Plan, bet: Bet) -> str:
    """What became of one configuration, and of the bet on it."""
    name = in_words(plan, bet.config)
    if plan.rules:
        rule, came = plan.rules[bet.outcome["rule"]], pick(plan.bets()[bet.came])
        source = aside(t("rule: ", "规则：") + source_words(rule.source))
        found = t(f"**{name}**: {came}. {pick(rule.says)}{source}", f"**{name}**：{came}。{pick(rule.says)}{source}")
    elif bet.outcome.get("verdict") == FEW:
        found = t(f"**{name}**: too few rounds for a time.", f"**{name}**：轮数太少，说不出耗时。")
    else:
        found = t(
            f"**{name}** takes {interval(bet.outcome)} of today's time.",
            f"**{name}**：耗时是现在的 {interval(bet.outcome)} 倍。",
        )
    back = t("The machine was busy, so this run is not used up.", "机器正忙，这次不扣次数。") if bet.untold else ""
    return " ".join(filter(None, [found + limits_words(plan, bet), bet_words(plan, bet), back]))


def bet_words(plan: Plan, bet: Bet) -> str:
    """The bet beside what came out; empty where there was nothing left to bet on."""
    bets = plan.bets()
    if bet.bet not in bets:
        return ""
    said = pick(bets[bet.bet]) + aside(pick(CONFIDENCE[bet.confidence]))
    if bet.came == bet.bet:
        return t(f"🎯 Your bet: {said}. It came out so.", f"🎯 你押的是：{said}。押中了！")
    if bet.came:
        became = t(f"It came out: {pick(bets[bet.came])}.", f"结果是：{pick(bets[bet.came])}。")
    else:
        became = t("Nothing is decided, so the bet does not count.", "没分出高下，这一注不算。")
    return t(f"🎲 Your bet: {said}. {became}", f"🎲 你押的是：{said}。{became}")


def run_sentences(attempt: Attempt) -> list[str]:
    """What became of each run."""
    return [sentence(attempt.plan, one) for one in attempt.runs]


def busy_words() -> str:
    """What a busy machine means for a measurement, and what answers in its place."""
    return t(
        "⏳ Other programs keep this machine busy: a time may be too noisy to tell. `recording=True` lets a recording answer.",
        "⏳ 机器正忙着别的程序：测出来的耗时可能说不准。加 `recording=True`，就用录好的结果回答。",
    )


def origin_words(evidence: Mapping) -> str:
    """Where a result came from: on which machine, or by which kind of evidence."""
    kind, machine = evidence.get("evidence", "live"), evidence.get("machine", "")
    return f"{pick(EVIDENCE[kind])[0]} {pick(machine)}" if machine else pick(EVIDENCE[kind])


def best_words(attempt: Attempt) -> str:
    """The best setting, and how many cannot be told from it; empty where the measurement cannot tell."""
    plan, best = attempt.plan, attempt.table.best_told()
    if not best:
        return ""
    if plan.rules:
        return f"**{in_words(plan, shared(best))}**"
    others, said = len(best) - 1, f"**{in_words(plan, config_in(best[0]))}**"
    return said + (
        aside(t(f"{others} more cannot be told from it", f"另有 {others} 套和它分不出高下")) if others else ""
    )


def result_lines(attempt: Attempt) -> list[str]:
    """The hand-in in sentences."""
    plan, made, handed = attempt.plan, attempt.table, attempt.handed
    lines = [t("📦 Handed in: ", "📦 你交的方案：") + sentence(plan, handed)]
    best, hand = made.best_told(), key(handed.config)
    if hand in best:
        alone = t(" The art here was to leave it alone.", "这里的本事就是不去动它。") if hand == made.today else ""
        lines.append(t("🎯 That is among the best on this panel.", "🎯 这是面板上最好的一档！") + alone)
    elif best:
        lines.append(headline(attempt))
    if handed.came == "breaks":
        lines.append(
            t(
                "The client thanks you for the honest figures: now everybody knows what must not be touched.",
                "客户谢谢你给出了实打实的数字：现在大家都知道什么不能碰了。",
            )
        )
    return lines


def headline(attempt: Attempt) -> str:
    """What came out of the whole case, in a sentence."""
    best = attempt.table.best_told()
    if attempt.table.today in best:
        return t("The best here is to leave it as it is.", "这里最好的办法：别动它。")
    if not best:
        return t("Too close to call: no setting stands out here.", "难分高下：这里没有哪一套明显更好。")
    words = best_words(attempt)
    if attempt.plan.rules:
        return t(f"Right here: {words}.", f"这里该用：{words}。")
    ratio = ratio_words(attempt.table.outcomes[best[0]]["ratio"])
    return t(f"Best here: {words}: {ratio}.", f"这里最好的是：{words}，{ratio}。")


# --- the panel, for text and saved copy --------------------------------------------------------------------------------


def budget_name(play: Tuning) -> str:
    if play.plan.rules:
        return t("looks into the rule book left", "还能翻规则书的次数")
    return t("runs left", "剩余测量次数")


def budget_html(play: Tuning) -> str:
    """Runs left, as words and little blocks."""
    left, all_of = play.runs_left(), play.plan.runs
    blocks = "<i></i>" * (all_of - left) + "<i class=full></i>" * left
    return f'<p class="tbg-left">{budget_name(play)} {left} / {all_of} <span aria-hidden="true">{blocks}</span></p>'


def panel_html(play: Tuning) -> str:
    """The controls with their values, and how to move by typing."""
    plan, rows, call = play.plan, "", play.case.call
    today = t(" (today)", "（现在）")
    for one in plan.controls:
        values = " | ".join(name + today * (plan.today[one.id] == name) for name in one.values)
        said = inline(colon(values, pick(one.name) + aside(pick(one.says))))
        rows += f"<li><code>{one.id}</code> = {said}</li>"
    first = plan.controls[0]
    value = next(name for name in first.values if name != plan.today[first.id])
    bets = list(plan.bets())
    moves = [
        f'{call}.run({first.id}="{value}", bet="{bets[0]}", confidence="fairly")',
        f"bet: {' | '.join(bets)}; confidence: guess | fairly | certain",
        f"{call}.hand_in(...)   {call}.hint()  # {t(f'costs {HINT_POINTS:g} points', f'扣 {HINT_POINTS:g} 分')}",
    ]
    typed = f"<pre><code>{html.escape(chr(10).join(moves))}</code></pre>"
    return f"<ul>{rows}</ul>{budget_html(play)}<p>🎲 {pick(BET_NOTE)}</p>{typed}"


# --- settings around today ---------------------------------------------------------------------------------------------


def runs_html(attempt: Attempt, saved: bool = False) -> str:
    """The runs so far on one axis; nothing where rules decide."""
    if attempt.plan.rules or not attempt.runs:
        return ""
    tried = [(one.config, one.outcome, _broken(one.came), one) for one in attempt.runs]
    return _picture(attempt.plan, tried, saved)


def table_html(attempt: Attempt, saved: bool = False) -> str:
    """All settings, best first, the player's with their bets; of a case by rule its rules."""
    plan, made = attempt.plan, attempt.table
    if plan.rules:
        return _rules(attempt)
    bets = {key(one.config): one for one in (attempt.handed, *reversed(attempt.runs)) if one.bet}
    rows = []
    for name, outcome in sorted(made.outcomes.items(), key=lambda one: one[1]["ratio"]):
        best = [t("among the best", "最好的一档")] * (name in made.best_told())
        words = [*best, *_broken(made.came_out(name)), *_marks(attempt, [name])]
        rows.append((config_in(name), outcome, words, bets.get(name)))
    return _picture(plan, rows, saved)


def _broken(came: str | None) -> list[str]:
    return [t("breaks a requirement", "违反要求")] * (came == "breaks")


def _marks(attempt: Attempt, names: Sequence[str]) -> list[str]:
    """What the player did with one of these settings; that it runs today, that it is the usual advice."""
    known = {
        t("handed in", "你交的"): [key(attempt.handed.config)],
        t("your run", "你测过"): [key(one.config) for one in attempt.runs],
        t("usual advice", "常见建议"): [key(attempt.plan.advice or {})],
        t("today", "现在"): [attempt.table.today],
    }
    return [words for words, mine in known.items() if set(mine) & set(names)]


def _picture(plan: Plan, tried: Sequence[tuple[Config, Outcome, Sequence[str], Bet | None]], saved: bool) -> str:
    """Settings around today, a row each, with the bets on them. tried: (configuration, outcome, remarks, bet). saved: as a table."""
    if saved:
        heads = [t("setting", "设置"), t("× today's time", "耗时，现在的几倍"), ""]
        rows = [
            (inline(in_words(plan, config)), interval(outcome), t(", ", "，").join(words))
            for config, outcome, words, _ in tried
        ]
        return table(heads, rows, t("Settings and their times", "各套设置的耗时"))
    rows, sides, staked = [], {}, ""
    for number, (config, outcome, words, bet) in enumerate(tried):
        few = outcome.get("verdict") == FEW
        ends = (None, None) if few else (outcome["low"], outcome["high"])
        figures = [interval(outcome)] * (config != plan.today)
        rows.append(
            Ratio(plain(in_words(plan, config)), outcome["ratio"], *ends, t(", ", "，").join([*words, *figures]))
        )
        if bet and bet.bet in SIDES and not few:
            sides[number] = SIDES[bet.bet]
            staked = staked or pick(plan.bets()[bet.bet])
    names = (t("faster than today", "比现在快"), t("slower than today", "比现在慢"))
    drawn = ratio_rows(rows, names, Marked(staked, sides) if sides else None, middle=t("today", "现在"))
    return f'<figure class="tbg-pic">{drawn.html(saved=False)}</figure>'


def _rules(attempt: Attempt) -> str:
    """The rules in their order, with what the player did with the settings that each decides."""
    plan, made, lines = attempt.plan, attempt.table, ""
    for place, rule in enumerate(plan.rules):
        names = [name for name, one in made.outcomes.items() if one["rule"] == place]
        came = made.came_out(names[0])
        when = in_words(plan, rule.when) or t("everything else", "其余的")
        marks = [
            *_marks(attempt, names),
            t(f"{made.points(names[0]):g} of 5 points", f"{made.points(names[0]):g} / 5 分"),
        ]
        head = (
            f"{RULED_SIGNS[came]} **{when}**{t(': ', '：')}{pick(plan.bets()[came])}{aside(t(', ', '，').join(marks))}"
        )
        source = f"<small>{inline(source_words(rule.source))}</small>"
        lines += f"<li><div><p>{inline(head)}<br>{inline(pick(rule.says))} {source}</p></div></li>"
    note = t("Read from the top: the first line that fits a setting decides.", "从上往下看：第一条对得上的说了算。")
    return f'<p class="tbq-note">{note}</p><ul class="tbq-lines" style="list-style:none">{lines}</ul>'


def result_html(attempt: Attempt, saved: bool = False) -> str:
    """After the hand-in: all settings, and where the figures come from."""
    return f'{table_html(attempt, saved)}<p class="tbq-note">{origin_words(attempt.handed.evidence)}</p>'


def now_html(play: Tuning) -> str:
    """An open case below its ticket, for text and saved copy."""
    attempt = play.attempt
    if attempt.handed:
        return view.lines_html(result_lines(attempt)) + result_html(attempt, True) + view.cause_html(play)
    return panel_html(play) + view.lines_html(run_sentences(attempt)) + runs_html(attempt, True)
