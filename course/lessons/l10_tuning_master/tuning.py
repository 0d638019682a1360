"""The rules of the tuning game: a panel of controls, three runs, a bet before each, one configuration handed in, and then the
whole table. A plan, a table of outcomes, an attempt, points: all pure; ``course.lessons.l10_tuning_master.tuning_player`` plays by them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from course.game import moves, score
from course.game.board import OPEN, Standing
from course.game.cases import EVIDENCE, Case
from course.i18n import LANGUAGES, Text, both, pick, t
from course.learning import calibration
from course.learning.entry import Entry, now
from course.questions.item_lint import language_faults
from course.questions.items import Item, Option
from course.units import format_points

Config = Mapping[str, str]
"""control -> value, in the order of the panel."""
Outcome = Mapping[str, Any]
"""What became of a configuration. Measured: ratio, low, high (time over today's), verdict (of
``course.timing.compare``, within 3 % is the same; or FEW), facts {limit: value}. By rule: share, rule."""
Table = Mapping[str, Outcome]
"""Key of a configuration -> its outcome, today's included."""

FEW = "few"
"""The verdict of a measurement whose rounds are too few for an interval; the first such run of a case is given back."""
WIDE = 1.5
"""An interval whose ends are this factor apart decides nothing."""
MEASURED_BETS = {
    "faster": both("faster than today", "比现在快"),
    "same": both("the same, within 3 %", "差不多（3% 以内）"),
    "slower": both("slower than today", "比现在慢"),
    "breaks": both("breaks a requirement", "违反要求"),
}
RULED_BETS = {
    "fits": both("fits: nothing better on this panel", "合适：面板上没有更好的"),
    "works": both("works, but there is better", "能用，但有更好的"),
    "breaks": both("breaks a requirement", "违反要求"),
}


@dataclass(frozen=True)
class Control:
    """One row of the panel. values: id -> words."""

    id: str
    name: Text
    says: Text
    values: Mapping[str, Text]


@dataclass(frozen=True)
class Limit:
    """Something that must not break. most: the largest value; share: the largest, as a share of today's; neither: it must be true.

    unit: "%", "MiB" or "".
    """

    id: str
    name: Text
    most: float | None = None
    share: float | None = None
    unit: str = ""

    def bound(self, today: Outcome) -> float | None:
        """The largest value that is kept; None where a truth is asked for."""
        if self.share is not None:
            value = today.get("facts", {}).get(self.id)
            return None if value is None else self.share * value
        return self.most

    def kept(self, outcome: Outcome, today: Outcome) -> bool | None:
        """Whether the outcome keeps it; None where it was not measured."""
        value, bound = outcome.get("facts", {}).get(self.id), self.bound(today)
        if value is None or (bound is None and self.share is not None):
            return None
        return bool(value) if bound is None else value <= bound

    def words(self, value: Any) -> str:
        """A value of it, as it is written."""
        if value is None:
            return t("not measured here", "这里没有测")
        if isinstance(value, bool):
            return t("yes", "是") if value else t("no", "否")
        return f"{100 * value:.2g}{t(' %', '%')}" if self.unit == "%" else f"{value:.3g} {self.unit}".strip()


@dataclass(frozen=True)
class Rule:
    """What a source says of some configurations. share: 1 fits, 0 breaks, between: works. The first rule that fits counts."""

    when: Config
    share: float
    says: Text
    source: Text

    def fits(self, config: Config) -> bool:
        return all(config.get(name) == value for name, value in self.when.items())


@dataclass(frozen=True)
class Plan:
    """The panel and the rules of one case. runs: the budget. seconds: of one run, and of the whole table. slack: how far from the
    best still counts as best. advice: the configuration that the usual advice means. about: the controls that the cause is about;
    two settings that differ in one of them alone show what it does.
    """

    controls: tuple[Control, ...]
    today: Config
    limits: tuple[Limit, ...] = ()
    rules: tuple[Rule, ...] = ()
    runs: int = 3
    seconds: tuple[float, float] = (1.5, 6.0)
    slack: float = 1.05
    advice: Config | None = None
    about: tuple[str, ...] = ()

    def configs(self) -> list[dict[str, str]]:
        """Every combination of the panel."""
        names = [one.id for one in self.controls]
        return [
            dict(zip(names, values, strict=True)) for values in itertools.product(*(c.values for c in self.controls))
        ]

    def bets(self) -> dict[str, Text]:
        """What can be bet on a configuration."""
        if self.rules:
            return dict(RULED_BETS)
        return {name: text for name, text in MEASURED_BETS.items() if name != "breaks" or self.limits}

    def without(self, controls: Collection[str] = (), values: Collection[tuple[str, str]] = ()) -> Plan:
        """The plan on a machine that lacks some controls, or some values of them."""
        left = []
        for one in self.controls:
            kept = {name: text for name, text in one.values.items() if (one.id, name) not in values}
            if one.id not in controls and len(kept) > 1:
                left.append(Control(one.id, one.name, one.says, kept))
        names = {one.id for one in left}

        def only(config: Config) -> dict[str, str]:
            return {name: value for name, value in config.items() if name in names}

        advice, about = only(self.advice) if self.advice else None, tuple(one for one in self.about if one in names)
        return replace(self, controls=tuple(left), today=only(self.today), advice=advice, about=about)


