"""What an exercise is, and how a learner's object is judged safely.

An exercise names the global the learner defines, three hints, a solution and a check. ``judge`` turns
whatever the learner wrote, also a crash, into a Verdict with a sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from course.core.catalog import BY_ID, PROJECTS, lesson_folder, modules
from course.core.i18n import Text, both
from course.core.verdict import Verdict, incorrect, not_attempted
from course.exercises.blocks import block_check
from course.exercises.slips import KEYS, Cases, visible_check
from course.exercises.told import judged
from course.questions.bank import read_yaml


@dataclass(frozen=True)
class Exercise:
    """One code task of a lesson or project, or the visible smoke test of a checkpoint task.

    lesson: the id of its lesson or project. name: the global the learner defines. check(obj) -> Verdict. hints: three
    texts, mildest first (none for a checkpoint task). solution: Python source, or None where it is never shown. cases:
    the calls, the right results and the slips where the check is made of them.
    """

    id: str
    lesson: str
    title: Text
    name: str
    check: Callable[[Any], Verdict]
    minutes: int = 5
    hints: tuple[Text, ...] = ()
    solution: str | None = None
    why: Text = ""
    cases: Cases | None = None


MISSING = object()


def judge(exercise: Exercise, obj: Any = MISSING) -> Verdict:
    """Check the learner's object; never raises, whatever the learner's code does (but lets Ctrl-C through)."""
    if obj is MISSING:
        return not_attempted(
            both(
                f"There is no `{exercise.name}` in this notebook yet: write it in the cell above, run it, check again.",
                f"这个 notebook 里还没有 `{exercise.name}`：请在上面的单元格里写好并运行，再检查一次。",
            ),
            reason="missing",
        )
    if obj is None or obj is Ellipsis:
        return not_attempted(
            both(
                f"`{exercise.name}` still holds its placeholder: replace it, run the cell, check again.",
                f"`{exercise.name}` 还是占位符：请替换它并运行单元格，再检查一次。",
            ),
            reason="placeholder",
        )
    try:
        return exercise.check(obj)
    except NotImplementedError:
        return not_attempted(
            both(
                f"`{exercise.name}` still raises NotImplementedError: fill in its body, run the cell, check again.",
                f"`{exercise.name}` 还在抛出 NotImplementedError：请写完函数体并运行单元格，再检查一次。",
            ),
            reason="not-implemented",
        )
    except Exception as error:
        if "ellipsis" in str(error).lower():  # Python computed with the `...` of a blank
            return not_attempted(
                both(
                    f"A blank in `{exercise.name}` still holds its three dots: fill it in, run the cell, check again.",
                    f"`{exercise.name}` 里还有空没填（仍是三个点）：请填好并运行单元格，再检查一次。",
                ),
                reason="placeholder",
            )
        line = f"{type(error).__name__}: {error}"
        return incorrect(
            both(
                f"While it was being tried, `{exercise.name}` stopped with `{line}`.",
                f"试运行 `{exercise.name}` 时出错：`{line}`。",
            ),
            reason="raised",
            error=line,
        )


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
