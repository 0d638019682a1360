"""How the tuning game shows its panel, its measurements and its table: HTML, and the same as text."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from course.figures.kinds import Bet as Marked
from course.figures.kinds import Ratio, ratio_rows
from course.figures.svg import SvgPicture
from course.figures.words import ratio_words
from course.game import view
from course.game.cases import EVIDENCE
from course.game.view import aside, colon, source_words
from course.i18n import pick, t
from course.learning.marking import CONFIDENCE
from course.lessons.l10_tuning_master import tuning_outcome, tuning_plan
from course.lessons.l10_tuning_master.tuning_attempt import Attempt, Bet
from course.lessons.l10_tuning_master.tuning_plan import Outcome, Plan, Rule
from course.lessons.l10_tuning_master.tuning_player import Tuning
from course.lessons.l10_tuning_master.tuning_score import HINT_POINTS
from course.markup import inline, plain
from course.timing.render import bracketed
from course.units import format_points, format_ratio


@dataclass(frozen=True)
class Row:
    """One line of the picture. state: words beside the bar; look: "", best, broken; mine: the learner's."""

    name: str
    outcome: Outcome
    state: str
    look: str = ""
    mine: bool = False


def interval(outcome: Outcome) -> str:
    """0.44 [0.43, 0.45] times today's time; a single number for today itself, words where the rounds make no interval."""
    if untold(outcome):
        return t("too few rounds", "轮数太少")
    return bracketed(*format_ratio(outcome["ratio"], outcome["low"], outcome["high"]))


def untold(outcome: Outcome) -> bool:
    """Whether the rounds were too few for a ratio."""
    return outcome.get("verdict") == tuning_outcome.FEW


def limits_words(plan: Plan, outcome: Outcome, today: Outcome) -> str:
    """What became of every requirement, in sentences."""
    found = ""
    for one in plan.limits:
        value, bound, kept = outcome.get("facts", {}).get(one.id), one.bound(today), one.kept(outcome, today)
        words = {True: t("kept", "守住了"), False: t("broken", "没守住"), None: t("not measured here", "这里没有测")}
        known = bound is not None and value is not None
        figures = f"{one.words(value)}{t('; limit ', '；上限 ')}{one.words(bound)}" if known else ""
        told = colon(pick(one.name), words[kept]) + (aside(figures) if figures else "")
        found += t(f" {told[0].upper()}{told[1:]}.", f"{told}。")
    return found


def sentence(plan: Plan, bet: Bet, today: Outcome, given_back: bool = False) -> str:
    """What became of one configuration, and of the bet on it, with marks. given_back: the run is not used up."""
    came = tuning_outcome.came_out(plan, bet.outcome, today)
    name, bets = tuning_plan.in_words(plan, bet.config), plan.bets()
    if plan.rules:
        rule = plan.rules[bet.outcome["rule"]]
        source = aside(t("rule: ", "规则：") + source_words(rule.source))
        found = t(
            f"**{name}**: {pick(bets[came])}. {pick(rule.says)}{source}",
            f"**{name}**：{pick(bets[came])}。{pick(rule.says)}{source}",
        )
    elif untold(bet.outcome):
        found = t(f"**{name}**: too few rounds for a time.", f"**{name}**：轮数太少，说不出耗时。")
    else:
        found = t(
            f"**{name}** takes {interval(bet.outcome)} of today's time.",
            f"**{name}**：耗时是现在的 {interval(bet.outcome)} 倍。",
        )
    found += limits_words(plan, bet.outcome, today) if not plan.rules else ""
    back = t(
        " The machine was busy, so this run is not used up; that happens once.", " 机器正忙，这次不扣次数，只此一回。"
    )
    return " ".join(filter(None, [found, bet_words(plan, bet, came)])) + (back if given_back else "")


