"""Hidden cases of checkpoint 14: where two results part, and which shapes a program accepts. Plain Python, no torch."""

from __future__ import annotations

import random

from grader.project.task import Case, Task, parts_beside

NAN = float("nan")

# --- 14-t-differ ------------------------------------------------------------------------------------------


def differ_cases(rng: random.Random) -> list[Case]:
    """Values in eighths, so that every difference and tolerance is exact: just inside, on the edge, just outside."""

    def values(count: int) -> list[float]:
        return [rng.choice((-1, 1)) * rng.randint(8, 160) / 8 for _ in range(count)]

    def off(
        part: str, rtol: float, atol: float, beyond: float, sign: int, second: bool = False, which: int = 0
    ) -> Case:
        """One value is off by its tolerance and `beyond`, up or down; with `second` a later one, further off, too."""
        ours = values(rng.randint(5, 9))
        place = rng.randint(1, len(ours) - 3)
        ours[place] = (which or rng.choice((-1, 1))) * rng.choice((8.0, 16.0, 32.0))
        theirs = list(ours)
        theirs[0] += (atol + rtol * abs(ours[0])) / 2  # not equal, and still within
        theirs[place] += sign * (atol + rtol * abs(ours[place]) + beyond)
        if second:
            theirs[-1] += 999.0
        return Case(part, (ours, theirs, rtol, atol))

    same = values(6)
    zero = [0.0, *values(4)]
    small = [rng.randint(1, 3) / 64, *zero[1:]]
    pairs = [(sign, which) for sign in (1, -1) for which in (1, -1)]
    blank = [abs(value) for value in values(rng.randint(4, 7))]
    place = rng.randrange(len(blank))
    return [
        *(off("place", 0.125, 0.0, 0.125, sign, which=which) for sign, which in pairs),
        *(off("place", 0.0, 0.5, 0.125, sign, which=which) for sign, which in pairs),
        *(off("place", 0.125, 0.25, 0.125, sign, which=which) for sign, which in pairs),
        off("place", 0.0, 0.5, 0.25, 1, second=True),
        off("place", 0.125, 0.0, 0.5, -1, second=True),
        Case("place", (same, [same[0] + 99.0, *same[1:]], 0.125, 0.5)),
        Case("place", (same, [*same[:-1], same[-1] - 99.0], 0.125, 0.5)),
        *(off("agree", 0.125, 0.25, 0.0, sign, which=which) for sign, which in pairs),
        *(off("agree", 0.125, 0.0, 0.0, sign, which=which) for sign, which in pairs),
        *(off("agree", 0.125, 0.25, -0.125, sign, which=which) for sign, which in pairs),
        Case("agree", (same, same, 0.0, 0.0)),
        Case("agree", (zero, small, 0.125, 0.0625)),
        Case("agree", (same, [same[0] + 99.0, *same[1:]], 0.125, 0.5)),  # no part has one answer throughout
        Case("odd", (blank, [*blank[:place], NAN, *blank[place + 1 :]], 0.5, 0.5)),
        Case("odd", ([*blank[:place], NAN, *blank[place + 1 :]], blank, 0.5, 0.5)),
        Case("odd", ([NAN], [NAN], 0.5, 0.5)),
        Case("odd", (same, same[:-1], 0.5, 0.5)),
        Case("odd", (same[:-1], same, 0.5, 0.5)),
        Case("odd", ([], same, 0.5, 0.5)),
        Case("odd", ([], [], 0.5, 0.5)),
    ]


# --- 14-t-accepts -----------------------------------------------------------------------------------------


def accepts_cases(rng: random.Random) -> list[Case]:
    """A fixed program; one free dimension at and beyond its ends; two of one name, two of two names; other ranks."""

    def shape() -> list[int]:
        return [rng.randint(2, 9), rng.randint(2, 5), rng.randint(20, 60), rng.randint(61, 90)]

    def other(one: list[int], place: int, size: int) -> list[int]:
        return [*one[:place], size, *one[place + 1 :]]

    cases = []
    for _ in range(3):
        one = shape()
        moved = [other(one, place, one[place] + step) for place in range(4) for step in (1, -1)]
        asked = [one, *moved, one[::-1]]
        cases.append(Case("fixed", (one, [None] * 4, asked)))
    cases.append(Case("fixed", (one, [None] * 4, asked[::-1])))
    for place in range(4):
        one, least, most = shape(), rng.randint(2, 4), rng.randint(95, 120)
        free = [["size", least, most] if at == place else None for at in range(4)]
        sizes = rng.sample((least - 1, least, least + 1, most - 1, most, most + 1), 6)
        neighbours = [other(other(one, place, least + 1), (place + 1) % 4, 1000)]
        cases.append(Case("range", (one, free, [*(other(one, place, size) for size in sizes), *neighbours])))
    for _ in range(2):
        one = shape()
        one[3] = one[2]
        square = [["batch", 1, 64], None, ["side", 8, 99], ["side", 8, 99]]
        asked = [[3, one[1], size, size] for size in (8, 50, 99, 100, 7)]
        asked += [[3, one[1], 50, 51], [3, one[1], 51, 50], [50, one[1], 50, 50], [65, one[1], 50, 50]]
        cases.append(Case("names", (one, square, asked)))
        cases.append(
            Case(
                "names", (shape(), [["n", 1, 9], ["c", 1, 9], ["h", 1, 99], ["w", 1, 99]], [[1, 2, 3, 4], [5, 5, 7, 7]])
            )
        )
        cases.append(
            Case(
                "names",
                ([4, 4, 4], [["a", 2, 9], ["a", 2, 9], ["a", 2, 9]], [[3, 3, 3], [3, 3, 4], [4, 3, 3], [3, 4, 3]]),
            )
        )
    one = shape()
    free = [["batch", 1, 64], None, None, None]
    cases.append(Case("rank", (one, free, [one[:3], [*one, 1], [1, *one], one])))
    cases.append(Case("rank", ([5], [["n", 1, 9]], [[5], [], [5, 5], [9]])))
    cases.append(Case("rank", ([], [], [[], [1]])))
    cases.append(Case("rank", (one, free, [])))
    return cases


PARTS = parts_beside(__file__)
TASKS = [
    Task(id="14-t-differ", name="first_difference", cases=differ_cases, parts=PARTS["14-t-differ"]),
    Task(id="14-t-accepts", name="accepts", cases=accepts_cases, parts=PARTS["14-t-accepts"]),
]
