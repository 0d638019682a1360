"""How the tuning game shows its panel, its measurements and its table: HTML, and the same as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from course.core.i18n import both, pick, t
from course.core.markup import inline, plain
from course.core.units import format_points, format_ratio
from course.figures.kinds import Bet as Marked
from course.figures.kinds import Ratio, ratio_rows
from course.figures.words import ratio_words
from course.game import view
from course.game.cases import EVIDENCE
from course.game.view import aside, colon, source_words
from course.learning.marking import CONFIDENCE
from course.lessons.l10_tuning_master import tuning_plan
from course.lessons.l10_tuning_master.tuning_attempt import HINT_POINTS, Attempt, Bet
from course.lessons.l10_tuning_master.tuning_outcome import FEW, Table
from course.lessons.l10_tuning_master.tuning_plan import Config, Outcome, Plan, config_in, in_words, key
from course.lessons.l10_tuning_master.tuning_player import Tuning
from course.timing.results import bracketed


def interval(outcome: Outcome) -> str:
    """0.44 [0.43, 0.45] times today's time; a single number for today itself, words where the rounds make no interval."""
    if untold(outcome):
        return t("too few rounds", "轮数太少")
    return bracketed(*format_ratio(outcome["ratio"], outcome["low"], outcome["high"]))


def untold(outcome: Outcome) -> bool:
    """Whether the rounds were too few for a ratio."""
    return outcome.get("verdict") == FEW


def run_name(number: int) -> str:
    return t(f"run {number}", f"第 {number} 次")


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


def sentence(plan: Plan, bet: Bet, given_back: bool = False) -> str:
    """What became of one configuration, and of the bet on it, with marks. given_back: the run is not used up."""
    name = in_words(plan, bet.config)
    if plan.rules:
        rule, came = plan.rules[bet.outcome["rule"]], pick(plan.bets()[bet.came])
        source = aside(t("rule: ", "规则：") + source_words(rule.source))
        found = t(f"**{name}**: {came}. {pick(rule.says)}{source}", f"**{name}**：{came}。{pick(rule.says)}{source}")
    elif untold(bet.outcome):
        found = t(f"**{name}**: too few rounds for a time.", f"**{name}**：轮数太少，说不出耗时。")
    else:
        found = t(
            f"**{name}** takes {interval(bet.outcome)} of today's time.",
            f"**{name}**：耗时是现在的 {interval(bet.outcome)} 倍。",
        )
    found += limits_words(plan, bet) if not plan.rules else ""
    back = t(
        " The machine was busy, so this run is not used up; that happens once.", " 机器正忙，这次不扣次数，只此一回。"
    )
    return " ".join(filter(None, [found, bet_words(plan, bet)])) + (back if given_back else "")


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
    elif untold(bet.outcome):
        became = t("Nothing is decided, so the bet does not count.", "没分出高下，这一注不算。")
    else:
        became = t("The interval holds 1: undecided, so the bet does not count.", "区间含着 1，无法判定，这一注不算。")
    return t(f"🎲 Your bet: {said}. {became}", f"🎲 你押的是：{said}。{became}")


def run_sentences(attempt: Attempt) -> list[str]:
    """What became of each run."""
    return [sentence(attempt.plan, one, one is attempt.back) for one in attempt.runs]


def busy_words() -> str:
    """What a busy machine means for a measurement, and what answers in its place. With marks."""
    return t(
        "⏳ Other programs keep this machine busy: a time may be too noisy to tell. `recording=True` lets a recording answer.",
        "⏳ 机器正忙着别的程序：测出来的耗时可能说不准。加 `recording=True`，就用录好的结果回答。",
    )


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


# --- all settings around today: HTML, and the same as text ----------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One line: a setting and what came of it. marks: what the learner did with it, or that it runs today. look: a key of LOOKS."""

    name: str
    outcome: Outcome
    marks: Sequence[str]
    look: str = ""

    @property
    def state(self) -> str:
        """The words beside the bar."""
        return t(", ", "，").join(filter(None, [*self.marks, pick(LOOKS[self.look])]))


LOOKS = {"": "", "best": both("among the best", "最好的一档"), "broken": both("breaks a requirement", "违反要求")}
"""How a line looks, in words."""


