"""Hidden tasks of checkpoint 02: the interval of a median, a verdict, and a report judged on protocol."""

from __future__ import annotations

import math
import random
from typing import Any

from course.i18n import Text, both
from course.verdict import Verdict, correct, incorrect, not_attempted, partly
from grader.task import Case, Part, Task

CLAIMS = ("faster", "slower", "same", "undecided")
FIELDS = ("device", "threads", "warmup_calls", "fence", "rounds", "ratio", "low", "high", "gate", "claim")
LEAST_WARMUP, LEAST_ROUNDS = 3, 10
WIDEST_GATE = 0.2
TOO_SMALL = 0.005  # `compare` names no winner for a smaller gap, so neither need a report


# --- interval_of_median --------------------------------------------------------------------------------

def interval_cases(rng: random.Random) -> list[Case]:
    """Unsorted readings with a few interruptions, and sets too small for an interval."""
    def readings(count: int) -> list[float]:
        return [round(rng.uniform(1, 2) + (rng.random() < 0.1) * rng.uniform(5, 50), 4) for _ in range(count)]

    counts = [6, 7, 12, 20, *rng.sample(range(8, 60), 4)]
    few = [1, 5, rng.choice([2, 3, 4])]
    return [Case("typical", (readings(n),)) for n in counts] + [Case("few", (readings(n),)) for n in few]


def interval_reference(samples: list[float]) -> list[float] | None:
    """[low, high] after cutting as many readings at each end as 95 % allow; None below six readings."""
    count, ordered = len(samples), sorted(samples)
    total, kept = 0, None
    for k in range(count):
        total += math.comb(count, k)
        if 2 * total > 0.05 * 2**count:
            break
        kept = k
    return None if kept is None else [ordered[kept], ordered[-1 - kept]]


# --- honest_verdict ------------------------------------------------------------------------------------

def verdict_cases(rng: random.Random) -> list[Case]:
    """Winners (also tiny ones inside the gate), narrow intervals around 1, and wide ones."""
    gate = rng.choice([0.02, 0.03, 0.05])
    small = gate / 4
    winners = [(0.8, 0.9), (1.1, 1.3), (0.5, 0.999), (1.001, 3.0), (1 - 2 * small, 1 - small),
               (1 + small, 1 + 2 * small)]
    same = [(1 - small, 1 + small), (1.0, 1 + small), (1 - small, 1.0)]
    undecided = [(0.9, 1.1), (1 - small, 1.2), (0.7, 1 + small), (1.0, 1 + 3 * gate), (1 - 3 * gate, 1.0)]
    cases = [(part, (low, high, gate)) for part, pairs in
             (("winner", winners), ("same", same), ("undecided", undecided)) for low, high in pairs]
    rng.shuffle(cases)
    return [Case(part, args) for part, args in cases]


def verdict_reference(low: float, high: float, gate: float) -> str:
    """faster | slower | same | undecided."""
    if high < 1:
        return "faster"
    if low > 1:
        return "slower"
    return "same" if 1 - gate <= low and high <= 1 + gate else "undecided"


# --- report --------------------------------------------------------------------------------------------

def _number(value: Any, least: float = -math.inf) -> bool:
    return (isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
            and value >= least)


def _supported(claim: str, report: dict) -> float:
    """1 for a claim that the interval carries, 0.5 for modesty where more could be said, 0 otherwise."""
    low, high, gate = (report[name] for name in ("low", "high", "gate"))
    carried = {"faster": high < 1, "slower": low > 1, "same": 1 - gate <= low and high <= 1 + gate}
    if claim == "undecided":
        tiny = abs(report["ratio"] - 1) <= TOO_SMALL and not carried["same"]
        return 0.5 if any(carried.values()) and not tiny else 1.0
    return 1.0 if carried[claim] else 0.0


def judge_report(report: Any) -> Verdict:
    """A point each for warm-up, fence, repeats with an interval, and an honest claim. None for speed."""
    if not isinstance(report, dict):
        return incorrect(both("`report` should be a dictionary.", "`report` 应当是一个字典。"), max_points=4)
    if all(report.get(name) in (None, "...") for name in FIELDS):
        return not_attempted(both("The report is still empty.", "报告还是空的。"), max_points=4)
    marks = [_warm(report), _fence(report), _repeat(report), _claim(report)]
    points, reasons = sum(mark for mark, _ in marks), [reason for _, reason in marks if reason]
    if points == 4:
        return correct(both("Warm-up, fence, repeats and claim hold together.", "预热、栅栏、重复和结论都站得住。"),
                       points=4.0)
    return partly(points, 4.0, *reasons) if points else incorrect(*reasons, max_points=4.0)


