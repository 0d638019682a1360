"""Made-up learners who know some things and believe others: what each answers, and what that deserves.

An item-response model: the better the ability and the easier the item, the likelier the right answer; whoever does
not know guesses, and picks the option whose belief is theirs. Every answer is planned together with the share of
the points it deserves, so the marking has something independent to be held against. The same seed gives the same
class.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from course.learning.marking import Response
from course.questions.items import Item
from grader.project import Project, ProjectError
from grader.task import tasks

DIFFICULTY = {"easy": -1.0, "medium": 0.0, "hard": 1.0}
SLOPE = 1.3  # how sharply an item tells abilities apart
BELIEVES, PULL = 0.3, 6.0  # how many of all beliefs a person holds, and how strongly an option of it attracts
CODE_AT = 0.4  # the ability at which half of all write a task right
SKIPS = 0.06


@dataclass(frozen=True)
class Attempt:
    """Code that does not do all it should, and the points it deserves."""

    code: str
    points: float


# Task -> changes of its solution: a text in it, what takes its place, and the parts that are lost then. Only the two
# checkpoints that `python -m grader author demo` takes by default have any: elsewhere a task is solved or left alone.
CHANGES = {
    "01-t-inside-flags": [
        ("{**before, **defaults, **asked}", "{**defaults, **asked}", {"others"}),
        ("{**before, **defaults, **asked}", "{**before, **asked, **defaults}", {"asked", "default"}),
        ("{**before, **defaults, **asked}", "dict(asked)", {"default", "others"}),
        ("{**before, **defaults, **asked}", "before", {"asked", "default", "others"}),
    ],
    "01-t-replay": [
        ('value[home[who]] if kind == "fork" else False', "False", {"fork"}),
        ('value[home[who]] if kind == "fork" else False', "value[home[who]]", {"spawn"}),
        ("home[rest[0]] = home[who]", 'home[rest[0]] = "main"', {"apart"}),
        ('kind == "thread"', 'kind in ("thread", "fork")', {"fork", "apart"}),
        ("return seen", 'return [value["main"]] * len(seen)', {"threads", "fork", "spawn", "apart"}),
    ],
    "05-t-run": [
        ("layer_keys * len(sizes)", "layer_keys", {"remainder", "edges"}),
        ("layer_keys * len(sizes)", "2 * layer_keys", {"whole", "edges"}),
        ("layer_keys * len(sizes)", "layer_keys * len(sizes) * epochs", {"remainder", "whole", "edges"}),
    ],
    "05-t-choice": [
        ("search_ms * len(different)", "search_ms", {"return"}),
        ("tuple(shape)", "shape[2]", {"return"}),
        ("with_search_ms < slow_ms", "with_search_ms <= slow_ms", {"edges"}),
    ],
    "05-t-report": [
        ('"device": "cpu", "fence"', '"device": "cuda", "fence"', {"fence"}),
        ('"low": interval.low', '"low": interval.high', {"claim"}),
    ],
}


def attempts(project: Project, lesson: str) -> dict[str, list[Attempt]]:
    """Task -> wrong answers to hand in, each with the points of the parts that it does not lose."""
    found: dict[str, list[Attempt]] = {}
    for identity, task in tasks(project, lesson).items():
        for before, after, lost in CHANGES.get(identity, []):
            if task.solution.count(before) != 1:
                raise ProjectError(f"{identity}: {before!r} does not stand in its solution once; mend CHANGES")
            points = task.points - sum(task.parts[part].points if task.parts else 1.0 for part in lost)
            found.setdefault(identity, []).append(Attempt(task.solution.replace(before, after), points))
    return found


@dataclass(frozen=True)
class Person:
    """One made-up learner. ability: 0 is the middle of the class, 1 one standard deviation above it."""

    seed: int
    ability: float

    def answers(self, items: dict[str, Item]) -> dict[str, tuple[Response, float]]:
        """Item -> the response and the share of the points it deserves; items left alone are absent."""
        planned = {identity: self._answer(item) for identity, item in items.items()}
        return {identity: plan for identity, plan in planned.items() if plan is not None}

    def attempt(self, task: str, wrong: Mapping[str, Sequence[Attempt]]) -> Attempt | None | bool:
        """True: the task is solved. None: left as it was handed out. Else one of the ``wrong`` attempts at it."""
        rng = self._rng(task)
        knows = _logistic(SLOPE * (self.ability - CODE_AT))
        if rng.random() < knows:
            return True
        if task not in wrong or rng.random() > 0.4 + knows:
            return None
        return rng.choice(wrong[task])

    def believes(self, belief: str | None) -> bool:
        """Whether this person holds a false belief."""
        return belief is not None and self._rng(belief).random() < BELIEVES

    def _rng(self, what: str) -> random.Random:
        return random.Random(f"{self.seed} {what}")

    def _answer(self, item: Item) -> tuple[Response, float] | None:
        rng = self._rng(item.id)
        if rng.random() < SKIPS:
            return None
        sure = rng.choice((1, 2, 3))
        knows = _logistic(SLOPE * (self.ability - DIFFICULTY[item.difficulty]))
        right = rng.random() < knows
        if item.kind == "number":
            value = float(item.number.value)
            return (Response(number=value, confidence=sure), 1.0) if right else (self._number(item, rng, sure), 0.0)
        if item.kind == "order":
            return self._order(item, rng, right, sure)
        if item.kind == "multiple":
            return self._multiple(item, rng, right, sure)
        if right:
            return Response(item.correct, confidence=sure), 1.0
        guess = self._tempted(item, [option.id for option in item.options], rng)
        return Response((guess,), confidence=sure), float(guess in item.correct)

    def _number(self, item: Item, rng: random.Random, sure: int) -> Response:
        mine = [trap for trap in item.number.traps if self.believes(trap.misconception)]
        if mine:
            return Response(number=float(mine[0].low), confidence=sure)
        return Response(number=float(item.number.high) * rng.choice((2, 3, 5)) + 1, confidence=sure)

    def _order(self, item: Item, rng: random.Random, right: bool, sure: int) -> tuple[Response, float]:
        """Two neighbours changed over: all lines but one still stand in the right relative order."""
        lines = list(item.order)
        if not right:
            at = rng.randrange(len(lines) - 1)
            lines[at], lines[at + 1] = lines[at + 1], lines[at]
        return Response(tuple(lines), confidence=sure), 1.0 if right else (len(lines) - 1) / len(lines)

    def _multiple(self, item: Item, rng: random.Random, right: bool, sure: int) -> tuple[Response, float]:
        """One missed, or one too many: either way the share of one right option is lost."""
        if right:
            return Response(item.correct, confidence=sure), 1.0
        share = (len(item.correct) - 1) / len(item.correct)
        others = [option.id for option in item.options if option.id not in item.correct]
        if others and (len(item.correct) == 1 or rng.random() < 0.5):
            return Response((*item.correct, self._tempted(item, others, rng)), confidence=sure), share
        return Response(item.correct[1:], confidence=sure), share

    def _tempted(self, item: Item, among: list[str], rng: random.Random) -> str:
        weights = [PULL if self.believes(item.option(one).misconception) else 1.0 for one in among]
        return rng.choices(among, weights)[0]


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def crowd(count: int, seed: int = 30) -> list[Person]:
    """`count` students with random abilities."""
    rng = random.Random(seed)
    return [Person(seed * 1000 + number, rng.gauss(0, 1)) for number in range(count)]