def landmarks(attempt: Attempt) -> dict[str, set[str]]:
    """Words -> keys of the configurations that a player finds again."""
    return {
        t("handed in", "你交的"): {key(attempt.handed.config)},
        t("your run", "你测过"): {key(one.config) for one in attempt.runs},
        t("today", "现在"): {attempt.table.today},
    }


def table_rows(attempt: Attempt) -> list[Row]:
    """All combinations, best first; today's, the runs and the hand-in are named."""
    table, known = attempt.table, landmarks(attempt)
    allowed, best = table.permitted(), table.best_told()
    rows = []
    for name, outcome in sorted(table.outcomes.items(), key=lambda one: one[1]["ratio"]):
        marks = [words for words, names in known.items() if name in names]
        look = "broken" if name not in allowed else "best" if name in best else ""
        rows.append(Row(in_words(table.plan, config_in(name)), outcome, marks, look))
    return rows


@dataclass(frozen=True)
class Ruling:
    """One rule as it decided. parts: the settings, told in few parts (see ``tuning_plan.blocks``); settings: the same in the words of
    the panel, with the points and what the player did; says, source: of the rule. All with marks.
    """

    parts: list[dict[str, str]]
    settings: str
    says: str
    source: str


def rulings(attempt: Attempt) -> dict[str, list[Ruling]]:
    """What can come out, in words -> the rules that decide so, best first."""
    plan, table, known = attempt.plan, attempt.table, landmarks(attempt)
    found: dict[str, list[Ruling]] = {}
    for place, rule in sorted(enumerate(plan.rules), key=lambda one: -one[1].share):
        names = [name for name, one in table.outcomes.items() if one["rule"] == place]
        if not names:
            continue
        came = table.came_out(names[0])
        marks = t(", ", "，").join(words for words, mine in known.items() if mine & set(names))
        points = aside(ruled_points(table, names[0]))
        settings = f"**{set_words(plan, names)}**{aside(marks) if marks else ''}{points}"
        head = f"{RULED_SIGNS[came]} {pick(plan.bets()[came])}"
        ruling = Ruling(tuning_plan.blocks(plan, names), settings, pick(rule.says), source_words(rule.source))
        found.setdefault(head, []).append(ruling)
    return found


RULED_SIGNS = {"fits": "✓", "works": "◐", "breaks": "✗"}


def ruled_points(table: Table, name: str) -> str:
    """The points of a setting by rule with their arithmetic: the share of the goal it reaches, beside today's."""
    share, start = (table.outcomes[one]["share"] for one in (name, table.today))
    figures = f"{format_points(table.points(name))} / 5"
    if share in (0, 1):
        return figures
    figures += t(f"; reaches {share:g} of the goal, today {start:g}", f"；达到目标的 {share:g}，现在是 {start:g}")
    if share <= start:
        return figures
    sum_of = f"4 × ({share:g} − {start:g}) ÷ (1 − {start:g})" if start else f"4 × {share:g}"
    return figures + t(f": {sum_of}, rounded down to half a point", f"：{sum_of}，向下取到半分")


def ruled_note(attempt: Attempt) -> str:
    """How to read the rulings, and which controls decide nothing, with marks."""
    named = {name for group in rulings(attempt).values() for one in group for part in one.parts for name in part}
    idle = t(", ", "、").join(pick(one.name) for one in attempt.plan.controls if one.id not in named)
    note = t(
        "Each line names the settings that matter; the others make no difference.",
        "每行只写起作用的设置；没写出来的，怎么设都一样。",
    )
    return note + (t(f" These make no difference at all: {idle}.", f"从头到尾不起作用的：{idle}。") if idle else "")


def ruled_html(attempt: Attempt) -> str:
    lines = ""
    for head, group in rulings(attempt).items():
        told = "".join(
            f"<p>{inline(one.settings)}<br>{inline(one.says)} <small>{inline(one.source)}</small></p>" for one in group
        )
        lines += f'<li><div><p class="what">{head}</p>{told}</div></li>'
    return f'<p class="tbq-note">{inline(ruled_note(attempt))}</p><ul class="tbq-lines">{lines}</ul>'


def ruled_text(attempt: Attempt) -> str:
    lines = [plain(ruled_note(attempt))]
    for head, group in rulings(attempt).items():
        lines.append(head)
        for one in group:
            lines += [f"  - {plain(one.settings)}", f"      {plain(one.says)}{aside(one.source)}"]
    return "\n".join(lines)


