"""Every wrong idea loses what it should and nothing else, in every draw; every right variant keeps all."""

from __future__ import annotations

from collections import Counter

import pytest

from course import flags
from course.exercise import all_exercises, judge
from course.lessons import LESSONS
from grader.ideas import Idea, parse, read
from grader.project import Project, ProjectError, tasks
from tests.lessons.losing import lost_parts, verdict_on
from tests.lessons.races import raced

PROJECT = Project()
DRAWS = 8
WRONG, RIGHT = 6, 4
GIVEN = {"raced": raced}  # for exercises on a race: nothing is timed here
TASKS = {task.id: task for lesson in PROJECT.checkpoints() for task in tasks(PROJECT, lesson).values()}
PRACTICE = {name: exercise for name, exercise in all_exercises().items() if exercise.solution is not None}
IDEAS = [idea for lesson in LESSONS for idea in read(PROJECT, lesson.id)]


def params(of: dict) -> list:
    return [pytest.param(idea, id=f"{idea.of}: {idea.says}") for idea in IDEAS if idea.of in of]


@pytest.mark.parametrize("idea", params(TASKS))
def test_an_idea_about_a_task_loses_its_parts_in_every_draw(idea: Idea):
    task = TASKS[idea.of]
    answer = idea.defined(task.name)
    for seed in range(1 if task.judge else DRAWS):
        if idea.right:
            verdict = verdict_on(task, answer, seed)
            assert verdict.points == task.points, (seed, verdict.evidence, verdict.messages)
        else:
            assert idea.loses and lost_parts(task, answer, seed) == idea.loses, seed


@pytest.mark.parametrize("idea", params(PRACTICE))
def test_an_idea_about_an_exercise_gets_its_verdict_and_leaves_torch_alone(idea: Idea):
    exercise = PRACTICE[idea.of]
    before = flags.read()
    verdict = judge(exercise, idea.defined(exercise.name, GIVEN))
    assert (verdict.state, verdict.reason if idea.reason else "") == (idea.gets, idea.reason), verdict.messages
    assert (verdict.state == "correct") == idea.right
    assert flags.read() == before


@pytest.mark.parametrize("idea", params(TASKS))
def test_the_visible_check_never_calls_an_answer_right(idea: Idea):
    """It sees the form or an example; a right variant passes it in a neutral state, whatever types it uses."""
    verdict = judge(all_exercises()[idea.of], idea.defined(TASKS[idea.of].name))
    assert verdict.state == "not marked" if idea.right else verdict.state in ("not marked", "incorrect")


@pytest.mark.parametrize("identity", [*TASKS, *PRACTICE])
def test_every_task_and_exercise_states_its_wrong_ideas_and_right_variants(identity):
    counts = Counter(idea.right for idea in IDEAS if idea.of == identity)
    assert counts[False] >= WRONG and counts[True] >= RIGHT
    assert not {idea.of for idea in IDEAS} - {*TASKS, *PRACTICE}


@pytest.mark.parametrize(
    "text", ["# %% worng x\n# Why.\nf = 1\n", "# %% wrong x loses=\nf = 1\n", "# %% wrong x lose=a\n# Why.\nf = 1\n"]
)
def test_a_marker_that_cannot_be_read_is_named_with_its_line(tmp_path, text):
    with pytest.raises(ProjectError, match=r"ideas\.py:1"):
        parse(text, tmp_path / "ideas.py")
