"""Every question of the bank as data for a page: where it is used, which false beliefs its options have, its faults."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from course.i18n import Text
from course.questions.advice import advice, positions
from course.questions.bank import Bank
from course.questions.finding import Finding
from course.questions.item_lint import lint_items, lint_lesson
from course.questions.items import BankError, Item, every, with_key
from grader import project as files
from grader.authoring.ids import used_ids
from grader.project import Project
from grader.source import read


@dataclass(frozen=True)
class Row:
    """One question. used: the notebooks that name it, such as "05_cudnn_benchmark"; faults: what must be mended; hints: what
    the author may want to change. The item has a key if it is a practice item or keys were asked for.
    """

    item: Item
    used: tuple[str, ...]
    faults: tuple[str, ...]
    hints: tuple[str, ...]

    @property
    def beliefs(self) -> tuple[str, ...]:
        """The misconceptions its wrong options and traps stand for."""
        traps = self.item.number.traps if self.item.number else ()
        return tuple(dict.fromkeys(o.misconception for o in (*self.item.options, *traps) if o.misconception))


@dataclass(frozen=True)
class Listing:
    """The whole bank. faults: those of whole files and lessons. beliefs: id -> statement."""

    practice: tuple[Row, ...]
    checkpoints: tuple[Row, ...]
    faults: tuple[str, ...]
    beliefs: dict[str, Text]
    keys: bool

    def tempted_by(self) -> dict[str, list[str]]:
        """Misconception -> ids of the questions with it as a wrong option; empty for an unused one."""
        found: dict[str, list[str]] = {one: [] for one in self.beliefs}
        for row in (*self.practice, *self.checkpoints):
            for one in row.beliefs:
                found.setdefault(one, []).append(row.item.id)
        return found


def listing(project: Project, keys: bool = False) -> Listing:
    """Read the bank. Without ``keys`` no keys.yaml is opened."""
    bank = Bank(project.learner_folder)
    beliefs, places = bank.misconceptions(), _places(project)
    practice, faults = bank.items(), [Finding("schema", fault) for fault in bank.faults()]
    places = {one.id: places.get(item.id, []) for item in bank.items(checkpoint=True) for one in every(item)} | places
    graded = [one for item in bank.items(checkpoint=True) for one in every(item)]
    if keys:
        graded = [_keyed(project, item, faults) for item in graded]
    for group, checkpoint in ((practice, False), (graded, True)):
        for lesson in dict.fromkeys(item.lesson for item in group):
            faults += lint_lesson(lesson, [item for item in group if item.lesson == lesson], checkpoint)
    if found := positions([*practice, *graded]):
        faults.append(found)
    return Listing(
        tuple(_row(item, practice, beliefs, places) for item in practice),
        tuple(_row(item, graded, beliefs, places) for item in graded),
        tuple(faults),
        beliefs,
        keys,
    )


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


def _row(item: Item, others: Iterable[Item], beliefs: dict[str, Text], places: dict[str, list[str]]) -> Row:
    faults = [one.removeprefix(f"{item.id}: ") for one in lint_items([item], beliefs)]
    same = [other for other in others if other.lesson == item.lesson]
    return Row(item, tuple(places.get(item.id, ())), tuple(faults), tuple(advice(item, same)))


def _places(project: Project) -> dict[str, list[str]]:
    """Item id -> the notebook sources that name it."""
    found: dict[str, list[str]] = defaultdict(list)
    sources = {lesson: project.lesson_source(lesson) for lesson in project.lessons()}
    sources |= {f"{lesson}.checkpoint": project.checkpoint_source(lesson) for lesson in project.checkpoints()}
    for name, path in sorted(sources.items()):
        for cell in read(path):
            for kind, identity, _ in used_ids(cell):
                if "item" in kind and name not in found[identity]:
                    found[identity].append(name)
    return dict(found)