def bet_words(plan: Plan, bet: Bet, came: str | None) -> str:
    """The bet beside what came out; empty where there was nothing left to bet on."""
    if bet.bet not in plan.bets():
        return ""
    said = pick(plan.bets()[bet.bet]) + aside(pick(CONFIDENCE[bet.confidence]))
    if came is None and untold(bet.outcome):
        return t(
            f"🎲 Your bet: {said}. Nothing is decided, so the bet does not count.",
            f"🎲 你押的是：{said}。没分出高下，这一注不算。",
        )
    if came is None:
        return t(
            f"🎲 Your bet: {said}. The interval holds 1: undecided, so the bet does not count.",
            f"🎲 你押的是：{said}。区间含着 1，无法判定，这一注不算。",
        )
    if came == bet.bet:
        return t(f"🎯 Your bet: {said}. It came out so.", f"🎯 你押的是：{said}。押中了！")
    return t(
        f"🎲 Your bet: {said}. It came out: {pick(plan.bets()[came])}.",
        f"🎲 你押的是：{said}。结果是：{pick(plan.bets()[came])}。",
    )


def run_sentences(plan: Plan, attempt: Attempt) -> list[str]:
    """What became of each run."""
    return [sentence(plan, one, one.today, one is attempt.back) for one in attempt.runs]


def waits_words(play: Tuning) -> str:
    """Why a hand-in waits and what can be done, with marks; empty where none does."""
    if play.attempt.waits is None:
        return ""
    return t(
        "⏸️ **Your hand-in waits.** The machine was too busy to tell the settings apart, so nothing is shown and nothing is used up. "
        "Close other programs and hand in again, this setting or another; "
        f"or let the recording of another machine decide: `{play.case.call}.hand_in(..., recording=True)`.",
        "⏸️ **方案先挂起。** 机器太忙，分不出高下，所以什么都不揭晓，也什么都不扣。"
        f"关掉别的程序再交一次，换一套也行；或者用另一台机器录好的结果来判：`{play.case.call}.hand_in(..., recording=True)`。",
    )


# --- the picture: bars around today ------------------------------------------------------------------------


def run_rows(plan: Plan, attempt: Attempt) -> list[Row]:
    """What was measured in this attempt, today first."""
    rows = [Row(tuning_plan.in_words(plan, plan.today), {"ratio": 1.0, "low": 1.0, "high": 1.0}, t("today", "现在"))]
    for one in attempt.runs:
        look = "broken" if tuning_outcome.broken(plan, one.outcome, one.today) else ""
        rows.append(Row(tuning_plan.in_words(plan, one.config), one.outcome, LOOKS[look](), look, True))
    return rows


def landmarks(plan: Plan, attempt: Attempt) -> dict[str, set[str]]:
    """Words -> keys of the configurations that a player finds again."""
    return {
        t("handed in", "你交的"): {tuning_plan.key(attempt.handed.config)},
        t("your run", "你测过"): {tuning_plan.key(one.config) for one in attempt.runs},
        t("today", "现在"): {tuning_plan.key(plan.today)},
    }


def table_rows(plan: Plan, attempt: Attempt) -> list[Row]:
    """All combinations, best first; today's, the runs and the hand-in are named."""
    table, today, known = attempt.table, tuning_plan.key(plan.today), landmarks(plan, attempt)
    allowed = tuning_outcome.permitted(plan, table, today)
    best = tuning_outcome.best_told(plan, table, today)
    rows = []
    for name in sorted(table, key=lambda name: table[name]["ratio"]):
        marks = [words for words, names in known.items() if name in names]
        look = "broken" if name not in allowed else "best" if name in best else ""
        state = t(", ", "，").join(filter(None, [*marks, LOOKS[look]()]))
        rows.append(Row(tuning_plan.in_words(plan, tuning_plan.config_in(name)), table[name], state, look, bool(marks)))
    return rows


LOOKS = {
    "": lambda: "",
    "best": lambda: t("among the best", "最好的一档"),
    "broken": lambda: t("breaks a requirement", "违反要求"),
}
"""How a line looks, in words."""