def plan_of(case: Case) -> Plan:
    """The plan in ``case.play``. Raises KeyError, TypeError or ValueError where it does not fit (``faults`` says it in words)."""
    play = dict(case.play)
    controls = tuple(
        Control(raw["id"], raw["name"], raw["says"], {word(k): v for k, v in raw["values"].items()})
        for raw in play.pop("controls")
    )
    rules = tuple(
        Rule(config_of(raw["when"]), float(raw["share"]), raw["says"], raw["source"]) for raw in play.pop("rules", ())
    )
    limits = tuple(Limit(**raw) for raw in play.pop("limits", ()))
    today, advice = config_of(play.pop("today")), play.pop("advice", None)
    play |= {name: tuple(play[name]) for name in ("seconds", "about") if name in play}
    return Plan(controls, today, limits, rules, advice=config_of(advice) if advice else None, **play)


def word(value: Any) -> str:
    """A value as the panel names it: YAML reads `on` as True and `1` as a number."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def config_of(raw: Mapping[str, Any]) -> dict[str, str]:
    return {name: word(value) for name, value in raw.items()}


def key(config: Config) -> str:
    """A configuration as one line of the log: `onednn=off threads=1`."""
    return " ".join(f"{name}={value}" for name, value in config.items())


def config_in(line: str) -> dict[str, str]:
    """The configuration that ``key`` wrote."""
    return dict(part.split("=", 1) for part in line.split() if "=" in part)


def bet_note() -> str:
    """On what a bet is asked."""
    return t(
        "A bet on every setting you have not seen yet, in a run as in the hand-in. What runs today is known, so it takes none.",
        "没见过的设置都要先下注，测量和交方案都一样。现在的设置大家都知道，不用押。",
    )


def in_words(plan: Plan, config: Config) -> str:
    """A configuration in the words of the panel: each control with its value."""
    found = [
        f"{pick(one.name)} {pick(one.values[config[one.id]])}"
        for one in plan.controls
        if config.get(one.id) in one.values
    ]
    return " · ".join(found)


def blocks(plan: Plan, names: Collection[str]) -> list[dict[str, str]]:
    """The configurations with these keys, told in few parts: what a part does not name may stand as it likes."""
    picked = itertools.product(*((None, *one.values) for one in plan.controls))
    parts = [{one.id: value for one, value in zip(plan.controls, values, strict=True) if value} for values in picked]
    holds = [(part, {key(one) for one in plan.configs() if part.items() <= one.items()}) for part in parts]
    left, found = {key(one) for one in plan.configs()} & set(names), []
    inside = [one for one in holds if one[1] <= left]
    while left:
        part, held = max(inside, key=lambda one: (len(one[1] & left), -len(one[0])))
        found.append(part)
        left -= held
    return found


# --- what became of a configuration -------------------------------------------------------------------------


def ruled(plan: Plan) -> dict[str, Outcome]:
    """The table of a case that is decided by rules."""
    found = {}
    for config in plan.configs():
        place, rule = next((place, rule) for place, rule in enumerate(plan.rules) if rule.fits(config))
        found[key(config)] = {"share": rule.share, "rule": place}
    return found


def outcome_of(row: Mapping[str, Any]) -> Outcome:
    """The outcome in a row of a case's experiment."""
    found = {name: row[name] for name in ("ratio", "low", "high", "verdict")}
    return found | {"facts": {name[5:]: value for name, value in row.items() if name.startswith("fact_")}}


def broken(plan: Plan, outcome: Outcome, today: Outcome) -> list[Limit]:
    """The limits that an outcome breaks."""
    return [one for one in plan.limits if one.kept(outcome, today) is False]


