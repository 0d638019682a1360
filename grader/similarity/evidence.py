"""What pairs of submissions share, weighted by how rare it is in this class. Pure functions on plain data.

A thing that c of the n other students also have weighs log2(n / (c + 1)) bits: what everybody has weighs nothing, so
being right, or wrong in the usual way, is no signal. What the starter code or our own solution holds never counts.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from course.questions.variants import same_student
from grader.similarity.shingles import shingles, winnowed

MOST_HAVING = 40  # code that more students have in common is no signal, however large the class
LEAST_SHARED, LEAST_CODE_BITS = 5, 2.0  # fingerprints, about 20 tokens beyond starter and solution
OVERLAP = (
    4  # neighbouring fingerprints overlap: a quarter of their bits is counted, times the part of the code they are
)
TIMES_BITS, MORE_TIMES_BITS = 30.0, 1.0  # for one time stamp in common, to the microsecond, and for each more
OTHERS_BITS = 30.0  # for one answer given on the paper of the other
MOST_BITS = 40.0  # of one kind of evidence
MARGIN_BITS = 3.0  # above what the most similar of all honest pairs has by chance
Pair = tuple[str, str]


@dataclass(frozen=True)
class Work:
    """One submission. code: task -> source; wrong: item -> the wrong answer in words; times: (item, time stamp); others: item
    -> the student on whose paper its answer was given.
    """

    code: Mapping[str, str] = field(default_factory=dict)
    wrong: Mapping[str, str] = field(default_factory=dict)
    times: frozenset[tuple[str, str]] = frozenset()
    others: Mapping[str, str] = field(default_factory=dict)


@dataclass
class SharedCode:
    """Code of one task in common. lines: (first, last) ranges in each of the two."""

    task: str
    shared: int
    of: tuple[int, int]
    bits: float
    lines: tuple[list[tuple[int, int]], list[tuple[int, int]]]


@dataclass
class Look:
    """A pair to look at. wrong: (item, answer, students who gave it, bits); times: items with the same time stamp; others:
    (who handed it in, item) of answers that were given on the paper of the other one.
    """

    pair: Pair
    code: list[SharedCode] = field(default_factory=list)
    wrong: list[tuple[str, str, int, float]] = field(default_factory=list)
    times: list[str] = field(default_factory=list)
    others: list[tuple[str, str]] = field(default_factory=list)

    @property
    def bits(self) -> float:
        """How much there is to look at; each kind of evidence counts up to ``MOST_BITS``."""
        times = TIMES_BITS + MORE_TIMES_BITS * (len(self.times) - 1) if self.times else 0.0
        others = OTHERS_BITS + MORE_TIMES_BITS * (len(self.others) - 1) if self.others else 0.0
        kinds = (sum(one.bits for one in self.code), sum(one[3] for one in self.wrong), times, others)
        return sum(min(kind, MOST_BITS) for kind in kinds)


def looks(works: Mapping[str, Work], known: Mapping[str, Iterable[str]]) -> list[Look]:
    """The pairs worth a look, those with most in common first. known: task -> starter code and solutions of ours."""
    found: dict[Pair, Look] = {}
    for task in sorted({task for work in works.values() for task in work.code}):
        _code(found, task, works, known.get(task, ()))
    _wrong(found, works)
    _times(found, works)
    _others(found, works)
    least = least_bits(len(works))
    return sorted((look for look in found.values() if look.bits >= least), key=lambda look: (-look.bits, look.pair))


def least_bits(students: int) -> float:
    """Below this a pair is not shown: among many pairs some share a lot by chance, so it grows with the class."""
    return MARGIN_BITS + math.log2(max(2, students * (students - 1) / 2))


def bits(having: int, students: int) -> float:
    """The weight of a thing that ``having`` of ``students`` have, for two who both have it."""
    return max(0.0, math.log2(students / (having - 1))) if having >= 2 else 0.0


def _look(found: dict[Pair, Look], pair: Pair) -> Look:
    return found.setdefault(pair, Look(pair))


def _code(found: dict[Pair, Look], task: str, works: Mapping[str, Work], known: Iterable[str]) -> None:
    ours = frozenset(value for source in known for value, _, _ in shingles(source))
    prints = {name: winnowed(work.code[task], ours) for name, work in works.items() if task in work.code}
    having: dict[int, list[str]] = defaultdict(list)
    for name, kept in sorted(prints.items()):
        for value in kept:
            having[value].append(name)
    n, shared = len(prints), defaultdict(list)
    for value, names in having.items():
        if 2 <= len(names) <= max(4, min(n // 4, MOST_HAVING)):
            for pair in combinations(names, 2):
                shared[pair].append(value)
    for pair, values in shared.items():
        if len(values) >= LEAST_SHARED:
            first, second = (prints[name] for name in pair)
            part = len(values) / min(len(first), len(second))
            weight = part * sum(bits(len(having[value]), n) for value in values) / OVERLAP
            if weight >= LEAST_CODE_BITS:
                lines = (_merged(first[value] for value in values), _merged(second[value] for value in values))
                shared_code = SharedCode(task, len(values), (len(first), len(second)), round(weight, 1), lines)
                _look(found, pair).code.append(shared_code)


def _merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Overlapping line ranges as one."""
    made: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if made and first <= made[-1][1] + 1:
            made[-1] = made[-1][0], max(made[-1][1], last)
        else:
            made.append((first, last))
    return made


def _wrong(found: dict[Pair, Look], works: Mapping[str, Work]) -> None:
    gave: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, work in sorted(works.items()):
        for item, answer in work.wrong.items():
            gave[item, answer].append(name)
    for (item, answer), names in gave.items():
        weight = round(bits(len(names), len(works)), 1)
        if weight >= 1:
            for pair in combinations(names, 2):
                _look(found, pair).wrong.append((item, answer, len(names), weight))


def _times(found: dict[Pair, Look], works: Mapping[str, Work]) -> None:
    at: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, work in sorted(works.items()):
        for moment in work.times:
            at[moment].append(name)
    for (item, _), names in sorted(at.items()):
        for pair in combinations(names, 2):
            _look(found, pair).times.append(item)


def _others(found: dict[Pair, Look], works: Mapping[str, Work]) -> None:
    called = {same_student(name): name for name in works}
    for name, work in sorted(works.items()):
        for item, said in work.others.items():
            whose = called.get(same_student(said))
            if whose is not None and whose != name:
                _look(found, (min(name, whose), max(name, whose))).others.append((name, item))


def words(answer: Mapping[str, Any]) -> str:
    """An answer in words: option ids in order, or a number."""
    return f"{answer['number']:.10g}" if answer.get("number") is not None else " ".join(answer.get("options", ()))
