"""Field reports: what somebody else published about an experiment that this machine cannot run and nobody recorded.

They stand in ``reports.yaml`` of each lesson's folder and are never mixed with records: another machine, another
code, seldom all conditions. A recording, once made, stands before them. Nothing here imports torch or matplotlib;
PyYAML is imported when a report is read, so that recording works without it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from course.core.catalog import LESSONS, lesson_folder
from course.core.i18n import LANGUAGES, Text

FIELDS = {"id", "experiments", "what", "machine", "date", "link", "does_not_show"}


class ReportError(ValueError):
    """A report that does not fit; the text names file, report and field."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


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
    """All field reports of the course. Raises ReportError for a file that does not fit."""
    found = tuple(report for lesson in LESSONS for report in read(lesson_folder(lesson.id) / "reports.yaml")[0])
    twice = {one.id for one in found if sum(other.id == one.id for other in found) > 1}
    if twice:
        raise ReportError(f"Two reports are called {', '.join(sorted(twice))}; give each its own id.")
    return found


def about(experiment: str) -> tuple[Report, ...]:
    """The reports on one experiment, as written."""
    return tuple(one for one in reports() if experiment in one.experiments)


def headline(experiment: str) -> Text:
    """What the reports on an experiment come to, in one sentence; "" where its lesson does not say it."""
    found = (read(lesson_folder(lesson.id) / "reports.yaml")[1].get(experiment, "") for lesson in LESSONS)
    return next(filter(None, found), "")


def verdicts(experiment: str) -> dict[str, tuple[Report, Answer]]:
    """bet -> (report, answer) for the bets on an experiment."""
    return {bet: (report, answer) for report in about(experiment) for bet, answer in report.answers.items()}


def read(path: Path) -> tuple[tuple[Report, ...], dict[str, Text]]:
    """The reports of one file, and by experiment the headline; none where there is no file."""
    if not path.exists():
        return (), {}
    return _read(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _read(path: Path, stamp: int) -> tuple[tuple[Report, ...], dict[str, Text]]:
    import yaml

    name = f"{path.parent.name}/{path.name}"
    try:
        raw = yaml.load(path.read_text("utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ReportError(f"{name}: cannot be read as YAML: {error}") from None
    if not isinstance(raw, list):
        raise ReportError(f"{name}: must be a list of reports, each starting with `- id:`.")
    headlines, found = {}, []
    for one in raw:
        if isinstance(one, dict) and set(one) == {"experiment", "headline"}:
            headlines[one["experiment"]] = _text(one["headline"], f"{name}, headline of {one['experiment']}")
        else:
            found.append(_parsed(one, name))
    return tuple(found), headlines


def _parsed(raw: Any, name: str) -> Report:
    """A Report out of plain data. Raises ReportError."""
    if not isinstance(raw, dict):
        raise ReportError(f"{name}: a report is a mapping of fields, not {type(raw).__name__}.")
    where = f"{name}, report {raw.get('id', '?')}"
    if missing := sorted(FIELDS - set(raw)):
        raise ReportError(f"{where}: lacks {', '.join(missing)}.")
    if unknown := sorted(set(raw) - FIELDS - {"answers"}):
        raise ReportError(f"{where}: unknown fields {', '.join(unknown)}.")
    if not re.fullmatch(r"https://\S+", str(raw["link"])):
        raise ReportError(f"{where}, field link: must be an https address.")
    if not re.fullmatch(r"\d{4}(-\d{2}(-\d{2})?)?", str(raw["date"])):
        raise ReportError(f'{where}, field date: must read "2024", "2024-05" or "2024-05-01", in quotes.')
    named = raw["experiments"]
    if not named or not isinstance(named, list) or not all(isinstance(one, str) for one in named):
        raise ReportError(f"{where}, field experiments: must be a list of names.")
    texts = {key: _text(raw[key], f"{where}, field {key}") for key in ("what", "machine", "does_not_show")}
    return Report(
        id=str(raw["id"]),
        experiments=tuple(named),
        date=str(raw["date"]),
        link=raw["link"],
        answers=_answers(raw.get("answers"), f"{where}, field answers"),
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


def _answers(raw: Any, where: str) -> dict[str, Answer]:
    if not isinstance(raw or {}, dict):
        raise ReportError(f"{where}: must map a bet to option and why.")
    found = {}
    for bet, one in (raw or {}).items():
        if not isinstance(one, dict) or set(one) != {"option", "why"}:
            raise ReportError(f"{where}: {bet} must have option and why.")
        found[bet] = Answer(str(one["option"]), _text(one["why"], where))
    return found