def came_out(plan: Plan, outcome: Outcome, today: Outcome) -> str | None:
    """What a bet should have said: a key of ``plan.bets()``; None where the measurement decided nothing."""
    if plan.rules:
        return {1.0: "fits", 0.0: "breaks"}.get(outcome["share"], "works")
    if broken(plan, outcome, today):
        return "breaks"
    return outcome["verdict"] if outcome["verdict"] in ("faster", "same", "slower") else None


def permitted(plan: Plan, table: Table, today: str) -> list[str]:
    """The configurations that break nothing."""
    if plan.rules:
        return [name for name, one in table.items() if one["share"] > 0]
    return [name for name, one in table.items() if not broken(plan, one, table[today])]


def best_told(plan: Plan, table: Table, today: str) -> list[str]:
    """The best set where the measurement can tell it; else nothing."""
    best = best_set(plan, table, today)
    return best if best and decided(plan, table, today, best[0]) else []


def best_set(plan: Plan, table: Table, today: str) -> list[str]:
    """The permitted configurations that cannot be told from the best: within the slack, or with overlapping intervals."""
    return best_of(plan, table, permitted(plan, table, today))


def best_of(plan: Plan, table: Table, allowed: Collection[str]) -> list[str]:
    """Those of ``allowed`` that cannot be told from the best of them; by rule: those that fit."""
    if plan.rules:
        return [name for name in allowed if table[name]["share"] == 1]
    best = min((table[name] for name in allowed), key=lambda one: one["ratio"], default=None)
    if best is None:
        return []
    return [
        name
        for name in allowed
        if table[name]["ratio"] <= plan.slack * best["ratio"] or table[name]["low"] <= best["high"]
    ]


def gained(plan: Plan, table: Table, today: str, hand: str) -> float | None:
    """The share of what could be gained over today: 1 for the best set, None for a broken requirement.

    The gain counts from today, or from the slowest that is permitted (by rule: from nothing) where today breaks a requirement.
    """
    allowed = permitted(plan, table, today)
    if hand not in allowed:
        return None
    if hand in best_set(plan, table, today):
        return 1.0
    if plan.rules:
        start = table[today]["share"]
        return max(0.0, (table[hand]["share"] - start) / (1 - start))
    ratios = {name: table[name]["ratio"] for name in allowed}
    best, start = min(ratios.values()), ratios.get(today, max(ratios.values()))
    return max(0.0, math.log(start / ratios[hand]) / math.log(start / best)) if start > best else 0.0


def outcome_points(plan: Plan, table: Table, today: str, hand: str) -> float:
    """0 to 5: nothing for a broken requirement, 5 for the best set, else 4 x the share of the possible gain, down to the half."""
    share = gained(plan, table, today, hand) or 0.0
    return 5.0 if share == 1 else math.floor(8 * share) / 2


def decided(plan: Plan, table: Table, today: str, hand: str) -> bool:
    """Whether the measurement can carry points: a broken requirement needs no clock; else the hand-in and everything permitted
    that may be faster have an interval, and no very wide one.
    """
    if plan.rules or hand not in permitted(plan, table, today):
        return True
    rivals = [table[name] for name in permitted(plan, table, today)]
    near = [one for one in rivals if one["low"] <= table[hand]["high"]]
    return all(one["verdict"] != FEW for one in rivals) and all(one["high"] <= WIDE * one["low"] for one in near)


# --- one attempt --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bet:
    """A configuration, what was bet on it, how sure, what came of it (None while nothing did), and when."""

    config: Config
    bet: str
    confidence: int
    outcome: Outcome | None
    evidence: Mapping[str, Any]
    when: datetime = field(default_factory=now, compare=False)

    @property
    def today(self) -> Outcome:
        """What today's configuration gave in the same measurement."""
        return self.evidence.get("today") or self.outcome or {}


@dataclass(frozen=True)
class Attempt:
    """One attempt, read from its moves. waits: a hand-in that the measurement could not decide; nothing of it is shown. back: the
    run that is given back, the first in which too few rounds told nothing.
    """

    runs: tuple[Bet, ...]
    handed: Bet | None
    table: Table
    causes: tuple[str, ...]
    hints: int
    waits: Bet | None = None
    back: Bet | None = None

    @property
    def spent(self) -> int:
        """Runs used up."""
        return len(self.runs) - (self.back is not None)


