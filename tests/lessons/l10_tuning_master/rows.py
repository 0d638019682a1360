"""Invented rows for the experiments of lesson 10: the table of every live case, with a best one. Nothing was measured."""

from __future__ import annotations

from course.game.cases import cases
from course.lessons.l10_tuning_master import panel

GOOD = {"statistics": True, "error": 1e-7, "peak": 10.0, "bits": True}
BAD = {"statistics": False, "error": 0.5, "peak": 40.0, "bits": False}


def table(case_id: str, best: float = 0.5, broken: bool = False) -> list[dict]:
    """Rows of every combination: today at 1, the last one at ``best``, the rest above 1; ``broken``: the last breaks its limits."""
    plan = panel.plan_of(cases()[case_id])
    today, configs = panel.key(plan.today), plan.configs()
    fast = panel.key(next(one for one in reversed(configs) if panel.key(one) != today))
    rows = []
    for place, config in enumerate(configs):
        name = panel.key(config)
        ratio = 1.0 if name == today else best if name == fast else 1.2 + place / 10
        half = 0.0 if name == today else 0.02 * ratio
        verdict = "same" if name == today else "faster" if ratio < 1 else "slower"
        row = {
            "config": name,
            "words": name,
            "ratio": ratio,
            "low": ratio - half,
            "high": ratio + half,
            "verdict": verdict,
        }
        facts = (BAD if broken and name == fast else GOOD) | ({"peak": 40.0} if name == today else {})
        rows.append(row | {"median_ms": ratio} | {f"fact_{one.id}": facts[one.id] for one in plan.limits})
    return rows


LIVE = [case.id for case in cases("10_tuning_master").values() if case.evidence == "live"]
ROWS: dict[str, dict[str, list[dict]]] = {}
SHOWN = {name: table(name) for name in LIVE}


def compiling(call_ms: float = 0.67, kept_s: float = 1.2) -> list[dict]:
    """Rows of 10-compile-price: as written 1 ms a call; compiled after 8 s, or ``kept_s`` with the kept cache."""
    told = {"plain": (0.01, 1.0), "empty": (8.0, call_ms), "kept": (kept_s, call_ms)}
    return [
        {"state": state, "first_s": first, "call_ms": call, "low_ms": 0.98 * call, "high_ms": 1.02 * call}
        for state, (first, call) in told.items()
    ]


NONE_FOUND = "InvalidCxxCompiler: No working C++ compiler found"
REFUSED = [compiling()[0], *({"state": state, "refused": NONE_FOUND} for state in ("empty", "kept"))]
SHOWN["10-compile-price"] = compiling()


def few(rows: list[dict]) -> list[dict]:
    """The same table, its best one measured in too few rounds."""
    best = min(rows, key=lambda row: row["ratio"])
    return [
        {**row, "verdict": panel.FEW, "low": row["ratio"], "high": row["ratio"]} if row is best else row for row in rows
    ]


def unsure(rows: list[dict]) -> list[dict]:
    """The same table, its best one with an interval that holds 1."""
    best = min(rows, key=lambda row: row["ratio"])
    return [{**row, "verdict": "undecided", "low": 0.9, "high": 1.0} if row is best else row for row in rows]


def not_sure_of_a_gain(name: str) -> list[dict]:
    """The table of a case whose best one is below today's, by an interval that the verdict does not call faster."""
    found = table(name, 0.9)
    best = min(found, key=lambda row: row["ratio"])
    return [{**row, "verdict": "undecided", "low": 0.85, "high": 0.99} if row is best else row for row in found]


def none_keeps_the_requirements(name: str) -> list[list[dict]]:
    """The table of a case in which every combination breaks its requirements; none for a case without them."""
    limits = {f"fact_{one.id}": BAD[one.id] for one in panel.plan_of(cases()[name]).limits}
    return [[{**row, **limits} for row in table(name)]] if limits else []


BRANCHES = {
    name: [
        not_sure_of_a_gain(name),
        *none_keeps_the_requirements(name),
        table(name, broken=True),
        table(name, best=0.05),
        table(name, best=1.0),
        table(name, best=1.1),
        few(table(name)),
        unsure(table(name, best=0.95)),
        [row for row in table(name) if row["ratio"] != 1.0],
    ]
    for name in LIVE
} | {
    "10-compile-price": [
        compiling(call_ms=1.5),
        compiling()[:2],
        REFUSED,
        [compiling()[0], {**compiling()[1], "first_s": 0.01}, compiling()[2]],
    ]
}
"""Further outcomes that have words of their own: experiment -> rows of each."""
