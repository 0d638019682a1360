"""Code tasks of lesson 11: halve the suspects, and order the tests. Then the checkpoint's visible checks: form alone."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from course.checking import data, form_is_fine
from course.exercise import Exercise
from course.i18n import both
from course.verdict import Verdict, correct, incorrect, not_attempted, partly

LESSON = "11_bug_hunt"

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


FIRST_BAD = Exercise(
    id="11-first-bad",
    lesson=LESSON,
    title=both("Find the first bad line by halving", "对半分，找到第一行坏的"),
    name="first_bad",
    check=check_first_bad,
    minutes=6,
    hints=(
        both(
            "Keep two numbers: so many lines are known to be good, so many are known to show the symptom.",
            "记两个数：前多少行已知没事，前多少行已知有症状。",
        ),
        both(
            "Ask about the middle of the two; the answer moves one of them. Stop when they are neighbours.",
            "问两者的中间，根据回答挪动其中一个；两个数挨着了就停。",
        ),
        both(
            "Start with good = 0 and bad = lines: without a line there is no symptom, with all of them there is.",
            "从 good = 0、bad = lines 开始：一行没有就没症状，全部都在就有症状。",
        ),
    ),
    solution="""def first_bad(lines, symptom):
    good, bad = 0, lines
    while bad - good > 1:
        middle = (good + bad) // 2
        if symptom(middle):
            bad = middle
        else:
            good = middle
    return bad
""",
    why=both(
        "Each run halves what is left. `git bisect` does the same with commits.",
        "每跑一次，嫌疑减半。`git bisect` 对提交做的就是同一件事。",
    ),
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


NEXT_TEST = Exercise(
    id="11-next-test",
    lesson=LESSON,
    title=both("Which test first?", "先做哪个测试？"),
    name="test_order",
    check=check_next_test,
    minutes=5,
    hints=(
        both(
            "Neither the likeliest nor the cheapest alone: weigh one against the other.",
            "不是只看嫌疑，也不是只看费时：两样放在一起掂量。",
        ),
        both("How many minutes does a test cost for each chance of success?", "每一分把握，要花多少分钟？"),
        both("Sort by minutes / chance, smallest first.", "按“分钟 ÷ 可能性”从小到大排。"),
    ),
    solution="""def test_order(suspects):
    ranked = sorted(suspects, key=lambda one: one[2] / one[1])
    return [name for name, chance, minutes in ranked]
""",
    why=both(
        "Swap two neighbours: the average changes by chance × minutes of one against the other. So the ratio decides.",
        "把相邻的两个换一换，平均时间只变了一点：这个的可能性 × 那个的分钟，减去那个的可能性 × 这个的分钟。所以看比值。",
    ),
)

# --- the checkpoint: the form of an answer, nothing about its value ---------------------------------------------------


def _form_of_verdict(verdict: Callable[..., Any]) -> Verdict:
    got = data(verdict({"ratio": 2.9, "output": [1.0], "left": {}}, {"ratio": 1.0, "output": [1.0], "left": {}}, 1.15))
    if isinstance(got, str):
        return form_is_fine(both("The form is right: it gives back a text.", "形式正确：返回的是文本。"))
    return incorrect(both(f"A text is expected, not {got!r}.", f"应返回文本，而不是 {got!r}。"), reason="form")


def _form_of_culprit(culprit: Callable[..., Any]) -> Verdict:
    got = data(culprit([[[], False], [["a"], True], [["b"], False]]))
    if got is None or isinstance(got, str):
        return form_is_fine(both("The form is right: a name or None.", "形式正确：一个名字或 None。"))
    return incorrect(
        both(f"A name or `None` is expected, not {got!r}.", f"应返回名字或 `None`，而不是 {got!r}。"), reason="form"
    )


EXERCISES = [
    FIRST_BAD,
    NEXT_TEST,
    Exercise(
        id="11-t-verdict",
        lesson=LESSON,
        name="verdict",
        check=_form_of_verdict,
        title=both("Is it repaired?", "修好了吗？"),
    ),
    Exercise(
        id="11-t-culprit",
        lesson=LESSON,
        name="culprit",
        check=_form_of_culprit,
        title=both("Who did it?", "是谁干的？"),
    ),
]
