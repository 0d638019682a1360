"""A graded task (``Task``): inputs that are drawn when a submission is marked, a reference, and parts with points and reasons.

A task on a function has ``cases``, ``reference`` and ``parts``: the student's function and the reference are called with the
same inputs, and their results are compared as plain JSON data. The reference is the solution in the checkpoint's
source. A task on a value (a report) has ``judge`` and ``points``.
"""

from __future__ import annotations

import importlib.util
import json
import random
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from course.core.i18n import Text
from course.core.verdict import Verdict
from grader.project import Project, ProjectError, as_of, read_yaml
from grader.project.source import read

MARKS = re.compile(r" *### (BEGIN|END) SOLUTION\n?")


@dataclass(frozen=True)
class Case:
    """One call. part: a key of Task.parts. args: the positional arguments, plain JSON data."""

    part: str
    args: tuple


@dataclass(frozen=True)
class Part:
    """A share of the marks: ``points`` if every case of the part is right, else 0 and ``reason`` is shown."""

    points: float
    reason: Text


@dataclass(frozen=True)
class Task:
    """A checkpoint task. ``name`` is the global the learner defines: a function, or with ``judge`` a value.

    cases(rng) -> list of Case, the same for the same rng. solution: the code of the task's cell in the checkpoint,
    filled in where the task is read (``tasks``). reference(*args) -> plain JSON value; by default the
    solution's function.
    judge(value) -> Verdict, for a value of plain data. points: of a judged value; else it is the sum of the parts.
    Raises ValueError where the fields do not fit together.
    """

    id: str
    name: str
    cases: Callable[[random.Random], list[Case]] | None = None
    reference: Callable[..., Any] | None = None
    parts: Mapping[str, Part] = field(default_factory=dict)
    judge: Callable[[Any], Verdict] | None = None
    points: float | None = None
    solution: str = ""

    def __post_init__(self) -> None:
        if self.judge is not None:
            if self.cases or self.reference or self.parts or self.points is None:
                raise ValueError(f"task {self.id}: a judged value has judge and points, and nothing else")
            return
        if not (self.cases and self.parts):
            raise ValueError(f"task {self.id}: a function needs cases and parts")
        if self.solution and not self.reference:
            space: dict[str, Any] = {}
            exec(compile(self.solution, f"the solution of {self.id}", "exec"), space)
            object.__setattr__(self, "reference", space[self.name])
        object.__setattr__(self, "points", sum(part.points for part in self.parts.values()))

    def draw(self, rng: random.Random) -> list[Case]:
        """Draw the cases for one submission, as JSON data. Their order does not show which part a case belongs to, so that a
        function that returns fixed answers by the number of the call gets no more points than a guess.

        Raises ValueError where a case is not valid or a part has no case.
        """
        drawn = [Case(case.part, tuple(plain(list(case.args)))) for case in self.cases(rng)]
        unknown = {case.part for case in drawn} ^ set(self.parts)
        if unknown:
            raise ValueError(f"task {self.id}: parts and cases do not match: {', '.join(sorted(unknown))}")
        rng.shuffle(drawn)
        return drawn


def parts_beside(module: str) -> dict[str, dict[str, Part]]:
    """Task -> part -> its points and reason, from ``tasks.yaml`` beside a module of tasks. module: its ``__file__``.

    Raises ProjectError where the file does not have this form.
    """
    path = Path(module).with_name("tasks.yaml")
    try:
        rows = (read_yaml(path) or {}).items()
        return {task: {name: Part(**part) for name, part in parts.items()} for task, parts in rows}
    except (TypeError, AttributeError) as error:
        raise ProjectError(f"{path}: each part of a task has `points:` and `reason:`, and nothing else") from error


def plain(value: Any) -> Any:
    """``value`` written to JSON and read again: tuples become lists, keys become strings. Raises TypeError where JSON cannot hold
    it.
    """
    return json.loads(json.dumps(value))


def tasks(project: Project, lesson: str) -> dict[str, Any]:
    """The code tasks of a checkpoint by id. Empty where the lesson has no task module."""
    module, source = project.task_module(lesson), project.checkpoint_source(lesson)
    when = as_of(module, module.with_name("tasks.yaml"), source)
    return {task.id: task for task in _tasks(module, source, when)}


@cache
def _tasks(path: Path, source: Path, _as_of: tuple[int, ...]) -> tuple:
    if not path.exists():
        return ()
    name = f"_course_tasks_{abs(hash(path))}_{path.parent.name}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    known = solutions(source)
    return tuple(replace(task, solution=known.get(task.id, "")) for task in module.TASKS)


def solutions(source: Path) -> dict[str, str]:
    """The code of every task cell of a checkpoint source, without the marks of the solution; empty without a source."""
    if not source.exists():
        return {}
    return {cell.id: MARKS.sub("", cell.code("en")) for cell in read(source) if cell.kind == "task"}
