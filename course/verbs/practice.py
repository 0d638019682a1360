"""The verbs of code exercises: ``check``, ``hint``, ``solution``."""

from __future__ import annotations

from typing import Any

from course.core.i18n import pick, t
from course.core.markup import code_block, inline, plain
from course.core.suggest import did_you_mean, no_longer
from course.exercises.exercise import MISSING, Exercise, all_exercises, judge
from course.verbs import state
from course.verbs.say import if_validated, in_words, put, say, say_verdict, state_words


def find_exercise(exercise_id: str) -> Exercise | None:
    """The exercise, or None after a sentence that names near ids."""
    known = all_exercises()
    if exercise_id in known:
        return known[exercise_id]
    near = did_you_mean(exercise_id, known, cutoff=0.4)
    unknown = t(f"There is no exercise `{exercise_id}`.{near}", f"没有名为 `{exercise_id}` 的练习。{near}")
    say(no_longer(exercise_id) or unknown)
    return None


def _tries(exercise: Exercise) -> list[str]:
    """The verdicts on the learner's own code, oldest first."""
    return [entry.verdict for entry in state.now.seen("check", exercise.id) if entry.verdict != "not attempted"]


@in_words
def check(exercise_id: str, obj: Any = MISSING) -> None:
    """Check an exercise: by the name it asks for, or the object given."""
    if exercise_id in state.now.tasks and exercise_id not in all_exercises():
        _is_there(state.now.tasks[exercise_id])
        return
    exercise = find_exercise(exercise_id)
    if exercise is None:
        return
    verdict = judge(exercise, state.learner_object(exercise.name, MISSING) if obj is MISSING else obj)
    state.now.write("check", exercise.id, verdict=verdict.state, points=verdict.points)
    say_verdict(verdict, pick(exercise.title))
    if exercise.solution is None and verdict.state != "not marked":
        if_validated(
            f"{exercise.id}: {state_words(verdict.state)}. " + " ".join(plain(pick(one)) for one in verdict.messages)
        )
    tried = [entry.verdict for entry in state.now.seen("check", exercise.id)][-3:]
    if (
        exercise.hints
        and len(tried) == 3
        and set(tried) <= {"incorrect", "partly"}
        and not state.now.seen("hint", exercise.id)
    ):
        say(t("☕ A hard one. Take a smaller step.", "☕ 这题不容易，先迈一小步。"))
        hint(exercise.id)
    elif verdict.state in ("incorrect", "partly") and exercise.hints:
        say(
            t(
                f'Next step: change your code and check again, or ask for `hint("{exercise.id}")`.',
                f'下一步：修改代码后再检查，或者用 `hint("{exercise.id}")` 要一个提示。',
            )
        )


def _is_there(name: str) -> None:
    """For a task that the course package does not know: say whether the name it asks for is defined."""
    if state.learner_object(name, MISSING) is MISSING:
        say(
            t(
                f"There is no `{name}` yet: define it above, run that cell, then check again.",
                f"还没有 `{name}`：请在上面定义它，运行那个单元格，再检查一次。",
            )
        )
    else:
        say(t(f"`{name}` is there. It is marked after you hand in.", f"已有 `{name}`。交卷后评分。"))


@in_words
def hint(exercise_id: str) -> None:
    """Show the next hint of an exercise, after an attempt of your own; after the last hint that one again."""
    exercise = find_exercise(exercise_id)
    if exercise is None:
        return
    if not exercise.hints:
        say(t("This task has no hints: it counts.", "这道题没有提示：它计入成绩。"))
        return
    if not _tries(exercise):
        say(
            t(
                f'The first hint opens after an attempt: write something, then `check("{exercise.id}")`.',
                f'先试一次，第一条提示才会打开：写点什么，然后 `check("{exercise.id}")`。',
            )
        )
        return
    total = len(exercise.hints)
    number = min(len(state.now.seen("hint", exercise.id)) + 1, total)
    state.now.write("hint", exercise.id, number=number)
    label = t(f"Hint {number} of {total}", f"提示 {number}/{total}")
    say(f"💡 **{label}** {pick(exercise.hints[number - 1])}")


@in_words
def solution(exercise_id: str) -> None:
    """Show one solution and why it is good; after an attempt of your own."""
    exercise = find_exercise(exercise_id)
    if exercise is None:
        return
    if exercise.solution is None:
        say(t("This task has no solution here: it counts.", "这道题不提供答案：它计入成绩。"))
        return
    if not _tries(exercise):
        say(
            t(
                f'The solution opens after an attempt of your own: `check("{exercise.id}")` first.',
                f'先自己试一次，答案才会打开：请先 `check("{exercise.id}")`。',
            )
        )
        return
    state.now.write("solution", exercise.id)
    head, why = t("One solution", "一种解法"), pick(exercise.why)
    put(f"<strong>{head}</strong>{code_block(exercise.solution)}<p>{inline(why)}</p>")