def bars_html(rows: Sequence[Row]) -> str:
    """Ratios with their intervals on a logarithmic axis; the dashed line is today."""
    ends = [max(one.outcome[end], 1e-3) for one in rows for end in ("low", "high")] + [1.0]
    low, high = math.log(min(ends) / 1.1), math.log(max(ends) * 1.1)

    def place(value: float) -> float:
        return round(100 * (math.log(max(value, 1e-3)) - low) / (high - low), 2)

    lines = []
    for one in rows:
        left, right, middle = (place(one.outcome[name]) for name in ("low", "high", "ratio"))
        looks = " ".join(filter(None, [one.look, "mine" if one.mine else ""]))
        bar = f'<s style="left:{left}%;width:{max(right - left, 0.5)}%"></s><i style="left:{middle}%"></i>'
        lines.append(
            f'<li class="{looks}"><span>{html.escape(plain(one.name))}</span><span class="tbg-track" aria-hidden="true">'
            f'<u style="left:{place(1.0)}%"></u>{"" if untold(one.outcome) else bar}</span>'
            f"<em><b>{interval(one.outcome)}</b> {html.escape(one.state)}</em></li>"
        )
    note = t(
        "Time over today's, with its interval; left of the dashed line is faster.",
        "耗时 / 现在的耗时，带区间；虚线左边更快。",
    )
    return f'<p class="tbq-note">{note}</p><ul class="tbg-bars">{"".join(lines)}</ul>'


@dataclass(frozen=True)
class Ruling:
    """One rule as it decided. bet: what comes out; parts: the settings, told in few parts (see ``tuning_plan.blocks``); marks: which of
    the player's are among them; points: what the outcome is worth, with its arithmetic.
    """

    rule: Rule
    bet: str
    parts: list[dict[str, str]]
    marks: str
    points: str

    def settings(self, plan: Plan) -> str:
        """The settings in the words of the panel, with marks."""
        words = t("; or ", "；或者 ").join(tuning_plan.in_words(plan, part) for part in self.parts)
        return f"**{words}**{aside(self.marks) if self.marks else ''}{aside(self.points)}"


def rulings(plan: Plan, attempt: Attempt) -> list[Ruling]:
    """The rules that decide something, best first."""
    found = []
    for place, rule in sorted(enumerate(plan.rules), key=lambda one: -one[1].share):
        names = {name for name, one in attempt.table.items() if one["rule"] == place}
        marks = t(", ", "，").join(words for words, mine in landmarks(plan, attempt).items() if names & mine)
        if parts := tuning_plan.blocks(plan, names):
            came, points = (
                tuning_outcome.came_out(plan, {"share": rule.share}, {}),
                ruled_points(plan, attempt.table, min(names)),
            )
            found.append(Ruling(rule, came, parts, marks, points))
    return found


def ruled_points(plan: Plan, table: Mapping[str, Outcome], name: str) -> str:
    """The points of a setting by rule with their arithmetic: the share of the goal it reaches, beside today's."""
    today = tuning_plan.key(plan.today)
    points, share, start = (
        tuning_outcome.outcome_points(plan, table, today, name),
        table[name]["share"],
        table[today]["share"],
    )
    figures = f"{format_points(points)} / 5"
    if share in (0, 1):
        return figures
    if share <= start:
        return figures + t(
            f"; reaches {share:g} of the goal, today {start:g}", f"；达到目标的 {share:g}，现在是 {start:g}"
        )
    sum_of = f"4 × ({share:g} − {start:g}) ÷ (1 − {start:g})" if start else f"4 × {share:g}"
    return figures + t(
        f"; reaches {share:g} of the goal, today {start:g}: {sum_of}, rounded down to half a point",
        f"；达到目标的 {share:g}，现在是 {start:g}：{sum_of}，向下取到半分",
    )


def ruled_note(plan: Plan, found: Sequence[Ruling]) -> str:
    """How to read the rulings, and which controls decide nothing, with marks."""
    named = {name for one in found for part in one.parts for name in part}
    idle = t(", ", "、").join(pick(one.name) for one in plan.controls if one.id not in named)
    note = t(
        "Each line names the settings that matter; the others make no difference.",
        "每行只写起作用的设置；没写出来的，怎么设都一样。",
    )
    return note + (t(f" These make no difference at all: {idle}.", f"从头到尾不起作用的：{idle}。") if idle else "")


def ruled_heads(found: Sequence[Ruling]) -> list[tuple[str, list[Ruling]]]:
    """What can come out, in words, with the rulings that say so."""
    marks = {"fits": "✓", "works": "◐", "breaks": "✗"}
    grouped = [(bet, [one for one in found if one.bet == bet]) for bet in marks]
    return [(f"{marks[bet]} {pick(tuning_plan.RULED_BETS[bet])}", group) for bet, group in grouped if group]


