"""Where a line was measured: situations (rows) on machines (columns), each cell read from a recording or a table, or published by others.

``course/lessons/cards.yaml`` names what belongs where: a cell says which rows of which recording are put into a ratio. It holds no
figure but those that others published, beside the link.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from course.core import records
from course.core.catalog import LESSONS, lesson_folder
from course.core.i18n import Text, pick, t
from course.core.units import ratio_words
from course.questions.bank import read_yaml
from course.timing.stats import median
from grader.project import ProjectError

FILE = lesson_folder(LESSONS[0].id).parent / "cards.yaml"


@dataclass(frozen=True)
class Cell:
    """One measured effect. ratio: time with the line over time without (below 1: faster). what: what was measured. source: an address,
    or the file of a recording or table, relative to course/lessons.
    """

    machine: str
    what: Text
    ratio: float
    source: str

    def words(self) -> str:
        """What was measured and what came out, in the reader's language: "ResNet-50: 52 % less"."""
        return f"{pick(self.what)}{t(': ', '：')}{ratio_words(self.ratio)}"


def read() -> tuple[dict[str, Text], list[dict[str, Any]]]:
    """(id -> name of every machine, the rows of the file with a ``Cell`` for each of their cells). Raises ProjectError, in a sentence,
    for a cell without its source.
    """
    raw = read_yaml(FILE)
    devices = {one["id"]: one.get("device", "") for one in raw["machines"]}
    names = {one["id"]: one["name"] for one in raw["machines"]}
    return names, [{**row, "cells": [cell(one, devices) for one in row["cells"]]} for row in raw["situations"]]


def cell(raw: Mapping[str, Any], devices: Mapping[str, str]) -> Cell:
    """The ratio that a cell asks for: of two published figures, or of one that says how many times as fast; of one row, which has it
    (`row`); or of the medians of two groups of rows (`with`, `without`). `inverse` turns it round, as for figures that say how much is
    done in a time.
    """
    if raw["machine"] not in devices:
        raise ProjectError(f"cards.yaml: no machine is called {raw['machine']}.")
    rows, source = _measured(raw, devices[raw["machine"]])
    if "link" in raw:
        ratio = 1 / raw["times"] if "times" in raw else raw["with"] / raw["without"]
    elif "row" in raw:
        ratio = _fitting(rows, raw["row"])[0]["ratio"]
    else:
        key = raw.get("value", "value")
        groups = [median([_number(row[key]) for row in _fitting(rows, raw[side])]) for side in ("with", "without")]
        ratio = groups[0] / groups[1]
    return Cell(raw["machine"], raw["what"], 1 / ratio if raw.get("inverse") else ratio, source)


def _measured(raw: Mapping[str, Any], device: str) -> tuple[Sequence[Mapping[str, Any]], str]:
    """(the rows of a table, or of the newest recording of an experiment on a device; where they stand)."""
    if "link" in raw:
        return (), raw["link"]
    if "table" in raw:
        with (FILE.parent / raw["table"]).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file)), raw["table"]
    name = raw["recording"]
    found = [one for one in records.recorded(name) if device and device in str(one[1].machine.get("device_name"))]
    if not found:
        raise ProjectError(f"cards.yaml: {name} has no recording on {device or 'a machine without a device'}.")
    path, record = max(found, key=lambda one: one[1].created)
    return record.rows, path.relative_to(FILE.parent).as_posix()


def _number(value: Any) -> float:
    """A number, or the median of several without the first, which warms up."""
    return median([float(one) for one in value[1:]]) if isinstance(value, list) else float(value)


def _fitting(rows: Sequence[Mapping[str, Any]], wanted: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The rows with these values. Raises ProjectError where there is none."""
    found = [row for row in rows if all(str(row.get(key)) == str(value) for key, value in wanted.items())]
    if not found:
        raise ProjectError(f"cards.yaml: nothing measured fits {dict(wanted)}.")
    return found
