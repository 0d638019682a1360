"""Where a line was measured: situations (rows) on machines (columns), each cell read from a recording or a table, or published by others.

``course/lessons/cards.yaml`` names what belongs where: a cell says which rows of which recording are put into a ratio. It holds no
figure but those that others published, beside the link. PyYAML is imported when the file is read; nothing here imports torch.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from course.core import records
from course.core.catalog import LESSONS, lesson_folder
from course.core.i18n import Text, pick, t
from course.core.units import ratio_words
from course.timing.stats import median

FILE = lesson_folder(LESSONS[0].id).parent / "cards.yaml"


class CardsError(ValueError):
    """A cell that does not fit what it names; the text says which."""


@dataclass(frozen=True)
class Cell:
    """One measured effect. ratio: time with the line over time without (below 1: faster), low and high: its range where there is
    one. what: what was measured. source: an address, or the file of a recording or table, relative to course/lessons.
    """

    machine: str
    what: Text
    ratio: float
    low: float | None
    high: float | None
    source: str


@dataclass(frozen=True)
class Situation:
    """A row. line: what is tried. settings: ids of `try_switches` that try it. lesson: where it is taught."""

    name: Text
    line: str
    settings: tuple[str, ...]
    lesson: str
    cells: tuple[Cell, ...]

    def on(self, machine: str) -> list[Cell]:
        """What was measured on a machine."""
        return [cell for cell in self.cells if cell.machine == machine]


@lru_cache(maxsize=1)
def read() -> tuple[dict[str, Text], tuple[Situation, ...]]:
    """(id -> name of every machine, the rows). Raises CardsError, in a sentence, for a cell without its source."""
    import yaml

    raw = yaml.safe_load(FILE.read_text("utf-8"))
    devices = {one["id"]: one.get("device", "") for one in raw["machines"]}
    names = {one["id"]: one["name"] for one in raw["machines"]}
    return names, tuple(
        Situation(
            row["name"], row["line"], tuple(row.get("settings", ())), row["lesson"],
            tuple(_cell(cell, devices) for cell in row["cells"]),
        )
        for row in raw["situations"]
    )  # fmt: skip


def _cell(raw: Mapping[str, Any], devices: Mapping[str, str]) -> Cell:
    if raw["machine"] not in devices:
        raise CardsError(f"cards.yaml: no machine is called {raw['machine']}.")
    if "link" in raw:
        ratio, low, high = _published(raw)
        return Cell(raw["machine"], raw["what"], ratio, low, high, raw["link"])
    if "table" in raw:
        source = raw["table"]
        with (FILE.parent / source).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    else:
        rows, source = _of_recording(raw["recording"], devices[raw["machine"]])
    ratio, low, high = _ratio(raw, rows)
    return Cell(raw["machine"], raw["what"], ratio, low, high, source)


def _published(raw: Mapping[str, Any]) -> tuple[float, None, None]:
    """The ratio of two figures that others published, or of one that says how many times as fast."""
    ratio = 1 / raw["times"] if "times" in raw else raw["with"] / raw["without"]
    return (1 / ratio if raw.get("inverse") else ratio), None, None


def _of_recording(name: str, device: str) -> tuple[Sequence[dict[str, Any]], str]:
    """The rows of the newest recording of an experiment on a device."""
    found = [one for one in records.recorded(name) if device and device in str(one[1].machine.get("device_name"))]
    if not found:
        raise CardsError(f"cards.yaml: {name} has no recording on {device or 'a machine without a device'}.")
    path, record = max(found, key=lambda one: one[1].created)
    return record.rows, path.relative_to(FILE.parent).as_posix()


def _ratio(raw: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> tuple[float, float | None, float | None]:
    """The ratio that a cell asks for: of one row, which has it (`row`), or of the medians of two groups of rows (`with`, `without`);
    `inverse` turns it round, as for figures that say how much is done in a time.
    """
    if "row" in raw:
        one = _fitting(rows, raw["row"])[0]
        found = one["ratio"], one.get("low"), one.get("high")
    else:
        key = raw.get("value", "value")
        groups = [median([_number(row[key]) for row in _fitting(rows, raw[side])]) for side in ("with", "without")]
        found = groups[0] / groups[1], None, None
    if not raw.get("inverse"):
        return found
    ratio, low, high = (1 / one if one else None for one in found)
    return ratio, high, low


def _number(value: Any) -> float:
    """A number, or the median of several without the first, which warms up."""
    return median([float(one) for one in value[1:]]) if isinstance(value, list) else float(value)


def _fitting(rows: Sequence[Mapping[str, Any]], wanted: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The rows with these values. Raises CardsError where there is none."""
    found = [row for row in rows if all(str(row.get(key)) == str(value) for key, value in wanted.items())]
    if not found or any(not math.isfinite(row.get("ratio", 1) or 1) for row in found):
        raise CardsError(f"cards.yaml: nothing measured fits {dict(wanted)}.")
    return found


def words(cell: Cell) -> str:
    """What was measured and what came out, in the reader's language: "ResNet-50: 52 % less"."""
    return f"{pick(cell.what)}{t(': ', '：')}{ratio_words(cell.ratio)}"
