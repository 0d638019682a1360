"""Right variants and wrong ideas: what people write who solve a task in another way, or believe something false.

They stand in ``tests/lessons/lNN_name/ideas.txt``, under the id of a task or an exercise. A wrong idea is a small change
of the right version above it (of the solution, where none stands above), with what it deserves: the parts that a
task loses, or the state and the reason that an exercise's check gives::

    === 05-t-run ===
    wrong (edges, remainder): There is one batch size.
    - return layer_keys * kinds
    + return layer_keys

    right: Quotient and remainder.
    def searches_of_run(...):

``-`` is the text to replace (part of a line, or several whole lines), which must occur exactly once; ``+`` takes its place
(without ``+`` it goes). A row may replace in several places.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from nbformat.v4 import new_output

import grader.sandbox.inside.probe
from course.core.catalog import BY_ID, PROJECTS, lesson_folder
from course.core.verdict import Verdict
from course.exercises.exercise import all_exercises
from course.timing import Comparison, Paired
from grader.marking.probe import probe, results
from grader.marking.tasks import judge_task
from grader.project import Project
from grader.project.task import Case, Task, tasks

HEADING, RIGHT, WRONG = (
    re.compile(form) for form in (r"=== (\S+) ===", r"right: (\S.*)", r"wrong \(([^)]+)\): (\S.*)")
)
# What the notebooks have imported before their tasks; a comparison is invented, nothing is timed.
IMPORTS = (
    "import torch\nfrom contextlib import contextmanager\nfrom statistics import median\n"
    "from course.lessons.l02_timing.exercises import cut\n"
)


@dataclass(frozen=True)
class Idea:
    """One way to answer the task or exercise ``of``: ``code`` defines the name it asks for.

    deserves: the parts that a wrong answer to a task loses, or (state, reason) of an exercise's verdict; empty where
    the answer is right.
    """

    of: str
    says: str
    code: str
    deserves: tuple[str, ...] = ()

    @property
    def right(self) -> bool:
        return not self.deserves

    def defined(self, name: str) -> object:
        """The object that the code defines under ``name``."""
        space = {"raced": raced}
        exec(IMPORTS, space)
        exec(compile(self.code, f"{self.of}: {self.says}", "exec"), space)
        return space[name]


@cache
def solutions() -> dict[str, str]:
    """The solution of every task and every exercise that shows one, by id."""
    project = Project()
    found = {task.id: task.solution for lesson in project.checkpoints() for task in tasks(project, lesson).values()}
    return found | {name: one.solution for name, one in all_exercises().items() if one.solution is not None}


def all_ideas() -> list[Idea]:
    """The ideas of every lesson and project. Raises ValueError with file and line where one cannot be read."""
    paths = [Path(__file__).parent / lesson_folder(name).name / "ideas.txt" for name in (*BY_ID, *PROJECTS)]
    return [idea for path in paths for idea in parse(path.read_text("utf-8"), path, solutions())]


def parse(text: str, path: Path, known: Mapping[str, str]) -> list[Idea]:
    """The ideas of one file; ``known`` are the solutions by id. Raises ValueError with file and line."""
    found: list[Idea] = []
    of = base = ""
    for place, block in _blocks(text):
        where, head = f"{path}:{place}", block[0]
        if heading := HEADING.fullmatch(head):
            of = heading[1]
            if of not in known:
                raise ValueError(f"{where}: there is no task or exercise {of!r}")
            base = known[of]
        elif right := RIGHT.fullmatch(head):
            base = "\n".join(block[1:]).strip("\n") + "\n"
            found.append(Idea(of, right[1], base))
        elif wrong := WRONG.fullmatch(head):
            deserves = tuple(word.strip() for word in wrong[1].split(","))
            found.append(Idea(of, wrong[2], changed(base, block[1:], where), deserves))
    return found


def _blocks(text: str) -> Iterator[tuple[int, list[str]]]:
    """(number of the first line, lines) from each heading, right or wrong line to the next."""
    lines = text.split("\n")
    starts = [
        place for place, line in enumerate(lines) if any(form.fullmatch(line) for form in (HEADING, RIGHT, WRONG))
    ]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield start + 1, lines[start:end]


def changed(base: str, lines: list[str], where: str) -> str:
    """``base`` with the replacements in ``lines`` made. Raises ValueError unless each text to replace occurs once."""
    pairs: list[tuple[list[str], list[str]]] = []
    previous = ""
    for line in filter(None, lines):
        if line[:2] not in ("- ", "+ ", "-", "+") or (line[0] == "+" and not previous):
            raise ValueError(f"{where}: {line!r} begins neither with `- ` nor with `+ ` after it")
        if line[0] == "-" and previous != "-":
            pairs.append(([], []))
        pairs[-1][line[0] == "+"].append(line[2:])
        previous = line[0]
    if not pairs:
        raise ValueError(f"{where}: it changes nothing")
    for before, after in (("\n".join(old), "\n".join(new)) for old, new in pairs):
        if (times := base.count(before)) != 1:
            raise ValueError(f"{where}: {before!r} occurs {times} times in the right version, not once")
        base = base.replace(before, after)
    return base


def raced(
    functions: Mapping[str, Callable[[], Any]],
    ratio: float,
    width: float = 0.02,
    rounds: int = 40,
    baseline_ms: float = 20.0,
) -> Comparison:
    """The first function is the baseline; time(other) / time(baseline) is ``ratio``, give or take ``width``."""
    baseline, candidate = functions
    low, high = ratio - width, ratio + width
    verdict = "faster" if high < 1 else "slower" if low > 1 else "same" if width <= 0.02 else "undecided"
    pair = Paired(
        name=candidate,
        baseline=baseline,
        ratio=ratio,
        low=low,
        high=high,
        verdict=verdict,
        ratios=(ratio,) * rounds,
        gate=0.02,
    )
    found = Comparison(
        baseline=baseline,
        pairs={candidate: pair},
        medians_ms={baseline: baseline_ms, candidate: baseline_ms * ratio},
        calls=dict.fromkeys(functions, 1),
        rounds=rounds,
        seconds=1.0,
        device="cpu",
        clock="perf_counter",
        threads=1,
    )
    object.__setattr__(found, "functions", dict(functions))
    return found


# --- what an answer to a graded task gets: the real probe and the real judge, without a kernel ----------------------


def verdict_on(task: Task, answer: Any, seed: int = 0) -> Verdict:
    """The verdict on a function or a value, for one draw of the hidden cases."""
    drawn = None if task.judge else task.draw(random.Random(seed))
    return judge_task(task, drawn, probed(task, answer, drawn))


def probed(task: Task, answer: Any, drawn: list[Case] | None) -> dict[int, dict[str, Any]]:
    """What the probe sends out of a kernel in which ``answer`` has the task's name."""
    return probed_in(task, {task.name: answer}, drawn)


def probed_in(task: Task, scope: dict[str, Any], drawn: list[Case] | None = None) -> dict[int, dict[str, Any]]:
    """What the probe sends out of a kernel that holds these names."""
    outputs: list = []
    stands_in = {
        "get_ipython": lambda: SimpleNamespace(user_ns=scope),
        "display": lambda data, raw: outputs.append(new_output("display_data", data=data)),
    }
    inside = {"inside": grader.sandbox.inside, "inside.probe": grader.sandbox.inside.probe}
    with mock.patch.dict(sys.modules, inside), mock.patch.multiple("grader.sandbox.inside.probe", **stands_in):
        exec(probe(task, drawn), scope)
    return results(outputs)


def lost_parts(task: Task, answer: Any, seed: int = 0) -> set[str]:
    """The parts in which ``answer`` does not get all."""
    verdict = verdict_on(task, answer, seed)
    full = {name: float(part.points) for name, part in task.parts.items()}
    return {name for name, points in verdict.evidence["parts"].items() if points < full.get(name, 1.0)}