def attempt_of(plan: Plan, found: Sequence[moves.Move]) -> Attempt:
    """The attempt that these moves made. A hand-in whose measurement decided nothing waits for another one."""

    def bet(one: moves.Move, outcome: Outcome | None) -> Bet:
        line, said = (*one.choice, "", "")[:2]
        return Bet(config_in(line), said, one.confidence or 1, outcome, one.evidence, one.when)

    runs = [bet(one, one.evidence.get("outcome")) for one in moves.of_kind(found, "run") if one.evidence.get("outcome")]
    back = next((one for one in runs if one.outcome.get("verdict") == FEW and not decides(plan, one)), None)
    handed, waits, table = None, None, {}
    for one in moves.of_kind(found, "hand-in"):
        if not one.choice or handed:
            continue
        seen = one.evidence.get("table") or {}
        here = as_played(plan, seen)
        if {key(here.today), one.choice[0]} <= set(seen) and decided(here, seen, key(here.today), one.choice[0]):
            handed, waits, table = bet(one, seen[one.choice[0]]), None, seen
        else:
            waits = bet(one, None)
    causes = tuple(one.choice[0] for one in moves.of_kind(found, "cause") if one.choice)
    return Attempt(tuple(runs), handed, table, causes, len(moves.of_kind(found, "hint")), waits, back)


def attempts_of(case: Case, plan: Plan, entries: Sequence[Entry]) -> list[Attempt]:
    """All attempts at a case, oldest first."""
    return [attempt_of(plan, one) for one in moves.attempts(case.id, entries, lambda done: is_closed(case, plan, done))]


def is_closed(case: Case, plan: Plan, found: Sequence[moves.Move]) -> bool:
    """Whether an attempt is over: decided, and the cause found."""
    return over(case, attempt_of(plan, found))


def over(case: Case, one: Attempt) -> bool:
    """Whether an attempt is decided, and the cause found."""
    return one.handed is not None and case.cause.right.id in one.causes


def score_of(case: Case, plan: Plan, one: Attempt) -> score.Score | None:
    """The score of an attempt; None before the hand-in is decided."""
    if one.handed is None:
        return None
    today, hand = key(plan.today), key(one.handed.config)
    gain = gained(plan, one.table, today, hand)
    reached = max(0.0, outcome_points(plan, one.table, today, hand) - 0.5 * one.hints)
    right = [answer == case.cause.right.id for answer in one.causes]
    shown = evidence(plan, one)
    return score.Score(
        (
            score.Part(both("outcome", "结果"), reached, 5, _outcome_words(gain, one.hints)),
            score.Part(both("evidence", "证据"), sum(shown.values()), 2, _evidence_words(plan, one, shown)),
            score.Part(both("bets", "下注"), score.bet_points(counted_bets(plan, one)), 2),
            score.Part(both("cause", "原因"), score.tries_points(right), 1),
        )
    )


def _outcome_words(gain: float | None, hints: int) -> Text:
    """The arithmetic of the outcome."""
    hinted = both(f"; less {0.5 * hints:g} for hints", f"；提示扣 {0.5 * hints:g}") if hints else both("", "")
    if gain is None:
        return both(f"a requirement is broken{hinted['en']}", f"违反了要求{hinted['zh']}")
    if gain == 1:
        return both(f"among the best: 5{hinted['en']}", f"最好的一档：5{hinted['zh']}")
    share = f"{100 * gain:.0f}"
    return both(
        f"4 × {share} % of the gain there was over today, down to the half{hinted['en']}",
        f"相对现在最多能赚到的，你拿到 {share}%：4 × {share}%，舍到半分{hinted['zh']}",
    )


def decides(plan: Plan, run: Bet) -> str | None:
    """What came out of a run (see ``came_out``); None where it decided nothing."""
    return came_out(plan, run.outcome, run.today) if run.outcome else None


def known(plan: Plan, runs: Sequence[Bet], config: Config) -> bool:
    """Whether there is nothing left to bet on: today's configuration, or one that a run decided."""
    return key(config) == key(plan.today) or any(one.config == config and decides(plan, one) for one in runs)


def open_bets(plan: Plan, one: Attempt) -> list[tuple[Bet, str | None]]:
    """Each bet on a setting that was not known yet, and what came out; None where nothing was decided."""
    runs = [(run, decides(plan, run)) for n, run in enumerate(one.runs) if not known(plan, one.runs[:n], run.config)]
    if one.handed and not known(plan, one.runs, one.handed.config):
        return [*runs, (one.handed, came_out(plan, one.handed.outcome, one.table[key(plan.today)]))]
    return runs