def ruled_html(plan: Plan, attempt: Attempt) -> str:
    found, lines = rulings(plan, attempt), ""
    for head, group in ruled_heads(found):
        told = "".join(
            f"<p>{inline(one.settings(plan))}<br>{inline(pick(one.rule.says))} "
            f"<small>{inline(source_words(one.rule.source))}</small></p>"
            for one in group
        )
        lines += f'<li><div><p class="what">{head}</p>{told}</div></li>'
    return f'<p class="tbq-note">{inline(ruled_note(plan, found))}</p><ul class="tbq-lines">{lines}</ul>'


def ruled_text(plan: Plan, attempt: Attempt) -> str:
    found, lines = rulings(plan, attempt), []
    for head, group in ruled_heads(found):
        lines.append(head)
        for one in group:
            told = plain(pick(one.rule.says)) + aside(source_words(one.rule.source))
            lines += [f"  - {plain(one.settings(plan))}", f"      {told}"]
    return "\n".join([plain(ruled_note(plan, found)), *lines])


def bars_text(rows: Sequence[Row]) -> str:
    """The picture as text: a row of # to the ratio (| is today)."""
    width = 20
    most = max(2.0, *(one.outcome["ratio"] for one in rows))
    lines = []
    for one in rows:
        filled = 0 if untold(one.outcome) else max(1, round(width * min(one.outcome["ratio"], most) / most))
        bar = ("#" * filled).ljust(width)
        at = round(width / most)
        bar = bar[:at] + ("|" if bar[at : at + 1] == " " else "#") + bar[at + 1 :]
        state = aside(one.state) if one.state else ""
        lines.append(f"  {bar}  {interval(one.outcome)}  {plain(one.name)}{state}")
    return "\n".join(lines)


# --- panel and result --------------------------------------------------------------------------------------


def panel_text(play: Tuning) -> str:
    """The panel, and how to move by typing."""
    plan, lines = play.plan, []
    for one in plan.controls:
        values = " | ".join(
            f"{name}{t(' (today)', '（现在）') if plan.today[one.id] == name else ''}" for name in one.values
        )
        lines.append(f"  {one.id} = {values}    {colon(plain(pick(one.name)), plain(pick(one.says)))}")
    lines += ["  " + colon(t("must not break", "不能破"), plain(pick(one.name))) for one in plan.limits]
    lines += [budget_words(play), f"🎲 {tuning_plan.bet_note()}"]
    first = plan.controls[0]
    value = next(name for name in first.values if name != plan.today[first.id])
    shown = f'{first.id}="{value}"'
    call, bets = play.case.call, " | ".join(plan.bets())
    costs = t(f"costs {HINT_POINTS:g} points", f"扣 {HINT_POINTS:g} 分")
    lines += [
        f'  {call}.run({shown}, bet="{next(iter(plan.bets()))}", confidence="fairly")',
        f"      bet: {bets}; confidence: guess | fairly | certain",
        f"  {call}.hand_in(...)   {call}.hint()  # {costs}",
    ]
    return "\n".join(lines)


def budget_name(play: Tuning) -> str:
    if play.plan.rules:
        return t("looks into the rule book left", "还能翻规则书的次数")
    return t("runs left", "剩余测量次数")


def budget_words(play: Tuning) -> str:
    """Runs left, in words."""
    return colon(budget_name(play), f"{play.runs_left()} / {play.plan.runs}")


def budget_html(play: Tuning) -> str:
    """Runs left, as words and little blocks."""
    left, all_of = play.runs_left(), play.plan.runs
    blocks = "<i></i>" * (all_of - left) + "<i class=full></i>" * left
    return f'<p class="tbg-left">{budget_name(play)} {left} / {all_of} <span aria-hidden="true">{blocks}</span></p>'


def set_words(plan: Plan, names: Sequence[str]) -> str:
    """A set of configurations in words, as Markdown; a control that is not named may have any value."""
    parts = tuning_plan.blocks(plan, names)
    return t("; or ", "；或者 ").join(f"**{tuning_plan.in_words(plan, one)}**" for one in parts)


