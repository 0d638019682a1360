"""Invented rows for the experiments of lesson 10: the table of every live case, with a best one. Nothing was measured."""

from __future__ import annotations

from course.game.cases import cases
from course.lessons.l10_tuning_master import panel
from tests.lessons.live import as_rows

GOOD = {"statistics": True, "error": 1e-7, "peak": 10.0, "bits": True}
BAD = {"statistics": False, "error": 0.5, "peak": 40.0, "bits": False}
LIVE = [case.id for case in cases("10_tuning_master").values() if case.evidence == "live"]


def table(case_id: str, best: float = 0.5, broken: bool = False, **of_best) -> list[dict]:
    """Rows of every combination: today at 1, the last one at ``best``, the rest above 1; ``broken``: the last breaks its limits.

    of_best: other values of the last one's row.
    """
    plan = panel.plan_of(cases()[case_id])
    today, configs = panel.key(plan.today), plan.configs()
    fast = panel.key(next(one for one in reversed(configs) if panel.key(one) != today))
    rows = []
    for place, config in enumerate(configs):
        name = panel.key(config)
        ratio = 1.0 if name == today else best if name == fast else 1.2 + place / 10
        half = 0.0 if name == today else 0.02 * ratio
        verdict = "same" if name == today else "faster" if ratio < 1 else "slower"
        facts = (BAD if broken and name == fast else GOOD) | ({"peak": 40.0} if name == today else {})
        row = {"config": name, "words": name, "ratio": ratio, "low": ratio - half, "high": ratio + half}
        row |= {"verdict": verdict, "median_ms": ratio} | {f"fact_{one.id}": facts[one.id] for one in plan.limits}
        rows.append(row | (of_best if name == fast else {}))
    return rows


def none_keeps_the_requirements(name: str) -> list[list[dict]]:
    """The table of a case in which every combination breaks its requirements; none for a case without them."""
    limits = {f"fact_{one.id}": BAD[one.id] for one in panel.plan_of(cases()[name]).limits}
    return [[{**row, **limits} for row in table(name)]] if limits else []


def compiling(call_ms: float = 0.67, kept_s: float = 1.2) -> list[dict]:
    """Rows of 10-compile-price: as written 1 ms a call; compiled after 8 s, or ``kept_s`` with the kept cache."""
    compiled = (call_ms, 0.98 * call_ms, 1.02 * call_ms)
    return as_rows(
        "state first_s call_ms low_ms high_ms",
        ("plain", 0.01, 1.0, 0.98, 1.02),
        ("empty", 8.0, *compiled),
        ("kept", kept_s, *compiled),
    )


NONE_FOUND = "InvalidCxxCompiler: No working C++ compiler found"
REFUSED = [compiling()[0], *({"state": state, "refused": NONE_FOUND} for state in ("empty", "kept"))]
ROWS: dict[str, dict[str, list[dict]]] = {}
BRANCHES = (
    {
        name: [
            table(name),
            table(name, 0.9, verdict="undecided", low=0.85, high=0.99),  # below today's, and not called faster
            *none_keeps_the_requirements(name),
            table(name, broken=True),
            table(name, best=1.1),
            table(name, verdict=panel.FEW, low=0.5, high=0.5),
            table(name, 0.95, verdict="undecided", low=0.9, high=1.0),
            [row for row in table(name) if row["ratio"] != 1.0],
        ]
        for name in LIVE
    }
    | {
        "10-compile-price": [
            compiling(),
            compiling(call_ms=1.5),
            compiling()[:2],
            REFUSED,
            [compiling()[0], {**compiling()[1], "first_s": 0.01}, compiling()[2]],
        ]
    }
)
