"""What follows from the rows: a verdict on each setting, which to take together, one sentence for all. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from course.core.i18n import Text, both
from course.core.units import less_time
from course.experiment.reading import kind_of

ALIKE = 0.05
"""A likely range within this share of 1 is no difference that is worth a line."""
SMALL = 0.1
"""A likely range that does not reach further than this share below 1 says that nothing much can be gained."""
NARROW = 0.15
"""Half of the width of a range, as a share of the ratio, from which a gain is known well enough."""
WIDE, VAGUE = 2, 3
"""A range whose ends are further apart, as a ratio, promises no gain; says nothing yet."""
LOST = 10
"""So many times the error of the step as it is: a digit is lost."""
COARSE, TWICE = 1e-3, 2
"""A step that is off by as much already has few digits to lose: twice its error is too much."""
FLOOR, FLOOR_AS_IS = 1e-6, 1e-5
"""Smallest error that counts as one: with a float64 run, and where the step as it is stands for the truth."""

Row = Mapping[str, Any]
JOINT = "+"
"""Stands between the ids of settings that were tried together."""
GAINS = ("take", "digits")
WORDS = {
    "take": both("take it", "用它"),
    "digits": both("faster, but less exact: your decision", "更快，但精度下降：由你决定"),
    "same": both("no difference", "没差别"),
    "slower": both("slower", "更慢"),
    "none": both("no gain", "没有好处"),
    "unsure": both("not clear yet", "还说不准"),
    "late": both("no time left", "没时间试了"),
    "untried": both("could not be tried, see below", "没能试，见下"),
}
"""Verdict -> what is said of it."""


def verdict_of(row: Row) -> str:
    """take | digits (faster, but a digit or more is lost) | same | slower | none (not faster, slower by little if at all) | unsure |
    untried | late (too few sets)."""
    if row.get("why"):
        return "untried"
    if row.get("low") is None:
        return "late"
    if 1 - ALIKE <= row["low"] and row["high"] <= 1 + ALIKE:
        return "same"
    kind = kind_of(row)
    if kind not in ("faster", "slower") or kind == "faster" and row["high"] > WIDE * row["low"]:
        return "none" if row["low"] >= 1 else "unsure"
    return "slower" if kind == "slower" else "digits" if loses(row) else "take"


def settled(row: Row) -> bool:
    """Whether more time tells nothing that matters."""
    verdict = verdict_of(row)
    if verdict in GAINS:
        return bool(row["high"] - row["low"] < 2 * NARROW * row["ratio"])
    return verdict in ("same", "slower", "untried")


def hopeful(row: Row) -> bool:
    """Whether more time may well find that the setting helps: it is open, its range reaches far enough below 1, and it seems faster by half
    of that, or the range is too wide to say anything."""
    is_open = verdict_of(row) == "unsure" and row["low"] < 1 - SMALL
    return bool(is_open and (row["ratio"] < 1 - SMALL / 2 or row["high"] > VAGUE * row["low"]))


def loses(row: Row) -> bool:
    """Whether the result is off by far more than that of the step as it is; where nothing was compared,
    whether fewer digits are the point."""
    error = row.get("error")
    if error is None:
        return bool(row.get("lossy"))
    now = row.get("error_as_is") or 0
    limit = LOST * max(now, FLOOR if row.get("float64") else FLOOR_AS_IS)
    return bool(error > min(limit, max(COARSE, TWICE * now)))


def winners(rows: Sequence[Row]) -> list[Row]:
    """The faster settings, the best first, one of each family."""
    found: dict[str, Row] = {}
    for row in sorted((row for row in rows if verdict_of(row) in GAINS), key=lambda row: row["ratio"]):
        if JOINT not in row["setting"]:
            found.setdefault(row["family"], row)
    return list(found.values())


def joint(rows: Sequence[Row]) -> str:
    """The ids of the winners to try together; empty where there are no two of them."""
    ids = sorted(row["setting"] for row in winners(rows))
    return JOINT.join(ids) if len(ids) > 1 else ""


def best(rows: Sequence[Row], safe: bool) -> Row | None:
    """The row of the setting, or of all winners together, that brings most. safe: what costs no digits, if any."""
    gains = [row for row in rows if verdict_of(row) in GAINS]
    fit = [row for row in gains if not safe or verdict_of(row) == "take"]
    return min(fit or gains, key=lambda row: row["ratio"], default=None)


def headline(rows: Sequence[Row]) -> Text:
    """What came out, in one sentence."""
    row, timed = best(rows, safe=True), [one for one in rows if one.get("low")]
    if row:
        many, name, saved = row["setting"].count(JOINT) + 1, row["name"], less_time(row["ratio"])
        named = both(name, name) if many == 1 else both(f"{many} settings", f"{many} 项设置一起用")
        end = both("; results about as exact", "精度相当")
        if row.get("error") is None:
            end = both("; its results were not compared", "结果没有比较")
        elif loses(row):
            end = both(", but results have fewer right digits", "但结果的精度下降")
        return both(f"{saved['en']} with {named['en']}{end['en']}.", f"{named['zh']}：{saved['zh']}，{end['zh']}。")
    if not rows:
        return both("None of these settings can matter here.", "这几项设置在这里都不起作用。")
    if not timed:
        return both("Too little was measured to tell.", "测得太少，还说不准。")
    if any(verdict_of(one) == "late" for one in rows) or any(map(hopeful, timed)):
        return both("No gain is sure yet.", "还没有哪项设置确定有用。")
    if any(verdict_of(one) == "unsure" for one in timed):
        return both("No gain is sure: leave your step as it is.", "没有确定的好处：保持原样就好。")
    return both("Nothing tried helps: leave your step as it is.", "试过的都没用：保持原样就好。")
