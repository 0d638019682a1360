"""The page of all questions: each with its texts in both languages, where it is used, its key if asked for, and what is to be mended."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

from markupsafe import Markup

from course.core.files import replace_file
from course.core.i18n import LANGUAGES, Text, both, pick
from course.core.markup import code_block, inline, paragraphs
from course.questions.bank import Bank
from course.questions.finding import Finding
from course.questions.item_lint import lint_items, lint_lesson
from course.questions.items import BankError, Item, every, with_key
from grader import project as files
from grader.authoring.ids import used_ids
from grader.authoring.template import render
from grader.project import Project, ProjectError
from grader.project.source import read

HERE = Path(__file__).parent
CSS = HERE / "items.css"
WORDS = {
    "title": both("All questions", "全部题目"),
    "warning": both("For instructors: this page holds the keys of the checkpoints.", "仅供教师：本页含有测验的答案。"),
    "find": both("Find", "查找"),
    "practice": both("Practice", "练习题"),
    "checkpoints": both("Checkpoints", "测验"),
    "used": both("Used in", "用在"),
    "key": both("Key", "答案"),
    "source": both("Source", "依据"),
    "beliefs": both("Misconceptions", "误解"),
}


def write_page(project: Project, to: Path, keys: bool = False, language: str = "en") -> str:
    """Write the page and return a sentence about it. Raises ProjectError where it cannot be written."""
    found = listing(project, keys)
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        replace_file(to, page(found, language).encode())
    except OSError as error:
        raise ProjectError(f"{to}: cannot be written ({error.strerror}); choose another place with --to") from None
    practice, graded = (len(found[name]) for name in ("practice", "checkpoints"))
    warning = "; it holds the checkpoint keys, keep it from learners" if keys else ""
    return f"wrote {to}: {practice} practice and {graded} checkpoint questions{warning}"


def listing(project: Project, keys: bool = False) -> dict[str, Any]:
    """The bank as data: "practice" and "checkpoints" (rows of ``item``, ``used``, ``faults``), "faults" of whole files, "beliefs"
    (id -> statement), "tempted" (id -> questions with it as a wrong option). Without ``keys`` no keys.yaml is opened.
    """
    bank = Bank(project.learner_folder)
    beliefs, used, faults = bank.misconceptions(), _used(project), [Finding("schema", one) for one in bank.faults()]
    practice, drawn = bank.items(), [(place, item) for place in bank.items(checkpoint=True) for item in every(place)]
    graded = [_keyed(project, item, faults) if keys else item for _, item in drawn]
    used |= {item.id: used[place.id] for place, item in drawn if item.id not in used}
    for group, checkpoint in ((practice, False), (graded, True)):
        for lesson in dict.fromkeys(item.lesson for item in group):
            faults += lint_lesson(lesson, [item for item in group if item.lesson == lesson], checkpoint)

    def row(item: Item) -> dict[str, Any]:
        found = [one.removeprefix(f"{item.id}: ") for one in lint_items([item], beliefs)]
        return {"item": item, "used": used[item.id], "faults": found}

    tempted: dict[str, list[str]] = {one: [] for one in beliefs}
    for item in (*practice, *graded):
        traps = item.number.traps if item.number else ()
        for one in {one.misconception for one in (*item.options, *traps)} - {None}:
            tempted.setdefault(one, []).append(item.id)
    rows = {"practice": [row(item) for item in practice], "checkpoints": [row(item) for item in graded]}
    return {**rows, "faults": faults, "beliefs": beliefs, "tempted": tempted, "keys": keys}


def _keyed(project: Project, item: Item, faults: list[Finding]) -> Item:
    key = files.keys(project, item.lesson).get(item.id)
    if key is None:
        faults.append(Finding("key-missing", f"{item.id}: has no key in grader/lessons/l{item.lesson}/keys.yaml."))
        return item
    try:
        return with_key(item, key)
    except BankError as error:
        faults += [Finding("schema", fault) for fault in str(error).split("\n")]
        return item


def _used(project: Project) -> defaultdict[str, list[str]]:
    """Item id -> the notebook sources that name it."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    sources = {lesson: project.lesson_source(lesson) for lesson in project.lessons()}
    sources |= {f"{lesson}.checkpoint": project.checkpoint_source(lesson) for lesson in project.checkpoints()}
    for name, path in sorted(sources.items()):
        for cell in read(path):
            for kind, identity, _ in used_ids(cell):
                if "item" in kind and name not in found[identity]:
                    found[identity].append(name)
    return found


def page(found: dict[str, Any], language: str) -> str:
    """The page as one file without outside parts."""

    def two(text: Text) -> Markup:
        """A text in both languages side by side."""
        if isinstance(text, str):
            return Markup(f"<div>{inline(text)}</div>")
        sides = "".join(f'<div lang="{code}">{paragraphs(text[code])}</div>' for code in LANGUAGES)
        return Markup(f'<div class="two">{sides}</div>')

    return render(
        HERE / "items.html",
        language,
        (CSS,),
        **found,
        words={name: pick(text, language) for name, text in WORDS.items()},
        two=two,
        line=lambda text: Markup(inline(pick(text, language).strip().split("\n")[0])),
        code=lambda text: Markup(code_block(pick(text, language))),
    )