def spread(outcomes: Sequence[Outcome]) -> str:
    """The ratio of one outcome with its interval; of several, from the smallest to the largest."""
    if len(outcomes) == 1:
        return interval(outcomes[0])
    ratios = [one["ratio"] for one in outcomes]
    return t(f"{min(ratios):.2f} to {max(ratios):.2f}", f"{min(ratios):.2f}–{max(ratios):.2f}")


def result_lines(play: Tuning, attempt: Attempt) -> list[str]:
    """The hand-in in sentences, with marks."""
    plan = tuning_plan.as_played(play.plan, attempt.table)
    today, hand, table = tuning_plan.key(plan.today), attempt.handed, attempt.table
    lines = [t("📦 Handed in: ", "📦 你交的方案：") + sentence(plan, hand, table[today])]
    best = tuning_outcome.best_told(plan, table, today)
    if tuning_plan.key(hand.config) in best:
        same = (
            t(" The art here was to leave it alone.", "这里的本事就是不去动它。")
            if tuning_plan.key(hand.config) == today
            else ""
        )
        lines.append(t("🎯 That is among the best on this panel.", "🎯 这是面板上最好的一档！") + same)
    elif best:
        words, ratios = set_words(plan, best), [table[name] for name in best]
        figures = "" if plan.rules else t(f", {spread(ratios)} of today's time", f"，耗时是现在的 {spread(ratios)} 倍")
        lines.append(
            t(f"The best that keep every requirement: {words}{figures}.", f"守住一切要求的最好一档：{words}{figures}。")
        )
    if tuning_outcome.broken(plan, hand.outcome, table[today]) or plan.rules and hand.outcome["share"] == 0:
        lines.append(
            t(
                "The client thanks you for the honest figures: now everybody knows what must not be touched.",
                "客户谢谢你给出了实打实的数字：现在大家都知道什么不能碰了。",
            )
        )
    advice = tuning_plan.key(plan.advice) if plan.advice else ""
    if advice in table and not plan.rules:
        lines.append(
            t(
                f"The usual advice ({tuning_plan.in_words(plan, plan.advice)}): {interval(table[advice])}.",
                f"常见的建议（{tuning_plan.in_words(plan, plan.advice)}）：{interval(table[advice])}。",
            )
        )
    return lines


def origin_words(evidence: Mapping) -> str:
    """Where a result came from: on which machine, or by which kind of evidence."""
    kind, machine = evidence.get("evidence", "live"), evidence.get("machine", "")
    return f"{pick(EVIDENCE[kind])[0]} {pick(machine)}" if machine else pick(EVIDENCE[kind])


def setting(plan: Plan, config: Mapping[str, str]) -> str:
    """What a configuration does otherwise than today's, in plain words."""
    other = [one for one in plan.controls if config[one.id] != plan.today[one.id]]
    words = " · ".join(f"{pick(one.name)} {pick(one.values[config[one.id]])}" for one in other)
    return plain(words) or t("today's setting", "现在的设置")


SIDES = {"faster": "left", "same": "middle", "slower": "right"}


def marks_of(plan: Plan, tried: Sequence[tuple[str, Bet | None, Mapping[str, str], Outcome, Outcome]]) -> SvgPicture:
    """Settings on one axis around today, a row each, with the bets on them. tried: (name, the bet if any, configuration, its
    outcome, today's).
    """
    rows, sides, staked = [], {}, ""
    for number, (name, bet, config, outcome, today) in enumerate(tried):
        remark = setting(plan, config)
        if tuning_outcome.broken(plan, outcome, today):
            remark += t(": breaks a requirement", "：违反要求")
        few = untold(outcome)
        rows.append(
            Ratio(name, outcome["ratio"], None if few else outcome["low"], None if few else outcome["high"], remark)
        )
        if bet and bet.bet in SIDES and not few:
            sides[number] = SIDES[bet.bet]
            staked = staked or pick(plan.bets()[bet.bet])
    names = (t("faster than today", "比现在快"), t("slower than today", "比现在慢"))
    return ratio_rows(rows, names, Marked(staked, sides) if sides else None, middle=t("today", "现在"))


def runs_html(play: Tuning, attempt: Attempt) -> str:
    """The runs so far, a mark each on one axis; nothing where rules decide."""
    if play.plan.rules or not attempt.runs:
        return ""
    tried = [
        (t(f"run {number}", f"第 {number} 次"), one, one.config, one.outcome, one.today)
        for number, one in enumerate(attempt.runs, 1)
    ]
    return _framed(marks_of(play.plan, tried))


