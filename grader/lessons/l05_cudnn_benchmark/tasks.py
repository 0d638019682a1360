"""Hidden cases of checkpoint 05: searches of a run, whether to search, and a report on first calls."""

from __future__ import annotations

import random
from typing import Any

from grader.lessons import reports
from grader.lessons.reports import Mark
from grader.marking.said import beside
from grader.project.task import Case, Task, parts_beside

say = beside(__file__)

# --- 05-t-run ---------------------------------------------------------------------------------------------


def run_cases(rng: random.Random) -> list[Case]:
    """A remainder (also of one sample, also in one epoch), none, a dropped one, one full batch; less than that; no epoch."""

    def draw(part: str, samples: int, batch: int, drop_last: bool, epochs: int | None = None) -> Case:
        passes = rng.randint(2, 90) if epochs is None else epochs
        return Case(part, (samples, batch, passes, rng.randint(2, 60), drop_last))

    def batch() -> int:
        return rng.randint(5, 200)

    remainder = []
    for epochs in (None, None, None, 1):
        size = batch()
        remainder.append(draw("remainder", size * rng.randint(2, 40) + rng.randint(2, size - 1), size, False, epochs))
    size, many = batch(), rng.randint(2, 40)
    return [
        *remainder,
        draw("remainder", size * many + 1, size, False),
        draw("remainder", size + 1, size, False),
        draw("whole", size * many, size, False),
        draw("whole", size * many, size, True, 1),
        draw("whole", size * many + rng.randint(1, size - 1), size, True),
        draw("whole", size, size, False),
        draw("whole", size, size, True),
        draw("whole", many, 1, False),
        draw("edges", rng.randint(1, size - 1), size, False),
        draw("edges", rng.randint(1, size - 1), size, True),
        draw("edges", rng.randint(2, size - 1), size, False, 1),
        draw("edges", size * many + 1, size, False, 0),
    ]


# --- 05-t-choice ------------------------------------------------------------------------------------------


def choice_cases(rng: random.Random) -> list[Case]:
    """Long and short runs of one shape; shapes that differ in one number and come back; no gain, a tie, nothing to do."""

    def shape() -> list[int]:
        return [rng.randint(2, 64), rng.randint(2, 9), rng.randint(16, 250), rng.randint(251, 512)]

    def otherwise(one: list[int], place: int) -> list[int]:
        return [*one[:place], one[place] + rng.randint(1, 9), *one[place + 1 :]]

    def bill() -> tuple[float, float, float, int]:
        """The price of a search, of a step without and with it, and the steps at which one search is paid for exactly."""
        enough, gain, slow = rng.randint(12, 40), rng.randint(1, 4) * 0.5, rng.randint(5, 20) * 1.0
        return enough * gain, slow, slow - gain, enough

    def case(part: str, share: float, shapes: list[list[int]]) -> Case:
        """The shapes over and over, for ``share`` times the steps that pay for one search."""
        *costs, enough = bill()
        steps = max(1, round(share * enough))
        return Case(part, ([shapes[step % len(shapes)] for step in range(steps)], *costs))

    one = shape()
    cases = [
        case("one_shape", share, [shape()])
        for share in (1.5, 2.5, rng.uniform(1.1, 9), 0.6, 0.2, rng.uniform(0.1, 0.8))
    ]
    for place in range(4):  # two shapes that differ in one number: between one search and two, and beyond both
        cases += [case("return", share, [one, otherwise(one, place)]) for share in (1.5, 2.6)]
    cases += [
        case("return", share, [one, [*one[:2], one[3], one[2]]]) for share in (1.5, 2.6)
    ]  # equal products and sums
    *costs, enough = bill()
    often = [one] * (3 * enough)
    often.insert(rng.randrange(len(often)), otherwise(one, 0))  # one shape comes once, the other pays for both
    cases += [Case("return", (often, *costs)), case("return", 1.0, [shape() for _ in range(30)])]
    search, slow, fast, enough = bill()
    return [
        *cases,
        Case("edges", ([one] * enough, search, slow, fast)),
        Case("edges", ([one] * (enough + 1), search, slow, fast)),
        Case("edges", ([one] * 50, search, slow, slow)),
        Case("edges", ([one] * 50, 8.0, slow, slow + 1)),
        Case("edges", ([one], slow - fast + 1.0, slow, fast)),
        Case("edges", ([one], (slow - fast) / 2, slow, fast)),
        Case("edges", ([], search, slow, fast)),
        Case("edges", ([one, shape()], 0.0, slow, fast)),
    ]


# --- 05-t-report ------------------------------------------------------------------------------------------

FIELDS = ("device", "fence", "first_ms", "later_ms", "low", "high", "claim")
PAIRS = ("first_ms", "later_ms")
FENCED = {
    "cpu": ("none needed", "none", "synchronize", "events"),
    "cuda": ("synchronize", "events"),
    "mps": ("synchronize", "events"),
}
RATIOS = say("ratios")


def judge_report(report: Any) -> reports.Verdict:
    """One point each: enough pairs, a fence fit for the device, a claim fit for the interval. Never speed."""
    return reports.judged(report, FIELDS, {"pairs": _pairs, "fence": _fence, "claim": _claim}, say("praise"))


def _pairs(report: dict) -> Mark:
    return reports.paired(report, PAIRS)


def _fence(report: dict) -> Mark:
    device = reports.words(report.get("device")).split(":")[0]
    if device not in FENCED:
        return 0.0, say("no-device")
    if reports.words(report.get("fence")) in FENCED[device]:
        return 1.0, None
    return 0.0, say("other-fence")


def _claim(report: dict) -> Mark:
    return reports.claim(report, PAIRS, RATIOS, below="less", above="more")


PARTS = parts_beside(__file__)
TASKS = [
    Task(id="05-t-run", name="searches_of_run", cases=run_cases, parts=PARTS["05-t-run"]),
    Task(id="05-t-choice", name="choose_benchmark", cases=choice_cases, parts=PARTS["05-t-choice"]),
    Task(id="05-t-report", name="report", judge=judge_report, points=3),
]
