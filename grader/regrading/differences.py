"""Compare old and new marks: which students, which cells, and which key, test or code has changed. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.marks import CellMark

NOTHING = "NOTHING OF OURS CHANGED: the same submission came out differently this time; look at it by hand"
UNKNOWN = "marked by an earlier version, which did not keep what the mark rests on"
KEY = "its key"
PAPER = "its key, or whose paper it is (papers.yaml)"
NEW = "it was not in this checkpoint when the submission was marked"
Prints = Mapping[str, Any]  # as grader.marking.fingerprints makes them, by cell


@dataclass(frozen=True)
class Change:
    """One mark that changes. manual: the mark given by hand, which stays and counts; None for none."""

    student: str
    cell: str
    old: float | None
    new: float
    old_top: float
    new_top: float
    why: str
    manual: float | None = None


def why(cell: str, before: Prints, now: Prints, same_submission: bool = True, key: str = KEY) -> str:
    """What changed between two markings of a cell, in words. key: the words for a changed key."""
    found = []
    if not same_submission:
        found.append("another submission was handed in since")
    if cell not in before:
        return "; ".join([*found, NEW if before else UNKNOWN])
    old, new = before[cell], now[cell]
    if old["points"] != new["points"]:
        found.append(f"its points: {old['points']:g} -> {new['points']:g}")
    if old["key"] != new["key"]:
        found.append(key if new["words"] else "its hidden test")
    ours, then = now.get("program", {}), before.get("program", {})
    if ours.get("code") != then.get("code"):
        found.append("the code that marks")
    if ours.get("versions") != then.get("versions"):
        found.append(f"what it runs on ({then.get('versions')} -> {ours.get('versions')})")
    return "; ".join(found) or NOTHING


def changes(
    student: str,
    old: Mapping[str, CellMark],
    new: Mapping[str, float],
    before: Prints,
    now: Prints,
    same_submission: bool = True,
    key: str = KEY,
) -> list[Change]:
    """The cells of one student whose mark or maximum changes, in the order of ``new``."""
    found = []
    for cell, points in new.items():
        if points is None or cell not in now:  # a person marks it
            continue
        was, top = old.get(cell, CellMark(None)), now[cell]["points"]
        if was.auto is None or abs(was.auto - points) > 1e-9 or was.top != top:
            found.append(
                Change(
                    student,
                    cell,
                    was.auto,
                    points,
                    was.top,
                    top,
                    why(cell, before, now, same_submission, key),
                    was.manual,
                )
            )
    return found


def of_ours(before: Prints, now: Prints, key: str = KEY) -> list[str]:
    """Which keys, tests or code changed for one submission, such as ``05-c-crop: its key``; also where its marks did not."""
    found = [
        f"{cell}: {why(cell, {**before, 'program': now.get('program')}, now, key=key)}"
        for cell in now
        if cell != "program"
        and cell in before
        and any(before[cell].get(part) != now[cell][part] for part in ("points", "key"))
    ]
    found += [
        f"{cell}: only its words or explanations"
        for cell in now
        if cell != "program"
        and cell in before
        and before[cell].get("key") == now[cell]["key"]
        and before[cell].get("words") != now[cell]["words"]
    ]
    return found


def lines(found: list[Change]) -> list[str]:
    """The table of changes as lines, one for each cell."""
    if not found:
        return []
    rows = [
        (
            c.student,
            c.cell,
            f"{_points(c.old, c.old_top)} -> {_points(c.new, c.new_top)}",
            c.why + (f" (the manual mark {c.manual:g} stays and counts)" if c.manual is not None else ""),
        )
        for c in found
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return ["  ".join([*(text.ljust(width) for text, width in zip(row, widths, strict=False)), row[3]]) for row in rows]


def _points(points: float | None, top: float) -> str:
    return "none" if points is None else f"{points:g}/{top:g}"