def counted_bets(plan: Plan, one: Attempt) -> list[tuple[int, bool | None]]:
    """(confidence, whether it came out so) of each open bet; None where nothing was decided."""
    return [(bet.confidence, came and came == bet.bet) for bet, came in open_bets(plan, one)]


def settled_bets(case: Case, plan: Plan, one: Attempt) -> tuple[calibration.Bet, ...]:
    """The bets of an attempt as the course keeps all bets: each is a question whose options are the outcomes to bet on."""
    plan = as_played(plan, one.table)
    options = tuple(Option(name, text) for name, text in plan.bets().items())
    asked = Item(case.id, case.lesson, case.id, "predict", "medium", "outcome", case.title, options)
    return tuple(
        calibration.Bet(
            asked,
            bet.when,
            bet.bet,
            bet.confidence,
            "inconclusive" if came is None else "won" if came == bet.bet else "lost",
            came,
            settled=bet.when,
            setting=in_words(plan, dict(bet.config.items() - plan.today.items())),
            source=bet.evidence.get("machine") or EVIDENCE[bet.evidence.get("evidence", "live")],
        )
        for bet, came in open_bets(plan, one)
    )


def evidence(plan: Plan, one: Attempt) -> dict[str, float]:
    """What was known before the hand-in, in points; empty where the hand-in brings nothing.

    measured: a run of the setting handed in, or, where all is left as it is, of its strongest rival. shown: a run beside it that
    differs only in a control that the cause is about; today's setting runs along each time. waste: runs of what was decided already.
    """
    today, hand = key(plan.today), key(one.handed.config)
    if not outcome_points(plan, one.table, today, hand):
        return {}
    told = {key(run.config) for run in one.runs if tells(plan, run)}
    others = [name for name in permitted(plan, one.table, today) if name != today]
    wanted = {hand} if hand != today else set(best_of(plan, one.table, others))
    measured = bool(told & wanted)
    pairs = [config_in(name).items() ^ one.handed.config.items() for name in {*told, today}]
    differ = [{name for name, _ in pair} for pair in pairs]
    shown = measured and (not plan.about or any(len(names) == 1 and names <= set(plan.about) for names in differ))
    again = sum(
        any(run.config == earlier.config and decides(plan, earlier) for earlier in one.runs[:place])
        for place, run in enumerate(one.runs)
    )
    return {"measured": float(measured), "shown": float(shown), "waste": -min(0.5 * again, float(measured + shown))}


def tells(plan: Plan, run: Bet) -> bool:
    """Whether a run is evidence: it decided, or it kept what today breaks, however wide its interval."""
    return bool(decides(plan, run) or run.outcome["verdict"] != FEW and broken(plan, run.today, run.today))


def _evidence_words(plan: Plan, one: Attempt, found: Mapping[str, float]) -> Text:
    """What earned the evidence, and what did not."""
    if not found:
        return both("counts with an outcome above 0", "结果大于 0 才计分")
    alone = key(one.handed.config) == key(plan.today)
    said = [EVIDENCE_SAID["rival" if alone else "measured", bool(found["measured"])]]
    said.append(EVIDENCE_SAID["shown", bool(found["shown"])])
    said += [EVIDENCE_SAID["waste", True]] if found["waste"] else []
    return both("; ".join(text["en"] for text in said), "；".join(text["zh"] for text in said))


EVIDENCE_SAID = {
    ("measured", True): both("what you handed in was measured", "交的方案测过"),
    ("measured", False): both("no run told about what you handed in", "交的方案没有测出结果"),
    ("rival", True): both("the strongest rival of today's setting was measured", "现在设置的最强对手测过"),
    ("rival", False): both(
        "no run told about the strongest rival of today's setting", "现在设置的最强对手没有测出结果"
    ),
    ("shown", True): both("and so was its neighbour, one control apart", "只差一个控件的对照也测过"),
    ("shown", False): both(
        "no run told about a neighbour that differs only in what the cause is about",
        "只差那个关键控件的对照没有测出结果",
    ),
    ("waste", True): both("half off for each run of what was known", "重测已知的，每次扣半分"),
}


