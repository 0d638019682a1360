"""Common claims: what is often believed, what is true, and which practice questions meet it.

They stand in ``course/lessons/misconceptions.yaml``; a question meets one by naming its id in a wrong option. The page
``docs/claims.md`` is written from both.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from course.core.catalog import LESSONS
from course.core.i18n import Text, both, pick
from course.questions import schema
from course.questions.bank import Bank
from course.questions.finding import Finding
from course.questions.items import Item
from grader.authoring.template import render
from grader.project import Project, ProjectError, read_yaml

HERE = Path(__file__).parent

_LINE = {"type": "string", "minLength": 1}
_BOTH = schema.object_of(["en", "zh"], en=_LINE, zh=_LINE)
SCHEMA = schema.object_of(["en", "zh"], en=_LINE, zh=_LINE, truth=_BOTH, source=_LINE)
TITLE = both("Common claims, and what is true", "常见说法，以及真相")
INTRO = both(
    "Sentences that are often written about `torch.backends`, timing and counting work. "
    "“Met in” names the questions and experiments of the course that let you find out for yourself. "
    "Written by `python -m grader author notebooks`.",
    "关于 `torch.backends`、计时和计算量，常能读到这些说法。“在哪里验证”一栏列出课程里的题目和实验，"
    "你可以自己查明。本页由 `python -m grader author notebooks` 生成。",
)
COLUMNS = both("claim | what is true | met in | source", "说法 | 真相 | 在哪里验证 | 依据")


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


def page_path(project: Project) -> Path:
    """Where the generated page stands."""
    return project.root / "docs" / "claims.md"


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


def pages(project: Project) -> dict[Path, str]:
    """``docs/claims.md`` -> its Markdown, English first, then Chinese. The same files always give the same text."""
    parts = ["[English](#english) · [中文](#中文)\n"]
    for code, heading in (("en", "English"), ("zh", "中文")):
        parts.append(f"# {heading}\n\n**{TITLE[code]}**\n\n{tables(project, code)}")
    return {page_path(project): "\n".join(parts)}


def tables(project: Project, code: str) -> str:
    """The page in one language below its title: what it is, and a table for each lesson, that of the first question."""
    answered = met(project)
    claims = [claim for claim in read(project)[0] if claim.id in answered]
    lessons = [
        (lesson.id, pick(lesson.question, code), [_row(claim, answered[claim.id], code) for claim in here])
        for lesson in LESSONS
        if (here := [claim for claim in claims if answered[claim.id][0].lesson == lesson.id])
    ]
    return render(HERE / "claims.md", code, intro=INTRO[code], columns=COLUMNS[code], lessons=lessons)


def _row(claim: Claim, items: list[Item], code: str) -> list[str]:
    named = [item.id for item in items]
    for item in items:
        named += [one.experiment for one in (item, *item.options) if one.experiment]
    where = ", ".join(f"`{one}`" for one in dict.fromkeys(named))
    cells = (pick(claim.says, code), pick(claim.truth, code), where, _linked(claim.source))
    return [cell.replace("|", "\\|") for cell in cells]


def _linked(source: str) -> str:
    """Replace addresses by links with a short name, so that the table stays narrow."""

    def link(found: re.Match) -> str:
        name = found[0].split("#")[0].rstrip("/").rsplit("/", 1)[-1].removesuffix(".html")
        return f"[{name}]({found[0]})"

    return re.sub(r"https?://[^\s;,]+", link, source)