def closed_html(play: Tuning, attempt: Attempt) -> str:
    """After the hand-in: the best, what was handed in, the runs and the usual advice; nothing where rules decide."""
    plan = tuning_plan.as_played(play.plan, attempt.table)
    if plan.rules:
        return ""
    table, today = attempt.table, tuning_plan.key(plan.today)
    names: dict[str, list[str]] = {
        one: [t("the best", "最好的")] for one in tuning_outcome.best_told(plan, table, today)[:1]
    }
    bets: dict[str, Bet] = {}
    told = [
        (t("handed in", "你交的"), attempt.handed.config, attempt.handed),
        *((t(f"run {number}", f"第 {number} 次"), one.config, one) for number, one in enumerate(attempt.runs, 1)),
        *([(t("usual advice", "常见建议"), plan.advice, None)] if plan.advice else []),
    ]
    for name, config, bet in told:
        names.setdefault(tuning_plan.key(config), []).append(name)
        if bet and bet.bet:
            bets.setdefault(tuning_plan.key(config), bet)
    tried = [
        (t(", ", "、").join(names[one]), bets.get(one), tuning_plan.config_in(one), table[one], table[today])
        for one in sorted(names, key=lambda one: table[one]["ratio"])
        if one in table
    ]
    return _framed(marks_of(plan, tried))


def _framed(sheet: SvgPicture) -> str:
    return f'<figure class="tbg-pic">{sheet.html(saved=False)}</figure>'


def headline(play: Tuning, attempt: Attempt) -> str:
    """What came out of the whole case, in a sentence with marks."""
    plan = tuning_plan.as_played(play.plan, attempt.table)
    best = tuning_outcome.best_told(plan, attempt.table, tuning_plan.key(plan.today))
    if tuning_plan.key(plan.today) in best:
        return t("The best here is to leave it as it is.", "这里最好的办法：别动它。")
    if not best:
        return t("Too close to call: no setting stands out here.", "难分高下：这里没有哪一套明显更好。")
    words = set_words(plan, best).replace("**", "")
    if plan.rules:
        return t(f"Right here: {words}.", f"这里该用：{words}。")
    return (
        t(f"Best here: {words}: ", f"这里最好的是：{words}，")
        + ratio_words(attempt.table[best[0]]["ratio"])
        + t(".", "。")
    )


def table_html(play: Tuning, attempt: Attempt) -> tuple[str, str]:
    """All combinations, to be folded: (title, HTML)."""
    plan = tuning_plan.as_played(play.plan, attempt.table)
    title = t(f"All {len(attempt.table)} settings", f"全部 {len(attempt.table)} 套设置")
    return title, ruled_html(plan, attempt) if plan.rules else bars_html(table_rows(plan, attempt))


def picture_text(play: Tuning, attempt: Attempt) -> str:
    """The runs so far, or after the hand-in all combinations, as text."""
    plan = tuning_plan.as_played(play.plan, attempt.table)
    if attempt.handed:
        return ruled_text(plan, attempt) if plan.rules else bars_text(table_rows(plan, attempt))
    return "" if plan.rules or not attempt.runs else bars_text(run_rows(plan, attempt))


def whole_text(play: Tuning) -> str:
    """Everything there is to say of a case now, as text."""
    attempt = play.attempt
    parts = [view.ticket_text(play.case)]
    parts += [f"💡 {plain(pick(text))}" for text in play.opened_hints()]
    if not attempt.handed:
        parts += [panel_text(play), *map(plain, run_sentences(play.plan, attempt)), plain(waits_words(play))]
        return "\n\n".join(filter(None, [*parts, picture_text(play, attempt)]))
    parts += [plain(line) for line in result_lines(play, attempt)]
    parts += [picture_text(play, attempt), origin_words(attempt.handed.evidence), view.cause_text(play)]
    if play.cause_found():
        parts.append("\n".join(map(plain, view.debrief_lines(play.case))))
        parts.append(view.points_text(play.score()))
        parts.append(view.letter_text(play.case, play.written()))
    return "\n\n".join(filter(None, parts))
