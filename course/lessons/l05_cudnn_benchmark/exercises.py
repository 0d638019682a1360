"""The code task of lesson 05 that measures: make the search lose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

from course.exercises.checking import comparison, lost
from course.exercises.told import Told


def check_make_it_lose(race: Any) -> dict[str, float]:
    """Accept on evidence: the interval of time(on) / time(off) lies above 1, from enough rounds."""
    raced = comparison(race)
    if raced is None:
        raise Told("no-comparison")
    if raced.baseline != "off":
        raise Told("baseline")
    off, on = (_schedule(raced.functions[name]) for name in ("off", *raced.pairs))
    if (
        {searches for searches, _ in off} != {False}
        or {searches for searches, _ in on} != {True}
        or ([size for _, size in off] != [size for _, size in on])
    ):
        raise Told("schedule")
    return lost(raced)


def _schedule(run: Callable[[], Any]) -> list[tuple[bool, int]]:
    """(benchmark, size) of every step of the toy in one run, as the toy itself sees them."""
    from course.models.toy_search import ToyConv

    steps, real = [], ToyConv.__call__

    def look(self: Any, x: Any, weight: Any) -> Any:
        steps.append((self.benchmark, x.shape[-1]))
        return real(self, x, weight)

    with mock.patch.object(ToyConv, "__call__", look):
        run()
    return steps


CHECKS = {"05-make-it-lose": check_make_it_lose}
