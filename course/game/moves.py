"""The moves of a game, kept as lines of the answer log: append only, merged and exported with all the rest.

A ``move`` entry: ``item`` is the case, ``options`` hold the kind and the choice, ``confidence`` how sure, ``record`` what was
measured, as JSON, ``because`` what was written. Everything else (state, points, rank) is computed from the moves.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from course.game.cases import Case
from course.learning.entry import Entry, now
from course.learning.log import AnswerLog

AGAIN = "again"
"""The move that opens a new attempt."""
LONGEST_TEXT = 2000


@dataclass(frozen=True)
class Move:
    """One move. kind: what was done, such as run, hand-in, hint, cause, letter. choice: what was chosen, as words without
    spaces. confidence: 1 a guess, 2 fairly sure, 3 certain. evidence: what was measured, and where it comes from. text: what
    was written. when: the time in the log.
    """

    kind: str
    choice: tuple[str, ...] = ()
    confidence: int | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    when: datetime = field(default_factory=now, compare=False)


def write(
    log: AnswerLog,
    case: Case,
    kind: str,
    choice: Sequence[str] = (),
    confidence: int | None = None,
    evidence: Mapping[str, Any] | None = None,
    text: str = "",
) -> Move:
    """Append one move to the log, and give it back. Never raises for a full disk (``log.take_notices``)."""
    text = text.strip()[:LONGEST_TEXT]
    record = json.dumps(evidence, ensure_ascii=False, allow_nan=False) if evidence else None
    log.append(
        "move", case.id, options=(kind, *choice), confidence=confidence, record=record, because=text, lesson=case.lesson
    )
    return Move(kind, tuple(choice), confidence, dict(evidence or {}), text)


def attempts(case_id: str, entries: Iterable[Entry], closed: Callable[[list[Move]], bool]) -> list[list[Move]]:
    """The moves on a case, a list for each attempt, oldest first; at least one list, which may be empty. A line whose
    evidence cannot be read counts as a move without. A new attempt begins only after one that is closed: what is given up
    before belongs to it.
    """
    found: list[list[Move]] = [[]]
    for entry in entries:
        if entry.event != "move" or entry.item != case_id or not entry.options:
            continue
        kind, *choice = entry.options
        if kind == AGAIN:
            if closed(found[-1]):
                found.append([])
            continue
        evidence, text = _evidence(entry.record), entry.because or ""
        found[-1].append(Move(kind, tuple(choice), entry.confidence, evidence, text, entry.when))
    return found


def _evidence(record: str | None) -> dict[str, Any]:
    try:
        found = json.loads(record or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
