"""Hidden cases of checkpoint 05: searches of a run, whether to search, and a report on first calls."""

from __future__ import annotations

import math
import random
import statistics
from typing import Any

from course.i18n import both
from course.verdict import Verdict, correct, incorrect, partly
from grader.task import Case, Part, Task

# --- 05-t-run ---------------------------------------------------------------------------------------------

def run_cases(rng: random.Random) -> list[Case]:
    """A remainder, none, a dropped one; fewer samples than a batch; no epoch at all."""
    def draw(part: str, samples: int, batch: int, drop_last: bool, epochs: int | None = None) -> Case:
        passes = rng.randint(2, 90) if epochs is None else epochs
        return Case(part, (samples, batch, passes, rng.randint(2, 60), drop_last))

    remainder = []
    for _ in range(4):
        batch = rng.randint(5, 200)
        samples = batch * rng.randint(2, 40) + rng.randint(1, batch - 1)
        remainder.append(draw("remainder", samples, batch, False))
    batch = rng.randint(5, 200)
    whole = batch * rng.randint(2, 40)
    return [*remainder, draw("whole", whole, batch, False), draw("whole", whole, batch, True),
            draw("whole", whole + rng.randint(1, batch - 1), batch, True),
            draw("edges", rng.randint(1, batch - 1), batch, False),
            draw("edges", rng.randint(1, batch - 1), batch, True),
            draw("edges", whole + 1, batch, False, epochs=0)]


def run_reference(samples: int, batch_size: int, epochs: int, layer_keys: int, drop_last: bool) -> int:
    """Distinct batch sizes that really occur, times the distinct convolutions of the model."""
    full, rest = divmod(samples, batch_size)
    kinds = (full > 0) + (rest > 0 and not drop_last)
    return layer_keys * kinds if epochs > 0 else 0


# --- 05-t-choice ------------------------------------------------------------------------------------------

def choice_cases(rng: random.Random) -> list[Case]:
    """Long and short runs of one shape; shapes that come back; no gain, a tie, nothing to do."""
    def shape() -> list[int]:
        return [rng.randint(1, 64), 3, rng.randint(16, 512), rng.randint(16, 512)]

    gain, slow = rng.randint(1, 4) * 0.5, rng.randint(5, 20) * 1.0
    search, one = rng.randint(40, 90) * 1.0, shape()
    enough = int(search / gain)
    several = [shape() for _ in range(4)]
    bill = (search, slow, slow - gain)
    return [Case("one shape", ([one] * (enough + 5), *bill)),
            Case("one shape", ([one] * (enough - 5), *bill)),
            Case("one shape", ([one] * 3, *bill)),
            Case("return", (several * (enough + 3), *bill)), Case("return", (several * (enough - 3), *bill)),
            Case("return", ([shape() for _ in range(30)], *bill)),
            Case("return", ([one] * (2 * enough - 4) + [[one[0] + 1, *one[1:]]], *bill)),
            Case("edges", ([one] * 50, search, slow, slow)), Case("edges", ([one] * 50, 8.0, 4.0, 5.0)),
            Case("edges", ([one] * 20, 20.0, 4.0, 3.0)), Case("edges", ([], search, slow, slow - gain))]


def choice_reference(shapes: list[list[int]], search_ms: float, slow_ms: float, fast_ms: float) -> bool:
    """True where all searches together cost less than all steps together gain."""
    return len({tuple(shape) for shape in shapes}) * search_ms < len(shapes) * (slow_ms - fast_ms)


# --- 05-t-report ------------------------------------------------------------------------------------------

CLAIMS = {"more": lambda low, high: low > 1, "less": lambda low, high: high < 1,
          "undecided": lambda low, high: low <= 1 <= high}
FENCED = {"cpu": ("none needed", "none", "synchronize"), "cuda": ("synchronize",), "mps": ("synchronize",)}
LEAST = 6  # fewer pairs carry no 95 % interval


def _numbers(value: Any) -> list[float]:
    """The values of a list of positive finite numbers; empty for anything else."""
    good = isinstance(value, list) and all(
        isinstance(v, (int, float)) and not isinstance(v, bool) and math.isfinite(v) and v > 0 for v in value)
    return value if good else []


def judge_report(report: Any) -> Verdict:
    """One point each: enough pairs, a fence fit for the device, a claim fit for the interval. Never speed."""
    if not isinstance(report, dict):
        return incorrect(both("The report is not a dictionary.", "报告不是字典。"), max_points=3)
    first, later = _numbers(report.get("first_ms")), _numbers(report.get("later_ms"))
    low, high = (_numbers([report.get(name)]) for name in ("low", "high"))
    reasons = []
    paired = len(first) == len(later) >= LEAST
    if not paired:
        reasons.append(both(
            f"At least {LEAST} first calls and as many later ones are needed: one pair could be an accident.",
            f"至少需要 {LEAST} 个第一次调用的读数和同样多的后续读数：只有一对可能是偶然。"))
    fenced = report.get("fence") in FENCED.get(str(report.get("device")), ())
    if not fenced:
        reasons.append(both("The fence does not fit the device: on a GPU the clock must wait before it is "
                            "read.",
                            "栅栏与设备不符：在 GPU 上，读表之前必须等待。"))
    honest = bool(paired and low and high and low[0] <= high[0] and _supported(report, first, later))
    if not honest:
        reasons.append(both(
            "Claim and interval do not fit: the interval must hold the median of first over later, and "
            "`more` needs it above 1.",
            "结论与区间不符：区间应包含“首次除以后续”的中位数；声称 `more` 时，区间必须整个大于 1。"))
    points = paired + fenced + honest
    if points == 3:
        return correct(both("Enough pairs, a fence, and a claim the interval carries.",
                            "对数足够，有栅栏，结论也有区间支撑。"), points=3)
    return partly(points, 3, *reasons) if points else incorrect(*reasons, max_points=3)


def _supported(report: dict, first: list[float], later: list[float]) -> bool:
    low, high = report["low"], report["high"]
    middle = statistics.median(a / b for a, b in zip(first, later, strict=True))
    fits = CLAIMS.get(str(report.get("claim")))
    return fits is not None and fits(low, high) and low * 0.999 <= middle <= high * 1.001


TASKS = [
    Task(id="05-t-run", name="searches_of_run", cases=run_cases, reference=run_reference, parts={
        "remainder": Part(2, both("Wrong where the last batch is smaller.", "最后一个 batch 较小时不对。")),
        "whole": Part(1, both("Wrong where no smaller batch reaches the model.", "没有较小的 batch 进入模型时不对。")),
        "edges": Part(1, both("Wrong where there are fewer samples than one batch, or no epoch.",
                              "样本不足一个 batch，或一个 epoch 都没有时不对。"))}),
    Task(id="05-t-choice", name="choose_benchmark", cases=choice_cases, reference=choice_reference, parts={
        "one shape": Part(2, both("Wrong for a run with one shape.", "只有一种形状时不对。")),
        "return": Part(2, both("Wrong where several shapes occur, some of them again and again.",
                               "出现多种形状、有的反复出现时不对。")),
        "edges": Part(1, both("Wrong without a gain, at a tie, or for an empty run.",
                              "没有收益、打平或一步都没有时不对。"))}),
    Task(id="05-t-report", name="report", judge=judge_report, points=3),
]
