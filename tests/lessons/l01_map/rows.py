"""Lesson 01: invented rows that settle each bet on each of its options. Nothing was measured."""

from __future__ import annotations


def flags(changed):
    return [{"switch": str(n), "named": 0, "before": 0, "inside": int(n < changed), "after": 0} for n in range(4)]


def seen(thread, fork, spawn):
    return [
        {"set_in": "main", "read_in": place, "sees": sees}
        for place, sees in (("thread", thread), ("fork", fork), ("spawn", spawn))
    ]


def entry_points(block, setter):
    return [
        {"door": kind, "kind": kind, "open": is_open, "error": ""}
        for kind, is_open in (("with", block), ("setter", setter), ("assignment", 0))
    ]


ROWS = {
    "01-bet-typos": {
        option: [
            {"wrote": f"cudnn.x{n}", "meant": "cudnn.y", "raised": int(n < raised), "error": ""} for n in range(12)
        ]
        for option, raised in (("a", 12), ("b", 6), ("c", 1), ("d", 0))
    },
    "01-bet-who-sees": {"a": seen(0, 0, 0), "b": seen(1, 0, 0), "c": seen(1, 1, 0), "d": seen(1, 1, 1)},
    "01-bet-flags": {"a": flags(0), "b": flags(1), "c": flags(2), "d": flags(3)},
    "01-bet-frozen": {"a": entry_points(0, 0), "b": entry_points(1, 0), "c": entry_points(1, 1)},
    "01-bet-mps": {
        option: [
            {
                "tried": "mps.is_available = False",
                "accepted": accepted,
                "before": "False",
                "asked": "mps.is_available()",
                "after": after,
                "changed": 1,
            }
        ]
        for option, accepted, after in (("a", 1, "False"), ("b", 0, "True"), ("c", 1, "TypeError: no"))
    },
}
BRANCHES = {
    "01-who-sees": [seen(0, 1, 1)],
    "01-flags-trap": [
        [{**row, "named": int(row["switch"] == "3"), "after": row["inside"]} for row in flags(changed)]
        for changed in (0, 3)
    ]
    + [[{**row, "after": 1} for row in flags(changed)] for changed in (0, 1)],
    "01-frozen": [entry_points(0, 1)],
}
