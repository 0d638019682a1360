"""What an exercise is, and how a learner's object is judged safely.

An exercise names the global the learner defines, hints, a solution and a check. ``judge`` turns
whatever the learner wrote, also a crash, into a Verdict with a sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from course.core.catalog import BY_ID, PROJECTS, lesson_folder, modules
from course.core.i18n import Text
from course.core.verdict import Verdict
from course.exercises.checking import block_check
from course.exercises.slips import KEYS, Cases, visible_check
from course.exercises.told import Told, judged, verdict
from course.questions.bank import read_yaml


@dataclass(frozen=True)
class Exercise:
    """One code task of a lesson or project, or the visible smoke test of a checkpoint task.

    lesson: the id of its lesson or project. name: the global the learner defines. check(obj) -> Verdict. hints: two or three
    texts, mildest first (none for a checkpoint task). solution: Python source, or None where it is never shown. cases:
    the calls, the right results and the slips where the check is made of them.
    """

    id: str
    lesson: str
    title: Text
    name: str
    check: Callable[[Any], Verdict]
    hints: tuple[Text, ...] = ()
    solution: str | None = None
    why: Text = ""
    cases: Cases | None = None


MISSING = object()


def judge(exercise: Exercise, obj: Any = MISSING) -> Verdict:
    """Check the learner's object; never raises, whatever the learner's code does (but lets Ctrl-C through)."""
    name = exercise.name
    if obj is MISSING:
        return verdict(Told("missing", name=name))
    if obj is None or obj is Ellipsis:
        return verdict(Told("placeholder, for all", name=name))
    try:
        return exercise.check(obj)
    except NotImplementedError:
        return verdict(Told("not-implemented", name=name))
    except Exception as error:
        if "ellipsis" in str(error).lower():  # Python computed with the `...` of a blank
            return verdict(Told("placeholder, a blank", name=name))
        return verdict(Told("raised", name=name, error=f"{type(error).__name__}: {error}"))


@cache
def all_exercises() -> dict[str, Exercise]:
    """Every exercise of every lesson and project by id: texts and check from ``exercises.yaml``; a check in Python from
    CHECKS beside it.

    Raises ValueError where two share an id, or where a check has no texts, or texts have no check or two.
    """
    found: dict[str, Exercise] = {}
    for lesson in (*BY_ID, *PROJECTS):
        path = lesson_folder(lesson) / "exercises.yaml"
        texts = read_yaml(path) if path.exists() else {}
        made = [pair for module in modules(lesson, "exercises") for pair in module.CHECKS.items()]
        checks = [(name, partial(judged, check, texts.get(name, {}).get("says", {}))) for name, check in made]
        cases = {name: Cases.of(entry) for name, entry in texts.items() if "cases" in entry}
        checks += [(name, one.judge) for name, one in cases.items()]
        stated = ((name, block_check(entry) or visible_check(entry)) for name, entry in texts.items())
        checks += [(name, check) for name, check in stated if check]
        names = [name for name, _ in checks]
        if twice := [name for name in names if names.count(name) > 1 or name in found]:
            raise ValueError(f"two exercises share the id {twice[0]!r}")
        if alone := set(names) ^ set(texts):
            raise ValueError(f"{lesson}: only texts or only a check for {', '.join(sorted(alone))}")
        for name, check in checks:
            told = {key: value for key, value in texts[name].items() if key not in KEYS}
            told["hints"] = tuple(told.get("hints", ()))
            found[name] = Exercise(name, lesson, check=check, cases=cases.get(name), **told)
    return found
