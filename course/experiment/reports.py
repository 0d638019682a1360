"""Field reports: what somebody else published about an experiment that this machine cannot run and nobody recorded.

They stand in ``reports.yaml`` of each lesson's folder and are never mixed with records: another machine, another
code, seldom all conditions. A recording, once made, stands before them. Nothing here imports torch or matplotlib;
PyYAML is imported when a report is read, so that recording works without it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from course.core.catalog import LESSONS, lesson_folder
from course.core.i18n import LANGUAGES, Text, both

STRENGTHS = {
    "documented": both("stated by the makers in their documentation or source", "开发方在文档或源码里的说明"),
    "controlled": both("a controlled comparison", "有对照的比较"),
    "plausible": both("plausible, part of the conditions is missing", "可信，但条件交代不全"),
    "anecdote": both("one user's observation, without a control", "一位用户的观察，没有对照"),
}
"""How much a report can carry, strongest first."""
FIELDS = {
    "id",
    "experiments",
    "what",
    "figures",
    "machine",
    "versions",
    "date",
    "link",
    "strength",
    "shows",
    "does_not_show",
}
MAY = {"answers", "settles"}


class ReportError(ValueError):
    """A report that does not fit; the text names file, report and field."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


@dataclass(frozen=True)
class Figure:
    """One published number. name: what was measured. group: the column of the picture it belongs to, if any."""

    name: Text
    value: float
    unit: str
    group: Text = ""


@dataclass(frozen=True)
class Answer:
    """The option of a bet that a report names, and why."""

    option: str
    why: Text


@dataclass(frozen=True)
class Report:
    """What somebody published. what: their result in our words. figures: their numbers, as given there.

    machine, versions: as stated there. date: published, ISO 8601, as exact as known. link: the page itself.
    strength: one of STRENGTHS. shows, does_not_show: how far it carries. settles: bet -> Answer where the report
    decides the bet; answers: where report and source name an option that nobody has measured so.
    """

    id: str
    experiments: tuple[str, ...]
    what: Text
    figures: tuple[Figure, ...]
    machine: Text
    versions: Text
    date: str
    link: str
    strength: str
    shows: Text
    does_not_show: Text
    answers: Mapping[str, Answer]
    settles: Mapping[str, Answer]

    def evidence(self) -> str:
        """What the answer log keeps of it: `report <id> <link>`."""
        return f"report {self.id} {self.link}"


@dataclass(frozen=True)
class Summary:
    """What the reports on one experiment come to. headline: the answer in one sentence. caution: what to read it with.

    groups: the names of the columns of the picture, where figures name one; () for a picture of a figure a row.
    picture: the id of the one report to draw, "" to draw none; None leaves the choice to the strength.
    """

    experiment: str
    headline: Text
    caution: Text
    groups: tuple[Text, ...] = ()
    picture: str | None = None

    def drawn(self, found: tuple[Report, ...]) -> tuple[Report, ...]:
        """Those of the reports that are drawn."""
        return tuple(one for one in found if self.picture in (None, one.id))


def reports() -> tuple[Report, ...]:
    """All field reports of the course. Raises ReportError for a file that does not fit."""
    found = tuple(report for lesson in LESSONS for report in read(lesson_folder(lesson.id) / "reports.yaml")[0])
    twice = {one.id for one in found if sum(other.id == one.id for other in found) > 1}
    if twice:
        raise ReportError(f"Two reports are called {', '.join(sorted(twice))}; give each its own id.")
    return found


def about(experiment: str) -> tuple[Report, ...]:
    """The reports on one experiment, the strongest first, otherwise as written."""
    order = list(STRENGTHS)
    return tuple(
        sorted((one for one in reports() if experiment in one.experiments), key=lambda one: order.index(one.strength))
    )


def summary(experiment: str) -> Summary | None:
    """What the reports on an experiment come to, or None where its lesson has not said it yet."""
    found = (read(lesson_folder(lesson.id) / "reports.yaml")[1].get(experiment) for lesson in LESSONS)
    return next(filter(None, found), None)


def verdicts(experiment: str) -> dict[str, tuple[Report, Answer, bool]]:
    """bet -> (report, answer, whether it settles the bet) for the bets on an experiment; what settles comes first."""
    found: dict[str, tuple[Report, Answer, bool]] = {}
    for settled in (True, False):
        for report in about(experiment):
            for bet, answer in (report.settles if settled else report.answers).items():
                found.setdefault(bet, (report, answer, settled))
    return found