Mark = tuple[float, Text | None]


def _warm(report: dict) -> Mark:
    if _number(report.get("warmup_calls"), LEAST_WARMUP):
        return 1.0, None
    return 0.0, both(f"warm: `warmup_calls` should be a number, {LEAST_WARMUP} or more; first calls pay "
                     f"for preparation.",
                     f"预热：`warmup_calls` 应为不小于 {LEAST_WARMUP} 的数；第一次调用要为准备工作付费。")


def _fence(report: dict) -> Mark:
    device, fence = str(report.get("device", "")).lower(), str(report.get("fence", "")).lower().strip()
    if not device or device == "none":
        return 0.0, both("fence: without `device` nobody can tell which fence is right.",
                         "栅栏：没有写 `device`，无从判断该用哪种栅栏。")
    on_cpu = device.startswith("cpu")
    good = fence in ("none needed", "synchronize") if on_cpu else fence in ("synchronize", "events")
    if good:
        return 1.0, None
    if on_cpu:
        return 0.0, both('fence: on a CPU write "none needed" (or "synchronize", which does no harm).',
                         '栅栏：在 CPU 上请写 "none needed"（写 "synchronize" 也无妨）。')
    return 0.0, both('fence: this device works through a queue; it needs "synchronize" or "events".',
                     '栅栏：这个设备按队列工作，需要 "synchronize" 或 "events"。')


def _interval_ok(report: dict) -> bool:
    values = [report.get(name) for name in ("low", "ratio", "high")]
    if not all(_number(value, 1e-9) for value in values):
        return False
    low, ratio, high = values
    return low <= ratio <= high and low < high


def _repeat(report: dict) -> Mark:
    if not _interval_ok(report):
        return 0.0, both("repeat and summarise: `low`, `ratio`, `high` should be numbers above 0, in "
                         "this order.",
                         "重复与汇总：`low`、`ratio`、`high` 应为大于 0 的数，并依次增大。")
    if not _number(report.get("rounds"), LEAST_ROUNDS):
        return 0.0, both(f"repeat: `rounds` should be {LEAST_ROUNDS} or more.",
                         f"重复：`rounds` 应不小于 {LEAST_ROUNDS}。")
    return 1.0, None


def _claim(report: dict) -> Mark:
    claim, gate = str(report.get("claim", "")).lower().strip(), report.get("gate")
    if claim not in CLAIMS:
        return 0.0, both(f"report: `claim` should be one of {', '.join(CLAIMS)}.",
                         f"报告：`claim` 应为 {'、'.join(CLAIMS)} 之一。")
    if not _interval_ok(report) or not _number(gate, 1e-9) or gate > WIDEST_GATE:
        return 0.0, both("report: a claim rests on an interval and on a `gate` between 0 and 0.2.",
                         "报告：结论要建立在区间和 0 到 0.2 之间的 `gate` 上。")
    if not _number(report.get("threads"), 1):
        return 0.0, both("report: `threads` is missing; it is part of every result.",
                         "报告：缺少 `threads`；它是每个结果的一部分。")
    share = _supported(claim, report)
    if share == 1:
        return 1.0, None
    if share:
        return share, both("report: the interval carries more than `undecided`; say what it shows.",
                           "报告：区间能支持的结论比 `undecided` 更多，请把它说出来。")
    return 0.0, both(f"report: the interval does not carry the claim `{claim}`.",
                     f"报告：区间支持不了 `{claim}` 这个结论。")


TASKS = [
    Task(id="02-t-interval", name="interval_of_median", cases=interval_cases, reference=interval_reference,
         parts={
             "typical": Part(2, both(
                 "Six readings or more: the two ends are those left after cutting at both sides of the "
                 "sorted list.",
                 "六个读数以上：应返回排序后两端各去掉若干个之后剩下的首尾两个值。")),
             "few": Part(1, both("Fewer than six readings carry no 95 % interval: None.",
                                 "少于六个读数给不出 95% 区间：应返回 None。"))}),
    Task(id="02-t-verdict", name="honest_verdict", cases=verdict_cases, reference=verdict_reference, parts={
        "winner": Part(1, both("An interval that excludes 1 names a winner, also a small one.",
                               "区间不含 1 就有赢家，差别再小也一样。")),
        "same": Part(1, both("An interval that holds 1 and lies inside the gate means the same.",
                             "区间包含 1 且整个在阈值之内，就是一样快。")),
        "undecided": Part(1, both("An interval that holds 1 and reaches out of the gate decides nothing.",
                                  "区间包含 1 又越过阈值，就是未定。"))}),
    Task(id="02-t-report", name="report", judge=judge_report, points=4),
]
