"""The panel of a case of the tuning game: its controls, requirements and rules; what came of its settings, and which are best."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from course.core.i18n import Text, both, pick, t
from course.game.cases import Case

Config = Mapping[str, str]
"""control -> value, in the order of the panel."""
Outcome = Mapping[str, Any]
"""What became of a configuration. Measured: ratio, low, high (time over today's), verdict (of
``course.timing.compare``, within 3 % is the same; or FEW), facts {limit: value}. By rule: share, rule."""
Outcomes = Mapping[str, Outcome]
"""Key of a configuration -> its outcome, today's included."""
MEASURED_BETS = {
    "faster": both("faster than today", "比现在快"),
    "same": both("the same, within 3\u00a0%", "差不多（3% 以内）"),
    "slower": both("slower than today", "比现在慢"),
    "breaks": both("breaks a requirement", "违反要求"),
}
RULED_BETS = {
    "fits": both("fits: nothing better on this panel", "合适：面板上没有更好的"),
    "works": both("works, but there is better", "能用，但有更好的"),
    "breaks": both("breaks a requirement", "违反要求"),
}


FEW = "few"
"""The verdict of a measurement whose rounds are too few for an interval."""
WIDE = 1.5
"""An interval whose ends are this factor apart decides nothing."""


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


def in_words(plan: Plan, config: Config) -> str:
    """A configuration in the words of the panel: each control with its value."""
    found = [
        f"{pick(one.name)} {pick(one.values[config[one.id]])}"
        for one in plan.controls
        if config.get(one.id) in one.values
    ]
    return " · ".join(found)


def shared(names: Collection[str]) -> dict[str, str]:
    """What all configurations with these keys have in common."""
    first, *others = map(config_in, names)
    return {name: value for name, value in first.items() if all(one[name] == value for one in others)}


# --- what came of the settings ----------------------------------------------------------------------------------------


def ruled(plan: Plan) -> dict[str, Outcome]:
    """The outcomes of a case that is decided by rules."""
    found = {}
    for config in plan.configs():
        place, rule = next((place, rule) for place, rule in enumerate(plan.rules) if rule.fits(config))
        found[key(config)] = {"share": rule.share, "rule": place}
    return found


def outcome_of(row: Mapping[str, Any]) -> Outcome:
    """The outcome in a row of a case's experiment."""
    found = {name: row[name] for name in ("ratio", "low", "high", "verdict")}
    return found | {"facts": {name[5:]: value for name, value in row.items() if name.startswith("fact_")}}


def came_out(plan: Plan, outcome: Outcome, today: Outcome) -> str | None:
    """What a bet should have said: a key of ``plan.bets()``; None where the measurement decided nothing."""
    if plan.rules:
        return {1.0: "fits", 0.0: "breaks"}.get(outcome["share"], "works")
    if any(one.kept(outcome, today) is False for one in plan.limits):
        return "breaks"
    return outcome["verdict"] if outcome["verdict"] in ("faster", "same", "slower") else None


@dataclass(frozen=True)
class Table:
    """The outcomes of the settings on one panel, today's included, as far as the machine can run them; empty while nothing was
    handed in.
    """

    plan: Plan
    outcomes: Outcomes

    @property
    def today(self) -> str:
        """The key of what runs today, of those controls that the machine had."""
        first = next(iter(self.outcomes), "")
        return key({name: self.plan.today[name] for name in config_in(first)}) or key(self.plan.today)

    def came_out(self, name: str) -> str | None:
        """As the function of that name, for one setting of the table."""
        return came_out(self.plan, self.outcomes[name], self.outcomes[self.today])

    def permitted(self) -> list[str]:
        """The configurations that break nothing."""
        return [name for name in self.outcomes if self.came_out(name) != "breaks"]

    def best_told(self) -> list[str]:
        """The best set, the fastest first, where the measurement can tell it; else nothing."""
        best = sorted(self.best_set(), key=lambda name: self.outcomes[name].get("ratio", 0))
        return best if best and self.decided(best[0]) else []

    def best_set(self) -> list[str]:
        """The permitted configurations that cannot be told from the best: within the slack, or with overlapping intervals."""
        return self.best_of(self.permitted())

    def best_of(self, allowed: Collection[str]) -> list[str]:
        """Those of ``allowed`` that cannot be told from the best of them; by rule: those that fit."""
        if self.plan.rules:
            return [name for name in allowed if self.outcomes[name]["share"] == 1]
        found = {name: self.outcomes[name] for name in allowed}
        best = min(found.values(), key=lambda one: one["ratio"], default=None)
        return [
            name
            for name, one in found.items()
            if one["ratio"] <= self.plan.slack * best["ratio"] or one["low"] <= best["high"]
        ]

    def gained(self, hand: str) -> float | None:
        """The share of what could be gained over today: 1 for the best set, None for a broken requirement.

        The gain counts from today, or from the slowest that is permitted (by rule: from nothing) where today breaks a requirement.
        """
        allowed = self.permitted()
        if hand not in allowed:
            return None
        if hand in self.best_of(allowed):
            return 1.0
        if self.plan.rules:
            start = self.outcomes[self.today]["share"]
            return max(0.0, (self.outcomes[hand]["share"] - start) / (1 - start))
        ratios = {name: self.outcomes[name]["ratio"] for name in allowed}
        best, start = min(ratios.values()), ratios.get(self.today, max(ratios.values()))
        return max(0.0, math.log(start / ratios[hand]) / math.log(start / best)) if start > best else 0.0

    def points(self, hand: str) -> float:
        """0 to 5: nothing for a broken requirement, 5 for the best set, else 4 x the share of the possible gain, down to the half."""
        share = self.gained(hand) or 0.0
        return 5.0 if share == 1 else math.floor(8 * share) / 2

    def decided(self, hand: str) -> bool:
        """Whether the measurement can carry points: a broken requirement needs no clock; else the hand-in and everything permitted
        that may be faster have an interval, and no very wide one.
        """
        allowed = self.permitted()
        if self.plan.rules or hand not in allowed:
            return True
        rivals = [self.outcomes[name] for name in allowed]
        near = [one for one in rivals if one["low"] <= self.outcomes[hand]["high"]]
        return all(one["verdict"] != FEW for one in rivals) and all(one["high"] <= WIDE * one["low"] for one in near)
