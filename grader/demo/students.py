"""The students of the demonstration: nine named for what they do, and people who know some things and not others.

What a student deserves is worked out here from the plan of the answers, not with the code that marks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from course.learning.marking import Response
from course.questions.items import Item
from grader.demo.people import Attempt, Person, crowd
from grader.task import Task


@dataclass(frozen=True)
class Student:
    """What a student hands in.

    quiz: right, half, wrong or none. tasks: right, first, wrong or none. carried: where the answers travel:
    both, notebook or sidecar. damage: what happens to the file: half (of it is lost), empty, deleted (cells),
    copied (cells, beside warnings and a cell that ends the kernel), or nothing. person: who answers, in place of
    quiz and tasks. late: handed in after the due date. copy_of: the student whose files these are.
    """

    name: str
    quiz: str = "right"
    tasks: str = "right"
    carried: str = "both"
    damage: str = ""
    person: Person | None = None
    late: bool = False
    copy_of: str = ""


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
    """So many students, from 1 to 30: the first of the large class, which are those named for what they do and then people."""
    return large_class()[:count]


def large_class() -> tuple[Student, ...]:
    """The nine, and 21 people: three of them late, two with an accident, one with somebody else's files."""
    people = [Student(f"person-{number:02d}", person=person) for number, person in enumerate(crowd(20), start=1)]
    for number, change in {
        3: {"late": True},
        8: {"late": True},
        14: {"late": True, "carried": "sidecar"},
        11: {"damage": "deleted"},
        17: {"damage": "half"},
    }.items():
        people[number] = replace(people[number], **change)
    original = people[5]
    return (*CLASS, *people, replace(original, name="person-21", copy_of=original.name))


def answers(student: Student, items: dict[str, Item]) -> dict[str, Response]:
    """What the student answers, by item; items left alone are absent."""
    if student.person is not None:
        return {identity: response for identity, (response, _) in student.person.answers(items).items()}
    if student.quiz == "none":
        return {}
    half = (len(items) + 1) // 2
    return {
        identity: right(item) if student.quiz == "right" or (student.quiz == "half" and place < half) else wrong(item)
        for place, (identity, item) in enumerate(items.items())
    }


def right(item: Item) -> Response:
    """The response that deserves every point."""
    if item.kind == "number":
        return Response(number=float(item.number.value))
    return Response(item.order if item.kind == "order" else item.correct)


def wrong(item: Item) -> Response:
    """A response that deserves nothing (an order without distractors: the order backwards, one line of it in
    place).
    """
    if item.kind == "number":
        return Response(number=float(item.number.high) * 3 + 7)
    if item.kind == "order":
        extra = tuple(option.id for option in item.options if option.id not in item.order)
        return Response(extra or item.order[::-1])
    others = tuple(option.id for option in item.options if option.id not in item.correct)
    return Response(others[:1] if item.kind == "single" else others)


def deserved(
    student: Student,
    items: dict[str, Item],
    tasks: dict[str, Task],
    wrong: Mapping[str, Sequence[Attempt]],
    seen: dict[str, Item] | None = None,
) -> dict[str, float]:
    """The points each graded cell should get; ``wrong`` are the attempts at each task (``people.attempts``), ``seen`` the
    questions on the paper that was copied.
    """
    if student.person is not None:
        points = _of_person(student, student.person, seen or items, tasks, wrong)
        return points | (_copied(answers(student, seen), items) if seen else {})
    given = answers(student, items)
    points = {}
    for identity, item in items.items():
        answer = given.get(identity)
        if answer is None:
            points[identity] = 0.0
        elif answer == right(item):
            points[identity] = float(item.points)
        else:
            backwards = item.kind == "order" and answer.options == item.order[::-1]
            points[identity] = round(item.points / len(item.order), 2) if backwards else 0.0
    solved = {"right": list(tasks), "first": list(tasks)[:1]}.get(student.tasks, [])
    if student.damage in ("half", "empty"):
        solved = []
    points |= {identity: float(task.points) if identity in solved else 0.0 for identity, task in tasks.items()}
    return points


def _copied(given: Mapping[str, Response], items: Mapping[str, Item]) -> dict[str, float]:
    """What answers to somebody else's variants are worth: they are right where they happen to be right here too."""
    points = {}
    for name, item in items.items():
        if item.varies and name in given:
            number, chosen = given[name].number, set(given[name].options)
            if item.number is not None:
                right = number is not None and item.number.low <= number <= item.number.high
            elif item.kind == "multiple":
                hits = len(chosen & set(item.correct))
                right = max(0.0, (hits - len(chosen - set(item.correct))) / len(item.correct))
            else:
                right = bool(chosen) and chosen == set(item.correct)
            points[name] = round(float(item.points) * right, 2)
    return points


def _of_person(
    student: Student,
    person: Person,
    items: dict[str, Item],
    tasks: dict[str, Task],
    wrong: Mapping[str, Sequence[Attempt]],
) -> dict[str, float]:
    planned = person.answers(items)
    points = {
        name: round(item.points * planned[name][1], 2) if name in planned else 0.0 for name, item in items.items()
    }
    for identity, task in tasks.items():
        attempt = person.attempt(identity, wrong) if student.damage != "half" else None
        points[identity] = attempt.points if isinstance(attempt, Attempt) else float(task.points if attempt else 0)
    return points
