"""The rules of the tuning game: a panel of controls, three runs, a bet before each, one configuration handed in, and then the
whole table. A plan, a table of outcomes, an attempt, points: all pure; ``course.lessons.l10_tuning_master.tuning_player`` plays by them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from course.game import moves, score
from course.game.board import OPEN, Standing
from course.game.cases import Case
from course.i18n import LANGUAGES, Text, both, pick, t
from course.learning.entry import Entry
from course.questions.item_lint import language_faults
from course.units import format_points

Config = Mapping[str, str]
"""control -> value, in the order of the panel."""
Outcome = Mapping[str, Any]
"""What became of a configuration. Measured: ratio, low, high (time over today's), verdict (of
``course.timing.compare``, within 3 % is the same; or FEW), facts {limit: value}. By rule: share, rule."""
Table = Mapping[str, Outcome]
"""Key of a configuration -> its outcome, today's included."""

FEW = "few"
"""The verdict of a measurement whose rounds are too few for an interval; such a run is given back."""
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
    best still counts as best. advice: the configuration that the usual advice means.
    """

    controls: tuple[Control, ...]
    today: Config
    limits: tuple[Limit, ...] = ()
    rules: tuple[Rule, ...] = ()
    runs: int = 3
    seconds: tuple[float, float] = (1.5, 6.0)
    slack: float = 1.05
    advice: Config | None = None

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

        advice = only(self.advice) if self.advice else None
        return Plan(tuple(left), only(self.today), self.limits, self.rules, self.runs, self.seconds, self.slack, advice)


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
    if "seconds" in play:
        play["seconds"] = tuple(play["seconds"])
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
    """Why a bet is asked again and again."""
    return t(
        "Every try takes a bet of its own, and so does the hand-in: by then you know more.",
        "每试一次都要单独下注，交方案时再押一次：那时你知道得更多了。",
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


def best_set(plan: Plan, table: Table, today: str) -> list[str]:
    """The permitted configurations that cannot be told from the best: within the slack, or with overlapping intervals."""
    allowed = permitted(plan, table, today)
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


def outcome_points(plan: Plan, table: Table, today: str, hand: str) -> float:
    """0 to 5: nothing for a broken requirement, 5 for the best set, else 4 x the share of the possible gain, down to the half.

    The gain counts from today, or from the slowest that is permitted where today breaks a requirement.
    """
    allowed = permitted(plan, table, today)
    if hand not in allowed:
        return 0.0
    if hand in best_set(plan, table, today):
        return 5.0
    if plan.rules:
        return math.floor(2 * 5 * table[hand]["share"]) / 2
    ratios = {name: table[name]["ratio"] for name in allowed}
    best, start = min(ratios.values()), ratios.get(today, max(ratios.values()))
    if start <= best:
        return 0.0
    share = math.log(start / ratios[hand]) / math.log(start / best)
    return math.floor(8 * max(0.0, min(1.0, share))) / 2


def decided(plan: Plan, table: Table, today: str, hand: str) -> bool:
    """Whether the measurement can carry points: hand-in and best have intervals, and no very wide ones."""
    if plan.rules:
        return True
    best = best_set(plan, table, today)
    return all(
        table[name]["verdict"] != FEW and table[name]["high"] <= WIDE * table[name]["low"] for name in {hand, *best[:1]}
    )


# --- one attempt --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bet:
    """A configuration, what was bet on it, how sure, and what came of it (None while nothing did)."""

    config: Config
    bet: str
    confidence: int
    outcome: Outcome | None
    evidence: Mapping[str, Any]

    @property
    def today(self) -> Outcome:
        """What today's configuration gave in the same measurement."""
        return self.evidence.get("today") or self.outcome or {}


@dataclass(frozen=True)
class Attempt:
    """One attempt, read from its moves."""

    runs: tuple[Bet, ...]
    handed: Bet | None
    table: Table
    causes: tuple[str, ...]
    hints: int

    @property
    def spent(self) -> int:
        """Runs used up: those that told something."""
        return sum(one.outcome.get("verdict") != FEW for one in self.runs)

    @property
    def bets(self) -> tuple[Bet, ...]:
        return (*self.runs, self.handed) if self.handed else self.runs


