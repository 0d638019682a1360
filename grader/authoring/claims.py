"""Common claims: what is often believed, what is true, and which practice questions meet it.

They stand in ``course/lessons/misconceptions.yaml``; a question meets one by naming its id in a wrong option. The page
``docs/claims.md`` is written from both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from course.core.i18n import Text
from course.questions import schema
from course.questions.bank import Bank
from course.questions.finding import Finding
from course.questions.items import Item
from grader.project import Project, ProjectError, read_yaml

_LINE = {"type": "string", "minLength": 1}
_BOTH = schema.object_of(["en", "zh"], en=_LINE, zh=_LINE)
SCHEMA = schema.object_of(["en", "zh"], en=_LINE, zh=_LINE, truth=_BOTH, source=_LINE)


@dataclass(frozen=True)
class Claim:
    """One claim. says: the false belief."""

    id: str
    says: Text
    truth: Text
    source: str


def path_of(project: Project) -> Path:
    """Where the claims stand."""
    return project.learner_folder / "misconceptions.yaml"


def read(project: Project) -> tuple[list[Claim], list[Finding]]:
    """(the beliefs of which the file says what is true, in file order; a finding for each entry that is not well made).

    Raises ProjectError where the file is no mapping.
    """
    rows = read_yaml(path_of(project))
    if not isinstance(rows, Mapping):
        raise ProjectError(f"{path_of(project)}: expected an entry `id:` for each belief")
    claims, faults = [], []
    for identity, row in rows.items():
        found = [f"{field or 'it'} {what}" for field, what in schema.violations(row, SCHEMA)]
        if not found and ("truth" in row) != ("source" in row):
            found = ["truth and source go together: write both or neither"]
        faults += [Finding("schema", f"misconceptions.yaml, {identity}: {one}") for one in found]
        if not found and "truth" in row:
            claims.append(Claim(identity, {"en": row["en"], "zh": row["zh"]}, row["truth"], row["source"]))
    return claims, faults


def met(project: Project) -> dict[str, list[Item]]:
    """Id -> the practice questions that name it, in the order of the bank."""
    found: dict[str, list[Item]] = defaultdict(list)
    for item in Bank(project.learner_folder).items():
        traps = item.number.traps if item.number else ()
        for one in dict.fromkeys(part.misconception for part in (*item.options, *traps) if part.misconception):
            found[one].append(item)
    return dict(found)


def problems(project: Project) -> list[Finding]:
    """A finding for each faulty entry, and for each claim that no practice question meets."""
    claims, found = read(project)
    answered = met(project)
    return found + [
        Finding("claim-not-met", f"claim {claim.id}: no practice question names it")
        for claim in claims
        if claim.id not in answered
    ]
