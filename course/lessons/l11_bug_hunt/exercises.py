"""Code tasks of lesson 11: halve the suspects, and order the tests."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from course.exercises.slips import data
from course.exercises.told import Told, placeholder_in

# --- 11-first-bad -------------------------------------------------------------------------------------------------


class Asked:
    """A script of ``lines`` lines, of which ``bad`` begins the symptom; counts how often it is asked."""

    def __init__(self, lines: int, bad: int) -> None:
        self.lines, self.bad, self.times = lines, bad, 0
        self.odd: Any = None

    def __call__(self, count: Any) -> bool:
        self.times += 1
        if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= self.lines:
            self.odd = count
        if self.times > 10 * self.lines:
            raise RuntimeError("asked without end")
        return count >= self.bad


def check_first_bad(first_bad: Callable[[int, Callable[[int], bool]], int]) -> dict[str, int]:
    """Right for every place of the fault in scripts of several lengths, with few questions."""
    worst = 0
    for lines in (1, 2, 3, 8, 13, 64):
        for bad in range(1, lines + 1):
            asked = Asked(lines, bad)
            found = data(first_bad(lines, asked))
            placeholder_in(found)
            if asked.odd is not None:
                raise Told("range", odd=asked.odd, lines=lines)
            if found != bad or isinstance(found, bool):
                raise Told("wrong", lines=lines, bad=bad, found=found)
            if lines == 64:
                worst = max(worst, asked.times)
    if worst > 8:
        raise Told("slow", worst=worst)
    return {"worst": worst}


# --- 11-next-test -------------------------------------------------------------------------------------------------

SUSPECTS = (
    [["switch", 0.5, 1.0], ["data", 0.3, 10.0], ["driver", 0.2, 60.0]],
    [["driver", 0.6, 60.0], ["switch", 0.1, 1.0], ["threads", 0.3, 5.0]],
    [["a", 0.25, 4.0], ["b", 0.25, 2.0], ["c", 0.5, 20.0]],
    [["only", 1.0, 3.0]],
    [["late", 0.4, 8.0], ["cheap", 0.05, 2.0], ["likely", 0.5, 9.0], ["slow", 0.05, 30.0]],
)


def minutes(order: list[list]) -> float:
    """Expected minutes until the culprit is found, when the tests are made in this order."""
    spent = expected = 0.0
    for _, chance, price in order:
        spent += price
        expected += chance * spent
    return expected


def check_next_test(test_order: Callable[[list[list]], list[str]]) -> None:
    """The order of tests must cost as few minutes, on average, as any."""
    for suspects in SUSPECTS:
        given = [list(one) for one in suspects]
        names = data(test_order(given))
        placeholder_in(names)
        if given != suspects:
            raise Told("changed")
        by_name = {one[0]: one for one in suspects}
        if (
            not isinstance(names, list)
            or any(not isinstance(one, str) for one in names)
            or sorted(names) != sorted(by_name)
        ):
            raise Told("names", names=names)
        yours_min = minutes([by_name[one] for one in names])
        best = min(itertools.permutations(suspects), key=lambda order: minutes(list(order)))
        best_min = minutes(list(best))
        if yours_min > best_min + 1e-9:
            best = " → ".join(one[0] for one in best)
            raise Told("dear", yours=" → ".join(names), yours_min=yours_min, best=best, best_min=best_min)


CHECKS = {"11-first-bad": check_first_bad, "11-next-test": check_next_test}
