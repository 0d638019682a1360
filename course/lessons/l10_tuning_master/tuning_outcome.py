"""What became of the configurations of a case: which break a requirement, which are best, how much of the possible gain one brings."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from course.lessons.l10_tuning_master.tuning_plan import Limit, Outcome, Plan, Table, key

FEW = "few"
"""The verdict of a measurement whose rounds are too few for an interval; the first such run of a case is given back."""
WIDE = 1.5
"""An interval whose ends are this factor apart decides nothing."""


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
