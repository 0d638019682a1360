"""What became of the configurations of a case: which break a requirement, which are best, how much of the possible gain one brings."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from course.lessons.l10_tuning_master.tuning_plan import Outcome, Outcomes, Plan, key

FEW = "few"
"""The verdict of a measurement whose rounds are too few for an interval; the first such run of a case is given back."""
WIDE = 1.5
"""An interval whose ends are this factor apart decides nothing."""


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
    """The outcomes of the settings on one panel, today's included; empty while nothing was handed in. plan: the panel of the machine
    that measured them.
    """

    plan: Plan
    outcomes: Outcomes

    @property
    def today(self) -> str:
        """The key of what runs today."""
        return key(self.plan.today)

    def came_out(self, name: str) -> str | None:
        """As the function of that name, for one setting of the table."""
        return came_out(self.plan, self.outcomes[name], self.outcomes[self.today])

    def permitted(self) -> list[str]:
        """The configurations that break nothing."""
        return [name for name in self.outcomes if self.came_out(name) != "breaks"]

    def best_told(self) -> list[str]:
        """The best set where the measurement can tell it; else nothing."""
        best = self.best_set()
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
