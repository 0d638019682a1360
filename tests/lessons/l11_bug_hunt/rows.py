"""Lesson 11: invented rows that settle each bet on each of its options. Nothing was measured."""

from __future__ import annotations


def repaired(verdict, switch, both=0.1):
    found = [("switch", switch, verdict), ("type", 0.5, "faster"), ("both", both, "faster")]
    return [{"repaired": n, "ratio": r, "low": r - 0.01, "high": r + 0.01, "verdict": v} for n, r, v in found]


def asked(exact, ratios):
    return [{"pair": n, "on": exact or n % 2 == 0, "off": False, "ratio": ratios[n % len(ratios)]} for n in range(24)]


ROWS = {
    "11-bet-hidden": {"a": repaired("faster", 0.7), "b": repaired("same", 1.0), "c": repaired("slower", 1.3)},
    "11-bet-witness": {
        "a": asked(True, [2.0, 2.05]),
        "b": asked(True, [1.2, 2.0, 3.1]),
        "c": asked(False, [2.0, 2.05]),
        "d": asked(False, [1.2, 2.0, 3.1]),
    },
}
FURTHER = {"11-bet-hidden": [(repaired("same", 1.0, both=0.5), "b"), (repaired("undecided", 1.0), None)]}


def bisected(halving=4, **more):
    return [{"place": n, "halving": halving, "line_by_line": n, "found": True, **more} for n in range(1, 17)]


BRANCHES = {
    "11-bisect": [
        bisected(),
        bisected(found=False),
        bisected(12),
        [{**row, "halving": 3 + row["place"] % 2} for row in bisected()],
    ]
}