def standing(case: Case, entries: Sequence[Entry]) -> Standing:
    """Where a learner stands with a case: in words, the scores of the attempts that are closed, the bets of the first."""
    plan = plan_of(case)
    tries = moves.attempts(case.id, entries, lambda done: is_closed(case, plan, done))
    found = [attempt_of(plan, one) for one in tries]
    scores = tuple(score_of(case, as_played(plan, one.table), one) for one in found if over(case, one))
    ends = (moves.closed_at(one, lambda done: is_closed(case, plan, done)) for one in tries)
    bets = settled_bets(case, plan, found[0])
    return Standing(
        case, _state_words(case, plan, found[-1], scores), scores, closed=tuple(filter(None, ends)), bets=bets
    )


def _state_words(case: Case, plan: Plan, last: Attempt, scores: Sequence[score.Score]) -> Text:
    """How a case stands: what waits in the last attempt, else the points of the first."""
    if last.handed and not over(case, last):
        return both("handed in; the cause is open", "方案已交，原因待答")
    if last.waits:
        return both("handed in; waits for a measurement that decides", "方案已交，等一次分得出高下的测量")
    if scores:
        points = format_points(scores[0].points)
        apart = both(" (a warm-up, not counted)", "（热身，不计入总分）") if case.tutorial else both("", "")
        return both(f"closed: {points} of 10{apart['en']}", f"已完成：{points} / 10{apart['zh']}")
    if last.runs:
        return both(f"{last.spent} of {plan.runs} runs used", f"已用 {last.spent}/{plan.runs} 次测量")
    return OPEN


def as_played(plan: Plan, table: Table) -> Plan:
    """The plan with only the controls and values that a table knows: what the machine that measured it had."""
    if not table:
        return plan
    seen = [config_in(line) for line in table]
    names = set(seen[0])
    values = {(name, value) for config in seen for name, value in config.items()}
    lacking = {(one.id, value) for one in plan.controls for value in one.values if (one.id, value) not in values}
    return plan.without({one.id for one in plan.controls} - names, lacking)


# --- is the data sound? -------------------------------------------------------------------------------------


def faults(case: Case) -> Iterator[str]:
    """What is wrong with the panel, the limits and the rules of a case, in sentences."""
    try:
        plan = plan_of(case)
    except (KeyError, TypeError, ValueError) as error:
        yield f"{case.id}: play does not fit ({type(error).__name__}: {error})"
        return
    for name, text in _texts(plan):
        yield from (f"{case.id}: {fault}" for fault in language_faults(name, text))
        if not isinstance(text, str) and set(text) != set(LANGUAGES):
            yield f"{case.id}: {name} does not stand in both languages"
    known = {one.id: set(one.values) for one in plan.controls}
    for name, config in (("today", plan.today), ("advice", plan.advice or {})):
        if any(value not in known.get(control, ()) for control, value in config.items()):
            yield f"{case.id}: {name} names a control or value that is not on the panel"
    if set(plan.today) != set(known):
        yield f"{case.id}: today does not name every control"
    for name, control in known.items():
        if not 2 <= len(control) <= 4:
            yield f"{case.id}: control {name} has {len(control)} values; two to four fit a narrow screen"
    if not set(plan.about) <= set(known) or not plan.about:
        yield f"{case.id}: about names no control that is on the panel"
    if case.evidence == "rule":
        yield from _rule_faults(case, plan, known)
    elif plan.rules:
        yield f"{case.id}: has rules and is not decided by them"


def _rule_faults(case: Case, plan: Plan, known: Mapping[str, set[str]]) -> Iterator[str]:
    used = set()
    for rule in plan.rules:
        if any(value not in known.get(name, ()) for name, value in rule.when.items()):
            yield f"{case.id}: a rule names a control or value that is not on the panel: {key(rule.when)}"
        if not 0 <= rule.share <= 1 or not rule.source:
            yield f"{case.id}: a rule has a share outside 0 to 1, or no source"
    for config in plan.configs():
        place = next((place for place, rule in enumerate(plan.rules) if rule.fits(config)), None)
        used.add(place)
        if place is None:
            yield f"{case.id}: no rule for {key(config)}"
    if None not in used and not any(plan.rules[place].share == 1 for place in used):
        yield f"{case.id}: the right answer cannot be reached"
    for place in set(range(len(plan.rules))) - used:
        yield f"{case.id}: rule {place} is never reached"


def _texts(plan: Plan) -> Iterator[tuple[str, Text]]:
    for one in plan.controls:
        yield f"control {one.id}", one.name
        yield f"what control {one.id} does", one.says
        yield from ((f"value {value} of {one.id}", text) for value, text in one.values.items())
    yield from ((f"limit {one.id}", one.name) for one in plan.limits)
    yield from ((f"rule {place}", one.says) for place, one in enumerate(plan.rules))