def settings_text(rows: Sequence[Row]) -> str:
    """Settings as text: the time over today's with its interval, the setting, what was done with it."""
    return "\n".join(
        f"  {interval(one.outcome)}  {plain(one.name)}{aside(one.state) if one.state else ''}" for one in rows
    )


# --- panel and result --------------------------------------------------------------------------------------


def panel_text(play: Tuning) -> str:
    """The panel, and how to move by typing."""
    plan, lines = play.plan, []
    for one in plan.controls:
        values = " | ".join(
            f"{name}{t(' (today)', '（现在）') if plan.today[one.id] == name else ''}" for name in one.values
        )
        lines.append(f"  {one.id} = {values}    {colon(plain(pick(one.name)), plain(pick(one.says)))}")
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
    """A set of configurations in words; a control that is not named may have any value."""
    return t("; or ", "；或者 ").join(in_words(plan, one) for one in tuning_plan.blocks(plan, names))


def spread(outcomes: Sequence[Outcome]) -> str:
    """The ratio of one outcome with its interval; of several, from the smallest to the largest."""
    if len(outcomes) == 1:
        return interval(outcomes[0])
    ratios = [one["ratio"] for one in outcomes]
    return t(f"{min(ratios):.2f} to {max(ratios):.2f}", f"{min(ratios):.2f}–{max(ratios):.2f}")


def result_lines(attempt: Attempt) -> list[str]:
    """The hand-in in sentences, with marks."""
    plan, table, handed = attempt.plan, attempt.table, attempt.handed
    lines = [t("📦 Handed in: ", "📦 你交的方案：") + sentence(plan, handed)]
    best, hand = table.best_told(), key(handed.config)
    if hand in best:
        alone = t(" The art here was to leave it alone.", "这里的本事就是不去动它。") if hand == table.today else ""
        lines.append(t("🎯 That is among the best on this panel.", "🎯 这是面板上最好的一档！") + alone)
    elif best:
        words, ratios = set_words(plan, best), [table.outcomes[name] for name in best]
        figures = "" if plan.rules else t(f", {spread(ratios)} of today's time", f"，耗时是现在的 {spread(ratios)} 倍")
        lines.append(
            t(
                f"The best that keep every requirement: **{words}**{figures}.",
                f"守住一切要求的最好一档：**{words}**{figures}。",
            )
        )
    if handed.came == "breaks":
        lines.append(
            t(
                "The client thanks you for the honest figures: now everybody knows what must not be touched.",
                "客户谢谢你给出了实打实的数字：现在大家都知道什么不能碰了。",
            )
        )
    advice = key(plan.advice) if plan.advice else ""
    if advice in table.outcomes and not plan.rules:
        words, figures = in_words(plan, plan.advice), interval(table.outcomes[advice])
        lines.append(t(f"The usual advice ({words}): {figures}.", f"常见的建议（{words}）：{figures}。"))
    return lines


def origin_words(evidence: Mapping) -> str:
    """Where a result came from: on which machine, or by which kind of evidence."""
    kind, machine = evidence.get("evidence", "live"), evidence.get("machine", "")
    return f"{pick(EVIDENCE[kind])[0]} {pick(machine)}" if machine else pick(EVIDENCE[kind])


def setting(plan: Plan, config: Config) -> str:
    """What a configuration does otherwise than today's, in plain words."""
    return plain(in_words(plan, dict(config.items() - plan.today.items()))) or t("today's setting", "现在的设置")


SIDES = {"faster": "left", "same": "middle", "slower": "right"}


def marks_html(plan: Plan, tried: Sequence[tuple[str, Config, Outcome, bool, Bet | None]]) -> str:
    """Settings on one axis around today, a row each, with the bets on them. tried: (name, configuration, its outcome, whether it
    breaks a requirement, the bet if any).
    """
    rows, sides, staked = [], {}, ""
    for number, (name, config, outcome, broken, bet) in enumerate(tried):
        remark = setting(plan, config) + (t(": breaks a requirement", "：违反要求") if broken else "")
        rows.append(Ratio(name, outcome["ratio"], *ends(outcome), remark))
        if bet and bet.bet in SIDES and not untold(outcome):
            sides[number] = SIDES[bet.bet]
            staked = staked or pick(plan.bets()[bet.bet])
    return picture_html(rows, Marked(staked, sides) if sides else None)


def ends(outcome: Outcome) -> tuple[float | None, float | None]:
    """The ends of the interval; none where the rounds were too few."""
    return (None, None) if untold(outcome) else (outcome["low"], outcome["high"])