def attempt_of(found: Sequence[moves.Move]) -> Attempt:
    """The attempt that these moves made."""

    def bet(one: moves.Move, outcome: Outcome | None) -> Bet:
        line, said = (*one.choice, "", "")[:2]
        return Bet(config_in(line), said, one.confidence or 1, outcome, one.evidence)

    runs = [bet(one, one.evidence.get("outcome")) for one in moves.of_kind(found, "run") if one.evidence.get("outcome")]
    handed, table = None, {}
    for one in moves.of_kind(found, "hand-in")[:1]:
        table = one.evidence.get("table") or {}
        if one.choice and one.choice[0] in table:
            handed = bet(one, table[one.choice[0]])
    causes = tuple(one.choice[0] for one in moves.of_kind(found, "cause") if one.choice)
    return Attempt(tuple(runs), handed, table, causes, len(moves.of_kind(found, "hint")))


def score_of(case: Case, plan: Plan, one: Attempt) -> score.Score | None:
    """The score of an attempt; None before the hand-in."""
    if one.handed is None:
        return None
    today, hand = key(plan.today), key(one.handed.config)
    if today not in one.table:
        return None
    names = best_set(plan, one.table, today)
    reached = max(0.0, outcome_points(plan, one.table, today, hand) - 0.5 * one.hints)
    told = [(bet.confidence, _right(plan, bet, one.table[today])) for bet in one.bets]
    spare = max(0, plan.runs - one.spent)
    right = [answer == case.cause.right.id for answer in one.causes]
    hinted = both(f"less {0.5 * one.hints:g} for hints", f"提示扣 {0.5 * one.hints:g}") if one.hints else ""
    return score.Score(
        (
            score.Part(both("outcome", "结果"), reached, 5, hinted),
            score.Part(both("bets", "下注"), score.bet_points(told), 2),
            score.Part(
                both("runs saved", "省下的测量"),
                float(min(2, spare)) if hand in names else 0.0,
                2,
                "" if hand in names else both("they count with one of the best only", "交出最好的一档才算"),
            ),
            score.Part(both("cause", "原因"), score.tries_points(right), 1),
        ),
        decided(plan, one.table, today, hand),
    )


def _right(plan: Plan, bet: Bet, today: Outcome) -> bool | None:
    came = came_out(plan, bet.outcome, today) if bet.outcome else None
    return None if came is None else came == bet.bet


def standing(case: Case, entries: Sequence[Entry]) -> Standing:
    """Where a learner stands with a case: in words, and the scores of the attempts that are closed."""
    plan, found = plan_of(case), [attempt_of(one) for one in moves.attempts(case.id, entries)]
    plan = as_played(plan, found[-1].table)
    scores = [
        got
        for place, one in enumerate(found)
        if (case.cause.right.id in one.causes or place < len(found) - 1)
        and (got := score_of(case, as_played(plan, one.table), one))
    ]
    last = found[-1]
    if last.handed and case.cause.right.id not in last.causes:
        return Standing(case, both("handed in; the cause is open", "方案已交，原因待答"), tuple(scores))
    closed = Standing(case, both("closed, inconclusive: try again", "已完成，无法判定，可再来"), tuple(scores))
    if closed.first:
        points = format_points(closed.first.points)
        apart = both(" (a warm-up, not counted)", "（热身，不计入总分）") if case.tutorial else both("", "")
        words = both(f"closed: {points} of 10{apart['en']}", f"已完成：{points} / 10{apart['zh']}")
        return Standing(case, words, tuple(scores))
    if scores:
        return closed
    if last.runs:
        used = last.spent
        return Standing(case, both(f"{used} of {plan.runs} runs used", f"已用 {used}/{plan.runs} 次测量"))
    return Standing(case, OPEN)


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
