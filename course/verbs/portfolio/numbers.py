"""The learner's own measurements as sentences, and what is not measured yet."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from course.core.i18n import pick, t
from course.core.machine import can
from course.core.records import Record, own
from course.experiment import base
from course.experiment.result import outcome


@dataclass(frozen=True)
class Number:
    """One experiment. sentence: its headline, from the learner's own record, with machine and date in where; "" while not measured."""

    experiment: str
    sentence: str = ""
    where: str = ""


@dataclass(frozen=True)
class Numbers:
    """measured: the learner's own. open: names of those this machine could run. elsewhere: of those it could not."""

    measured: tuple[Number, ...]
    open: tuple[str, ...]
    elsewhere: tuple[str, ...]


def when_and_where(record: Record) -> str:
    """Date, machine and torch of a measurement the learner made."""
    device, date, version = record.machine_name, record.created[:10], record.machine.get("torch", "?")
    return t(f"{date}, {device}, torch {version}", f"{date}，{device}，torch {version}")


def numbers(lessons: Collection[str]) -> Numbers:
    """Every experiment of these lessons, in the order of their names."""
    measured, open_, elsewhere = [], [], []
    for name, experiment in base.load_all().items():
        if experiment.lesson not in lessons:
            continue
        record = own(name, experiment.version)
        if record is not None:
            measured.append(Number(name, pick(outcome(record, experiment).headline), when_and_where(record)))
        else:
            (open_ if can(experiment.needs) else elsewhere).append(name)
    return Numbers(tuple(measured), tuple(open_), tuple(elsewhere))
