"""Common claims: what they say, what is true, and which items meet them.

A claim stands in ``course/lessons/claims.yaml``; an item meets it by naming its id under ``refutes``. The page
``docs/claims.md`` is written from both.
"""

from __future__ import annotations

import re
from collections import defaultdict
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

VERDICTS = {"false": both("false", "错误"), "misleading": both("misleading", "有误导")}
_LINE = {"type": "string", "minLength": 1}
_BOTH = schema.object_of(["en", "zh"], en=_LINE, zh=_LINE)
SCHEMA = schema.object_of(
    ["id", "lesson", "verdict", "says", "truth", "source"],
    id={"type": "string", "pattern": r"^\d-\d+$", "x-such-as": "2-18"},
    lesson={"type": "string", "pattern": r"^\d\d_[a-z0-9_]+$", "x-such-as": "05_cudnn_benchmark"},
    verdict={"type": "string", "enum": list(VERDICTS)},
    says=_BOTH,
    truth=_BOTH,
    source=_LINE,
)
QUESTIONS = {lesson.id: lesson.question for lesson in LESSONS}
TITLE = both("Common claims, and what is true", "常见说法，以及真相")
INTRO = both(
    "Sentences that are often written about `torch.backends`, timing and counting work. "
    "“Met in” names the questions and experiments of the course that let you find out for yourself. "
    "Written by `python -m grader author notebooks`.",
    "关于 `torch.backends`、计时和计算量，常能读到这些说法。“在哪里验证”一栏列出课程里的题目和实验，"
    "你可以自己查明。本页由 `python -m grader author notebooks` 生成。",
)
COLUMNS = both(
    "no. | claim | verdict | what is true | met in | source", "编号 | 说法 | 判断 | 真相 | 在哪里验证 | 依据"
)
LATER, NOWHERE = both("later lesson", "后续课程"), both("not asked yet", "暂无题目")


@dataclass(frozen=True)
class Claim:
    """One claim. lesson: the id of the lesson its topic belongs to, which need not exist yet."""

    id: str
    lesson: str
    verdict: str
    says: Text
    truth: Text
    source: str

    @property
    def later(self) -> bool:
        """Whether the course has no such lesson yet."""
        return self.lesson not in QUESTIONS


def path_of(project: Project) -> Path:
    """Where the claims stand."""
    return project.learner_folder / "claims.yaml"


def page_path(project: Project) -> Path:
    """Where the generated page stands."""
    return project.root / "docs" / "claims.md"


def read(project: Project) -> tuple[list[Claim], list[Finding]]:
    """(claims in file order, a finding for each entry that is not well made).

    Raises ProjectError where the file is no list.
    """
    rows = read_yaml(path_of(project))
    if not isinstance(rows, list):
        raise ProjectError(f"{path_of(project)}: expected a list of claims, each starting with `- id:`")
    claims, faults = [], []
    for place, row in enumerate(rows, start=1):
        if found := [f"{field or 'it'} {what}" for field, what in schema.violations(row, SCHEMA)]:
            faults += [Finding("schema", f"claims.yaml, entry {place}: {one}") for one in found]
        else:
            claims.append(Claim(**row))
    ids = [claim.id for claim in claims]
    twice = sorted({one for one in ids if ids.count(one) > 1})
    faults += [Finding("id-taken", f"claims.yaml: the id {one} occurs twice") for one in twice]
    return claims, faults


def met(project: Project) -> dict[str, list[Item]]:
    """Claim id -> the practice items that refute it, in the order of the bank."""
    found: dict[str, list[Item]] = defaultdict(list)
    for item in Bank(project.learner_folder).items():
        for claim in item.refutes:
            found[claim].append(item)
    return dict(found)


def problems(project: Project) -> list[Finding]:
    """A finding for each faulty entry, each unknown id, and each false claim that an existing lesson leaves alone."""
    claims, found = read(project)
    answered, known = met(project), {claim.id for claim in claims}
    for claim in sorted(set(answered) - known):
        items = ", ".join(item.id for item in answered[claim])
        found.append(Finding("unknown-claim", f"{items}: refutes {claim}, which claims.yaml does not have"))
    found += [
        Finding(
            "claim-not-met",
            f"claim {claim.id} is false, belongs to {claim.lesson}, and no item refutes it: {claim.says['en']}",
        )
        for claim in claims
        if claim.verdict == "false" and not claim.later and claim.id not in answered
    ]
    return found


def pages(project: Project) -> dict[Path, str]:
    """``docs/claims.md`` -> its Markdown, English first, then Chinese. The same files always give the same text."""
    parts = ["[English](#english) · [中文](#中文)\n"]
    for code, heading in (("en", "English"), ("zh", "中文")):
        parts.append(f"# {heading}\n\n**{TITLE[code]}**\n\n{tables(project, code)}")
    return {page_path(project): "\n".join(parts)}


def tables(project: Project, code: str) -> str:
    """The page in one language below its title: what it is, and a table for each lesson."""
    claims, answered = read(project)[0], met(project)
    lessons = [
        (
            lesson,
            pick(QUESTIONS[lesson], code) if lesson in QUESTIONS else LATER[code],
            [_row(claim, answered.get(claim.id, []), code) for claim in claims if claim.lesson == lesson],
        )
        for lesson in sorted({claim.lesson for claim in claims})
    ]
    return render(HERE / "claims.md", code, intro=INTRO[code], columns=COLUMNS[code], lessons=lessons)


def _row(claim: Claim, items: list[Item], code: str) -> list[str]:
    named = [item.id for item in items]
    for item in items:
        named += [one.experiment for one in (item, *item.options) if one.experiment]
    where = ", ".join(f"`{one}`" for one in dict.fromkeys(named)) or (LATER if claim.later else NOWHERE)[code]
    cells = (claim.id, claim.says[code], VERDICTS[claim.verdict][code], claim.truth[code], where, _linked(claim.source))
    return [cell.replace("|", "\\|") for cell in cells]


def _linked(source: str) -> str:
    """Replace addresses by links with a short name, so that the table stays narrow."""

    def link(found: re.Match) -> str:
        name = found[0].split("#")[0].rstrip("/").rsplit("/", 1)[-1].removesuffix(".html")
        return f"[{name}]({found[0]})"

    return re.sub(r"https?://[^\s;,]+", link, source)
