"""A case as data: who comes, what hurts, what was advised, what counts, and what is said when it is over.

Read from ``cases.yaml`` of the lessons' folders. Texts stand in both languages (``{en, zh}``).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from course.core.catalog import LESSONS, lesson_folder
from course.core.i18n import Text, both, t
from course.core.records import nearest
from course.core.suggest import did_you_mean, no_longer
from course.questions.bank import read_yaml
from course.questions.items import Item, Option

FILE = "cases.yaml"
EVIDENCE: dict[str, Text] = {
    "live": both("🔬 measured live, on this machine", "🔬 现场实测，就在这台机器上"),
    "recording": both("📼 a recording from another machine, replayed", "📼 回放：另一台机器上录好的结果"),
    "report": both("📰 reported by others, not measured by us", "📰 别人公布的结果，不是我们测的"),
    "rule": both("📖 decided by a rule with a source, not measured here", "📖 按有出处的规则判定，这里没有实测"),
}
"""Where the outcome of a case comes from, and how it is said."""


def origin_said(case: Case) -> Text:
    """An entry of EVIDENCE. Where COURSE_REPLAY=1 has recordings shown in place of runs, a case that has one is a recording."""
    replayed = os.environ.get("COURSE_REPLAY") == "1" and is_recorded(case)
    return EVIDENCE["recording" if replayed else case.evidence]


def is_recorded(case: Case) -> bool:
    """Whether there is a recording of what a live case measures."""
    return case.evidence == "live" and nearest(case.id, {}) is not None


class CaseError(LookupError):
    """A case that does not exist; the message, in the language in use, says what to do instead."""

    def __init__(self, en: str, zh: str) -> None:
        super().__init__(t(en, zh))


@dataclass(frozen=True)
class Quote:
    """The usual advice, word for word or retold. by: whose advice. source: where it stands, "" for folklore nobody signed."""

    text: Text
    by: Text
    source: str = ""


@dataclass(frozen=True)
class Debrief:
    """What is said when the case is closed. why: the cause in two or three sentences. trap: the name of the trap. holds: where the
    advice is right. card: a knowledge card, experiment: one that shows the cause; "" where there is none.
    """

    why: Text
    trap: Text
    holds: Text
    card: str = ""
    experiment: str = ""


@dataclass(frozen=True)
class Letter:
    """What a sceptical colleague says, and one good reply (model); the learner answers aloud first."""

    says: Text
    model: Text


@dataclass(frozen=True)
class Case:
    """One case. client: who comes. ticket: what they say, at most 60 words. code: what runs today, at most 10 lines. wants: what
    counts, in one line. evidence: a key of EVIDENCE. sources: where the truth stands. twin: a case with the same code in another
    regime. letter: where the game asks for a reply. tutorial: played first, with more words. play: what its own game understands.
    comments: comments in its code and scripts, English -> Chinese.
    """

    id: str
    lesson: str
    icon: str
    title: Text
    client: Text
    ticket: Text
    wants: Text
    evidence: str
    sources: tuple[Text, ...]
    hints: tuple[Text, ...]
    cause: Item
    debrief: Debrief
    letter: Letter | None = None
    code: str = ""
    quote: Quote | None = None
    twin: str = ""
    tutorial: bool = False
    play: Mapping[str, Any] = field(default_factory=dict)
    comments: Mapping[str, str] = field(default_factory=dict)

    def commented(self, script: str) -> Text:
        """A script with its comments in both languages."""
        chinese = script
        for english, said in self.comments.items():
            chinese = chinese.replace(f"# {english}", f"# {said}")
        return both(script, chinese)

    @property
    def right(self) -> Option:
        """The right answer about the cause."""
        return next(one for one in self.cause.options if one.correct)

    @property
    def call(self) -> str:
        """How it is asked for by typing."""
        return f'case("{self.id.partition("-")[2]}")'


def cases(lesson: str | None = None) -> dict[str, Case]:
    """The cases of one lesson, or of all, by id, in file order. Raises BankError where a file is no YAML, ValueError where a
    case lacks something or has something unknown.
    """
    found: dict[str, Case] = {}
    for one in LESSONS:
        if lesson in (None, one.id):
            found |= {case.id: case for case in _of_file(lesson_folder(one.id) / FILE)}
    return found


def find(name: str) -> Case:
    """The case called ``10-voice``, or ``voice`` for short. Raises CaseError with the nearest name."""
    known = cases()
    short = [case for case in known.values() if case.id.partition("-")[2] == name]
    if name in known or len(short) == 1:
        return known.get(name) or short[0]
    for gone in filter(None, map(no_longer, (name, f"10-{name}", f"11-{name}"))):
        raise CaseError(gone, gone)
    near = did_you_mean(name, [*known, *(one.partition("-")[2] for one in known)], cutoff=0.5)
    raise CaseError(
        f"There is no case `{name}`.{near} `board()` lists them all.",
        f"没有 `{name}` 这个名字。{near}用 `board()` 看全部。",
    )


def _of_file(path: Path) -> tuple[Case, ...]:
    return _read(path, path.stat().st_mtime_ns) if path.exists() else ()


@lru_cache(maxsize=32)
def _read(path: Path, stamp: int) -> tuple[Case, ...]:
    """The cases of a file; stamp (modification time, ns) makes an edited file be read again."""
    found = []
    for raw in read_yaml(path) or ():
        where = f"{path.parent.name}/{path.name}, case {raw.get('id') if isinstance(raw, dict) else raw}"
        raw = {**raw, "lesson": path.parent.name.removeprefix("l")} if isinstance(raw, dict) else raw
        try:
            found.append(_case(raw))
        except (KeyError, TypeError) as error:
            raise ValueError(f"{where}: {error}") from error
    return tuple(found)


def _case(raw: dict[str, Any]) -> Case:
    cause, quote = raw["cause"], raw.get("quote")
    answers = tuple(Option(one["id"], one["text"], one.get("right", False), one["why"]) for one in cause["answers"])
    return Case(
        **{
            **raw,
            "sources": tuple(raw["sources"]),
            "hints": tuple(raw["hints"]),
            "cause": Item(f"{raw['id']}-cause", raw["lesson"], "cause", "single", cause["stem"], answers),
            "debrief": Debrief(**raw["debrief"]),
            "letter": Letter(**raw["letter"]) if "letter" in raw else None,
            "quote": Quote(**quote) if quote else None,
        }
    )
