"""Hidden cases of checkpoint 07: gaps between numbers, who may use TF32, and a report on an error."""

from __future__ import annotations

import math
import random
import statistics
from typing import Any

from course.i18n import both
from course.verdict import Verdict, correct, incorrect, partly
from grader.task import Case, Part, Task

# --- 07-t-spacing -----------------------------------------------------------------------------------------

def spacing_cases(rng: random.Random) -> list[Case]:
    """Numbers above 1, exact powers of two, numbers below 1, negative ones."""
    bits = [7, 10, 23]

    def between(low: int, high: int) -> float:
        return rng.uniform(1.1, 1.9) * 2.0 ** rng.randint(low, high)

    return [*(Case("typical", (between(1, 18), one)) for one in bits),
            *(Case("powers", (2.0 ** rng.randint(2, 20), one)) for one in bits),
            *(Case("small", (between(-20, -2), one)) for one in bits),
            *(Case("negative", (-between(-9, 12), one)) for one in bits)]


def spacing_reference(x: float, bits: int) -> float:
    """From |x| in [2**e, 2**(e + 1)) the step is 2**(e - bits)."""
    return 2.0 ** (math.frexp(abs(x))[1] - 1 - bits)


# --- 07-t-leaves ------------------------------------------------------------------------------------------

LEAVES = ("cuda.conv", "cuda.matmul", "cuda.rnn", "mkldnn.conv", "mkldnn.matmul", "mkldnn.rnn")


def leaves_cases(rng: random.Random) -> list[Case]:
    """Leaves of their own; a branch beside leaves; the root beside both; nothing stored."""
    def drawn(names: list[str], values: tuple[str, ...]) -> dict[str, str]:
        return {name: rng.choice(values) for name in names}

    some = rng.sample(LEAVES, 3)
    branch, other = rng.sample(["cuda", "mkldnn"], 2)
    inside = rng.choice([leaf for leaf in LEAVES if leaf.startswith(branch)])
    return [Case("leaf", ({some[0]: "tf32", some[1]: "ieee", some[2]: "none"},)),
            Case("leaf", ({**drawn(list(LEAVES), ("none", "ieee")), some[0]: "tf32"},)), Case("leaf", ({},)),
            Case("branch", ({branch: "tf32"},)), Case("branch", ({branch: "tf32", inside: "ieee"},)),
            Case("branch", ({branch: "ieee", inside: "tf32", other: "none"},)),
            Case("root", ({"root": "tf32"},)), Case("root", ({"root": "tf32", branch: "ieee", inside: "none"},)),
            Case("root", ({"root": "tf32", branch: "ieee", inside: "tf32"},)),
            Case("root", ({"root": "ieee", branch: "tf32", inside: "ieee"},))]


def leaves_reference(stored: dict[str, str]) -> list[str]:
    """Sorted leaves whose first stored value upwards, other than none, is tf32; a missing node holds none."""
    found = []
    for leaf in LEAVES:
        chain = (stored.get(node, "none") for node in (leaf, leaf.split(".")[0], "root"))
        if next((value for value in chain if value != "none"), "none") == "tf32":
            found.append(leaf)
    return sorted(found)


# --- 07-t-report ------------------------------------------------------------------------------------------

CLAIMS = {"harmless": lambda low, high, limit: high < limit, "harmful": lambda low, high, limit: low > limit,
          "undecided": lambda low, high, limit: low <= limit <= high}
LEAST = 6  # fewer errors carry no 95 % interval


def _numbers(value: Any) -> list[float]:
    """The values of a list of finite numbers, none below 0 (exact products exist); empty for anything else."""
    good = isinstance(value, list) and all(
        isinstance(v, (int, float)) and not isinstance(v, bool) and math.isfinite(v) and v >= 0 for v in value)
    return value if good else []


def judge_report(report: Any) -> Verdict:
    """One point each: enough inputs, a better reference, a claim the interval carries. Never how small."""
    if not isinstance(report, dict):
        return incorrect(both("The report is not a dictionary.", "报告不是字典。"), max_points=3)
    errors = _numbers(report.get("errors"))
    low, high, limit = (_numbers([report.get(name)]) for name in ("low", "high", "tolerance"))
    reasons = []
    enough = len(errors) >= LEAST
    if not enough:
        reasons.append(both(f"Errors of at least {LEAST} different inputs are needed: one could be luck.",
                            f"至少需要 {LEAST} 组不同输入的误差：只有一组可能是碰巧。"))
    better = report.get("reference") == "float64"
    if not better:
        reasons.append(both("The reference should be exacter than what is judged: float64. Against float32 you "
                            "see two errors at once.",
                            "参考应比被评判者更精确，即 float64。拿 float32 作参考，看到的是两份误差。"))
    honest = bool(enough and low and high and limit and 0 < limit[0] and low[0] <= high[0]
                  and _supported(report, errors))
    if not honest:
        reasons.append(both("Claim and interval do not fit: the interval must hold the median of the errors, and "
                            "the claim compares all of it with the tolerance.",
                            "结论与区间不符：区间应包含误差的中位数，而结论要拿整个区间与容忍度比较。"))
    points = enough + better + honest
    if points == 3:
        return correct(both("Enough inputs, a better reference, and a claim the interval carries.",
                            "输入够多，参考够好，结论也有区间支撑。"), points=3)
    return partly(points, 3, *reasons) if points else incorrect(*reasons, max_points=3)


def _supported(report: dict, errors: list[float]) -> bool:
    low, high, middle = report["low"], report["high"], statistics.median(errors)
    fits = CLAIMS.get(str(report.get("claim")))
    return fits is not None and fits(low, high, report["tolerance"]) and low * 0.999 <= middle <= high * 1.001


TASKS = [
    Task(id="07-t-spacing", name="spacing", cases=spacing_cases, reference=spacing_reference, parts={
        "typical": Part(1, both("Wrong for numbers between two powers of two.", "遇到介于两个 2 的幂之间的数时不对。")),
        "powers": Part(1, both("Wrong at an exact power of two, where the step widens.", "恰好是 2 的幂时不对：间隔在此变大。")),
        "small": Part(1, both("Wrong for numbers below 1.", "遇到小于 1 的数时不对。")),
        "negative": Part(1, both("Wrong for negative numbers: a gap has no sign.", "遇到负数时不对：间隔没有正负。"))}),
    Task(id="07-t-leaves", name="tf32_leaves", cases=leaves_cases, reference=leaves_reference, parts={
        "leaf": Part(1, both("Wrong where only leaves are set, or nothing is.", "只设了叶子、或什么都没设时不对。")),
        "branch": Part(1, both("Wrong where a branch is set.", "设了分支时不对。")),
        "root": Part(2, both("Wrong where the root is set, beside a branch or a leaf.", "设了根，又设了分支或叶子时不对。"))}),
    Task(id="07-t-report", name="report", judge=judge_report, points=3),
]