def read(path: Path) -> tuple[tuple[Report, ...], dict[str, Summary]]:
    """The reports of one file, and by experiment what they come to; none where there is no file."""
    if not path.exists():
        return (), {}
    return _read(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _read(path: Path, stamp: int) -> tuple[tuple[Report, ...], dict[str, Summary]]:
    import yaml

    name = f"{path.parent.name}/{path.name}"
    try:
        raw = yaml.load(path.read_text("utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ReportError(f"{name}: cannot be read as YAML: {error}") from None
    if not isinstance(raw, list):
        raise ReportError(f"{name}: must be a list of reports, each starting with `- id:`.")
    groups: dict[str, Text] = {}
    summaries = {}
    for one in raw:
        if isinstance(one, dict) and "experiment" in one:
            summaries[one["experiment"]] = _summary(one, name, groups)
    found = [one for one in raw if not (isinstance(one, dict) and "experiment" in one)]
    return tuple(_parsed(one, name, groups) for one in found), summaries


def _summary(raw: dict[str, Any], name: str, groups: dict[str, Text]) -> Summary:
    """A Summary out of plain data; its groups are added to ``groups``, key -> name. Raises ReportError."""
    where = f"{name}, experiment {raw['experiment']}"
    if missing := sorted({"headline", "caution"} - set(raw)):
        raise ReportError(f"{where}: lacks {', '.join(missing)}.")
    if unknown := sorted(set(raw) - {"experiment", "headline", "caution", "groups", "picture"}):
        raise ReportError(f"{where}: unknown fields {', '.join(unknown)}.")
    mine = {key: _text(one, f"{where}, field groups") for key, one in (raw.get("groups") or {}).items()}
    groups |= mine
    texts = {key: _text(raw[key], f"{where}, field {key}") for key in ("headline", "caution")}
    return Summary(raw["experiment"], groups=tuple(mine.values()), picture=raw.get("picture"), **texts)


def _parsed(raw: Any, name: str, groups: Mapping[str, Text]) -> Report:
    """A Report out of plain data. Raises ReportError."""
    if not isinstance(raw, dict):
        raise ReportError(f"{name}: a report is a mapping of fields, not {type(raw).__name__}.")
    where = f"{name}, report {raw.get('id', '?')}"
    if missing := sorted(FIELDS - set(raw)):
        raise ReportError(f"{where}: lacks {', '.join(missing)}.")
    if unknown := sorted(set(raw) - FIELDS - MAY):
        raise ReportError(f"{where}: unknown fields {', '.join(unknown)}.")
    if raw["strength"] not in STRENGTHS:
        raise ReportError(f"{where}, field strength: must be one of {', '.join(STRENGTHS)}, not {raw['strength']!r}.")
    if not re.fullmatch(r"https://\S+", str(raw["link"])):
        raise ReportError(f"{where}, field link: must be an https address.")
    if not re.fullmatch(r"\d{4}(-\d{2}(-\d{2})?)?", str(raw["date"])):
        raise ReportError(f'{where}, field date: must read "2024", "2024-05" or "2024-05-01", in quotes.')
    named = raw["experiments"]
    if not named or not isinstance(named, list) or not all(isinstance(one, str) for one in named):
        raise ReportError(f"{where}, field experiments: must be a list of names.")
    texts = {
        key: _text(raw[key], f"{where}, field {key}")
        for key in ("what", "machine", "versions", "shows", "does_not_show")
    }
    return Report(
        id=str(raw["id"]),
        experiments=tuple(named),
        date=str(raw["date"]),
        link=raw["link"],
        strength=raw["strength"],
        figures=tuple(_figures(raw["figures"], where, groups)),
        answers=_answers(raw.get("answers"), f"{where}, field answers"),
        settles=_answers(raw.get("settles"), f"{where}, field settles"),
        **texts,
    )


def _text(raw: Any, where: str) -> Text:
    """A text in both languages; a plain string is the same in both."""
    if isinstance(raw, str) and raw.strip():
        return raw
    if (
        isinstance(raw, dict)
        and set(raw) == set(LANGUAGES)
        and all(isinstance(raw[c], str) and raw[c].strip() for c in LANGUAGES)
    ):
        return raw
    raise ReportError(f"{where}: must be a text, or {{en: ..., zh: ...}} with a text for each.")


def _figures(raw: Any, where: str, groups: Mapping[str, Text]) -> Iterator[Figure]:
    if not isinstance(raw, list):
        raise ReportError(f"{where}, field figures: must be a list, empty where nothing was counted.")
    for one in raw:
        named = set(one) - {"group"} if isinstance(one, dict) else set()
        if named != {"name", "value", "unit"} or not isinstance(one["unit"], str):
            raise ReportError(f"{where}, field figures: each has name, value and unit, and {one} has not.")
        if (
            isinstance(one["value"], bool)
            or not isinstance(one["value"], (int, float))
            or not math.isfinite(one["value"])
        ):
            raise ReportError(f"{where}, field figures: {one['value']!r} is no number.")
        group = one.get("group", "")
        if group and group not in groups:
            raise ReportError(f"{where}, field figures: no summary of this file has a group {group!r}.")
        name = _text(one["name"], f"{where}, field figures")
        yield Figure(name, float(one["value"]), one["unit"], groups.get(group, ""))


def _answers(raw: Any, where: str) -> dict[str, Answer]:
    if not isinstance(raw or {}, dict):
        raise ReportError(f"{where}: must map a bet to option and why.")
    found = {}
    for bet, one in (raw or {}).items():
        if not isinstance(one, dict) or set(one) != {"option", "why"}:
            raise ReportError(f"{where}: {bet} must have option and why.")
        found[bet] = Answer(str(one["option"]), _text(one["why"], where))
    return found
