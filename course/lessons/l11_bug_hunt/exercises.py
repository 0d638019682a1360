"""Code tasks of lesson 11: halve the suspects, and order the tests."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from course.core.i18n import both
from course.core.verdict import Verdict, correct, incorrect, not_attempted, partly
from course.exercises.slips import data

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


def check_first_bad(first_bad: Callable[[int, Callable[[int], bool]], int]) -> Verdict:
    """Right for every place of the fault in scripts of several lengths, with few questions."""
    worst = 0
    for lines in (1, 2, 3, 8, 13, 64):
        for bad in range(1, lines + 1):
            asked = Asked(lines, bad)
            found = data(first_bad(lines, asked))
            if found is ... or found is None:
                return not_attempted(both("Nothing comes back yet.", "还没有返回值。"), reason="placeholder")
            if asked.odd is not None:
                return incorrect(
                    both(
                        f"It asks about the first {asked.odd!r} lines of {lines}: ask about 0 to {lines}.",
                        f"它问了前 {asked.odd!r} 行，可脚本一共 {lines} 行：只能问 0 到 {lines}。",
                    ),
                    reason="range",
                )
            if found != bad or isinstance(found, bool):
                return incorrect(
                    both(
                        f"With {lines} lines and the fault on line {bad} it says {found!r}.",
                        f"一共 {lines} 行、毛病在第 {bad} 行时，它说 {found!r}。",
                    ),
                    reason="wrong",
                )
            if lines == 64:
                worst = max(worst, asked.times)
    if worst > 8:
        return partly(
            0.5,
            1.0,
            both(
                f"Always right. But 64 lines take it up to {worst} runs; by halving, 6 or 7 are enough.",
                f"每次都对。可 64 行最多要跑 {worst} 次；对半分，6、7 次就够。",
            ),
            reason="slow",
        )
    return correct(
        both(
            f"Right everywhere, and 64 lines take at most {worst} runs. A thousand lines would take ten.",
            f"处处正确，64 行最多跑 {worst} 次。一千行也不过十来次。",
        )
    )


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


def check_next_test(test_order: Callable[[list[list]], list[str]]) -> Verdict:
    """The order of tests must cost as few minutes, on average, as any."""
    for suspects in SUSPECTS:
        given = [list(one) for one in suspects]
        names = data(test_order(given))
        if names is ... or names is None:
            return not_attempted(both("Nothing comes back yet.", "还没有返回值。"), reason="placeholder")
        if given != suspects:
            return incorrect(both("It changed the list it was given.", "它改动了传进来的列表。"), reason="changed")
        by_name = {one[0]: one for one in suspects}
        if (
            not isinstance(names, list)
            or any(not isinstance(one, str) for one in names)
            or sorted(names) != sorted(by_name)
        ):
            return incorrect(
                both(
                    f"A list of all the names is expected, not {names!r}.", f"应返回全部名字的列表，而不是 {names!r}。"
                ),
                reason="names",
            )
        yours = minutes([by_name[one] for one in names])
        best = min(itertools.permutations(suspects), key=lambda order: minutes(list(order)))
        if yours > minutes(list(best)) + 1e-9:
            return incorrect(
                both(
                    f"{' → '.join(names)} takes {yours:.1f} minutes on average; "
                    f"{' → '.join(one[0] for one in best)} takes {minutes(list(best)):.1f}.",
                    f"{' → '.join(names)} 平均要 {yours:.1f} 分钟；"
                    f"{' → '.join(one[0] for one in best)} 只要 {minutes(list(best)):.1f} 分钟。",
                ),
                reason="dear",
            )
    return correct(
        both(
            "No order is cheaper. A likely suspect may wait, if the test of it is long; a cheap test of an unlikely one may come first.",
            "没有更省的顺序了。嫌疑再大，测起来太费时也可以往后放；嫌疑不大，一分钟就能测，不妨先测。",
        )
    )


CHECKS = {"11-first-bad": check_first_bad, "11-next-test": check_next_test}