def picture_html(rows: Sequence[Ratio], bet: Marked | None = None) -> str:
    """Rows around today."""
    names = (t("faster than today", "比现在快"), t("slower than today", "比现在慢"))
    return (
        f'<figure class="tbg-pic">{ratio_rows(rows, names, bet, middle=t("today", "现在")).html(saved=False)}</figure>'
    )


def runs_html(attempt: Attempt) -> str:
    """The runs so far, a mark each on one axis; nothing where rules decide."""
    if attempt.plan.rules or not attempt.runs:
        return ""
    runs = enumerate(attempt.runs, 1)
    tried = [(run_name(number), one.config, one.outcome, one.came == "breaks", one) for number, one in runs]
    return marks_html(attempt.plan, tried)


def closed_html(attempt: Attempt) -> str:
    """After the hand-in: the best, what was handed in, the runs and the usual advice; nothing where rules decide."""
    plan, table = attempt.plan, attempt.table
    if plan.rules:
        return ""
    told = [
        *((t("the best", "最好的"), config_in(one), None) for one in table.best_told()[:1]),
        (t("handed in", "你交的"), attempt.handed.config, attempt.handed),
        *((run_name(number), one.config, one) for number, one in enumerate(attempt.runs, 1)),
        *([(t("usual advice", "常见建议"), plan.advice, None)] if plan.advice else []),
    ]
    names: dict[str, list[str]] = {}
    bets: dict[str, Bet] = {}
    for name, config, bet in told:
        names.setdefault(key(config), []).append(name)
        if bet and bet.bet:
            bets.setdefault(key(config), bet)
    tried = [
        (t(", ", "、").join(names[one]), config_in(one), outcome, table.came_out(one) == "breaks", bets.get(one))
        for one, outcome in sorted(table.outcomes.items(), key=lambda one: one[1]["ratio"])
        if one in names
    ]
    return marks_html(plan, tried)


def headline(attempt: Attempt) -> str:
    """What came out of the whole case, in a sentence with marks."""
    plan, table = attempt.plan, attempt.table
    best = table.best_told()
    if table.today in best:
        return t("The best here is to leave it as it is.", "这里最好的办法：别动它。")
    if not best:
        return t("Too close to call: no setting stands out here.", "难分高下：这里没有哪一套明显更好。")
    words = set_words(plan, best)
    if plan.rules:
        return t(f"Right here: {words}.", f"这里该用：{words}。")
    ratio = ratio_words(table.outcomes[best[0]]["ratio"])
    return t(f"Best here: {words}: {ratio}.", f"这里最好的是：{words}，{ratio}。")


def table_html(attempt: Attempt) -> tuple[str, str]:
    """All combinations, to be folded: (title, HTML)."""
    count = len(attempt.table.outcomes)
    title = t(f"All {count} settings", f"全部 {count} 套设置")
    if attempt.plan.rules:
        return title, ruled_html(attempt)
    rows = [
        Ratio(
            plain(one.name),
            one.outcome["ratio"],
            *ends(one.outcome),
            " · ".join([interval(one.outcome), *([one.state] if one.state else [])]),
        )
        for one in table_rows(attempt)
    ]
    return title, picture_html(rows)


def table_text(attempt: Attempt) -> str:
    """All combinations, after the hand-in."""
    return ruled_text(attempt) if attempt.plan.rules else settings_text(table_rows(attempt))


def whole_text(play: Tuning, facts: Sequence[str]) -> str:
    """Everything there is to say of a case now, as text."""
    attempt = play.attempt
    parts = [view.ticket_text(play.case, "", facts)]
    parts += [f"💡 {plain(pick(text))}" for text in play.opened_hints()]
    if not attempt.handed:
        parts += [panel_text(play), *map(plain, run_sentences(attempt)), plain(waits_words(play))]
        return "\n\n".join(filter(None, parts))
    parts += [plain(line) for line in result_lines(attempt)]
    parts += [table_text(attempt), origin_words(attempt.handed.evidence), view.cause_text(play)]
    if play.attempt.cause_found:
        parts.append("\n".join(map(plain, view.debrief_lines(play.case))))
        parts.append(view.points_text(play.attempt.score()))
        parts.append(view.letter_text(play.case, play.written()))
    return "\n\n".join(filter(None, parts))
