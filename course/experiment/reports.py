"""Field reports: what somebody else published about an experiment that this machine cannot run and nobody recorded.

They stand in ``reports.yaml`` of each lesson's folder and are never mixed with records: another machine, another
code, seldom all conditions. A recording, once made, stands before them. Nothing here imports torch or matplotlib.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from course.core.catalog import LESSONS, lesson_folder, lesson_of
from course.core.i18n import Text
from course.questions.bank import read_yaml


@dataclass(frozen=True)
class Answer:
    """The option of a bet that report and source name, and why. Nobody has measured it so: the bet stays open."""

    option: str
    why: Text


@dataclass(frozen=True)
class Report:
    """What somebody published. what: their result in our words. machine: as stated there. date: published, ISO 8601, as exact as
    known. link: the page itself. does_not_show: its limit. answers: bet -> Answer.
    """

    id: str
    experiments: tuple[str, ...]
    what: Text
    machine: Text
    date: str
    link: str
    does_not_show: Text
    answers: Mapping[str, Answer]

    def evidence(self) -> str:
        """What the answer log keeps of it: `report <id> <link>`."""
        return f"report {self.id} {self.link}"


def reports() -> tuple[Report, ...]:
    """All field reports of the course."""
    return tuple(report for lesson in LESSONS for report in read(lesson_folder(lesson.id))[0])


def about(experiment: str) -> tuple[Report, ...]:
    """The reports on one experiment, as written."""
    return tuple(one for one in read(lesson_folder(lesson_of(experiment)))[0] if experiment in one.experiments)


def headline(experiment: str) -> Text:
    """What the reports on an experiment come to, in one sentence; "" where its lesson does not say it."""
    return read(lesson_folder(lesson_of(experiment)))[1].get(experiment, "")


def verdicts(experiment: str) -> dict[str, tuple[Report, Answer]]:
    """bet -> (report, answer) for the bets on an experiment."""
    return {bet: (report, answer) for report in about(experiment) for bet, answer in report.answers.items()}


@lru_cache(maxsize=64)
def read(folder: Path) -> tuple[tuple[Report, ...], dict[str, Text]]:
    """The reports of a lesson, and by experiment the headline; none where its folder has no file. Raises BankError for bad YAML,
    TypeError for a field that is missing or unknown.
    """
    path = folder / "reports.yaml"
    raw = read_yaml(path) if path.exists() else []
    found = []
    for one in (one for one in raw if "id" in one):
        answers = {bet: Answer(**answer) for bet, answer in one.get("answers", {}).items()}
        found.append(Report(**one | {"experiments": tuple(one["experiments"]), "answers": answers}))
    return tuple(found), {one["experiment"]: one["headline"] for one in raw if "id" not in one}
