"""The students of the made-up class. What a student deserves is worked out from the plan of the answers, not with the code that marks."""

from __future__ import annotations

import random
from dataclasses import dataclass

from course.learning.marking import Response
from course.questions.items import Item
from grader.project.task import Task


@dataclass(frozen=True)
class Student:
    """What a student hands in.

    quiz: right, half, wrong, none or mixed (some answers right and some wrong, the same ones each time). tasks: right, first,
    wrong or none. carried: where the answers travel: both, notebook or sidecar. damage: what happens to the file: half (of it
    is lost), empty, deleted (cells), copied (cells, beside warnings and a cell that ends the kernel), or nothing.
    """

    name: str
    quiz: str = "right"
    tasks: str = "right"
    carried: str = "both"
    damage: str = ""


CLASS = (
    Student("perfect"),
    Student("partly", quiz="half", tasks="first"),
    Student("untouched", quiz="none", tasks="none"),
    Student("wrong", quiz="wrong", tasks="wrong"),
    Student("text-only", tasks="none", carried="sidecar"),
    Student("half-a-file", carried="sidecar", damage="half"),
    Student("deleted-cells", carried="notebook", damage="deleted"),
    Student("copied-cells", damage="copied"),
    Student("empty-file", quiz="none", damage="empty"),
)


def class_of(count: int) -> tuple[Student, ...]:
    """So many students: the first of those named for what they do, then people who know some things and not others."""
    people = range(1, count - len(CLASS) + 1)
    kinds = ("right", "first", "none")
    return CLASS[:count] + tuple(
        Student(f"person-{number:02d}", quiz="mixed", tasks=random.Random(number).choice(kinds)) for number in people
    )


def answers(student: Student, items: dict[str, Item]) -> dict[str, Response]:
    """What the student answers, by item; items left alone are absent."""
    if student.quiz == "none":
        return {}
    half = (len(items) + 1) // 2
    given = {}
    for place, (identity, item) in enumerate(items.items()):
        rng = random.Random(f"{student.name} {identity}") if student.quiz == "mixed" else None
        knows = rng.random() < 0.6 if rng else student.quiz == "right" or (student.quiz == "half" and place < half)
        given[identity] = right(item) if knows else wrong(item, rng)
    return given


def right(item: Item) -> Response:
    """The response that deserves every point."""
    if item.kind == "number":
        return Response(number=float(item.number.value))
    return Response(item.order if item.kind == "order" else item.correct)


def wrong(item: Item, rng: random.Random | None = None) -> Response:
    """A response that deserves nothing (an order without distractors: the order backwards, one line of it in place).

    rng: chooses among the wrong options, and a trap of a number; without it the answer is always the same.
    """
    if item.kind == "number":
        traps = item.number.traps if rng else ()
        return Response(number=float(rng.choice(traps).low if traps else float(item.number.high) * 3 + 7))
    if item.kind == "order":
        extra = tuple(option.id for option in item.options if option.id not in item.order)
        return Response(extra or item.order[::-1])
    others = tuple(option.id for option in item.options if option.id not in item.correct)
    if item.kind == "single":
        return Response((rng.choice(others) if rng else others[0],))
    return Response(others)


def deserved(student: Student, items: dict[str, Item], tasks: dict[str, Task]) -> dict[str, float]:
    """The points that each graded cell should get."""
    given = answers(student, items)
    points = {}
    for identity, item in items.items():
        answer = given.get(identity)
        if answer == right(item):
            points[identity] = float(item.points)
        else:
            backwards = answer is not None and item.kind == "order" and answer.options == item.order[::-1]
            points[identity] = round(item.points / len(item.order), 2) if backwards else 0.0
    solved = {"right": list(tasks), "first": list(tasks)[:1]}.get(student.tasks, [])
    if student.damage in ("half", "empty"):
        solved = []
    return points | {identity: float(task.points) if identity in solved else 0.0 for identity, task in tasks.items()}
