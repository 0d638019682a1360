"""The learner's own measurements as sentences, and what is not measured yet."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from course.experiment import base
from course.figures.show import show
from course.i18n import t
from course.machine import can
from course.records import own


@dataclass(frozen=True)
class Number:
    """One experiment. sentence: its finding, from the learner's own record, with machine and date in where; "" while not measured."""

    experiment: str
    sentence: str = ""
    where: str = ""


@dataclass(frozen=True)
class Numbers:
    """measured: the learner's own. open: names of those this machine could run. elsewhere: of those it could not."""

    measured: tuple[Number, ...]
    open: tuple[str, ...]
    elsewhere: tuple[str, ...]


def numbers(lessons: Collection[str]) -> Numbers:
    """Every experiment of these lessons, in the order of their names."""
    measured, open_, elsewhere = [], [], []
    for name, experiment in base.load_all().items():
        if experiment.lesson not in lessons:
            continue
        record = own(name, experiment.version)
        if record is not None:
            device = record.machine.get("device_name") or record.machine.get("device") or "?"
            where = t(
                f"{record.created[:10]}, {device}, torch {record.machine.get('torch', '?')}",
                f"{record.created[:10]}，{device}，torch {record.machine.get('torch', '?')}",
            )
            measured.append(Number(name, show(record, experiment).sentence, where))
        else:
            (open_ if can(experiment.needs) else elsewhere).append(name)
    return Numbers(tuple(measured), tuple(open_), tuple(elsewhere))
