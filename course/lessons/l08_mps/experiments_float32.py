"""Experiment of lesson 08: what is lost without float64, simulated on the CPU."""

from __future__ import annotations

import math

import torch

from course.experiment.base import Budget, experiment
from course.experiment.words import NOTHING, word
from course.i18n import Text, both, t
from course.lessons.l08_mps.cases import CASES
from course.lessons.l08_mps.experiments import LESSON, with_bet
from course.records import Record
from course.tables import Table

# --- 08-float32-loses ---------------------------------------------------------------------------------------

CASES_SAID = {
    "count": both("a counter at 2²⁴, ten steps more", "计数器到 2²⁴ 后再走十步"),
    "elapsed": both("30 s between two Unix times", "两个 Unix 时间相差 30 s"),
    "spread": both("variance as mean(x²) − mean(x)²", "方差写成 mean(x²) − mean(x)²"),
    "log_det": both("log2 det of ½·I, 200 × 200", "½·I（200 × 200）的 log2 det"),
}


def _number(text: str) -> str:
    value = float(text)
    return f"{value:.4g}" if math.isfinite(value) else "−∞" if value < 0 else "∞" if value > 0 else "nan"


def _lost(row: dict, column: str = "float32") -> bool:
    exact, found = float(row["float64"]), float(row[column])
    return not abs(found - exact) <= 0.01 * abs(exact)


def headline_float32_loses(record: Record) -> Text:
    lost = [row for row in record.rows if _lost(row)]
    if not lost:
        return both("float32 gave the same results as float64 here.", "这里用 float32，结果和 float64 一样。")
    every = len(lost) == len(record.rows)
    if any(_lost(row, "cured") for row in lost):
        return both(
            "float32 spoils results here, and rewriting does not save all.",
            "float32 把结果算坏了，换写法也救不回全部。",
        )
    return both(
        f"float32 spoils {'these results' if every else 'some results'}; rewritten, they are right.",
        f"float32 算坏了{'这些' if every else '一些'}结果，换个写法就对了。",
    )


def say_float32_loses(record: Record) -> Text:
    if not record.rows:
        return NOTHING

    def line(row: dict, code: str) -> str:
        colon = ": " if code == "en" else "："
        return f"{CASES_SAID[row['case']][code]}{colon}{_number(row['float64'])} → {_number(row['float32'])}"

    lost = [row for row in record.rows if _lost(row)]
    cured = sum(not _lost(row, "cured") for row in record.rows)
    total = len(record.rows)
    return both(
        "Simulated on the CPU, float64 → float32: "
        f"{len(lost)} of {total} results are off by more than 1 % ({'; '.join(line(row, 'en') for row in lost)}). "
        f"Rewritten without float64, {cured} of {total} are right.",
        f"在 CPU 上模拟，float64 → float32：{total} 个结果里有 {len(lost)} 个误差超过 1%（{'；'.join(line(row, 'zh') for row in lost)}）。"
        f"改写成不用 float64 的形式后，{cured} 个正确。",
    )


def draw_float32_loses(record: Record, bets: dict) -> Table:
    """Each result in float64, in float32 and rewritten; the bet stands beside the counter."""
    columns = ("float64", "float32", "cured")
    lines = [["", "float64", "float32", t("rewritten", "改写后")]]
    lines += [[word(CASES_SAID[row["case"]]), *(_number(row[column]) for column in columns)] for row in record.rows]
    marks = {
        (row, at): "told"
        for row, one in enumerate(record.rows)
        for at, column in enumerate(columns, 1)
        if _lost(one, column)
    }
    said = {"a": "10", "b": "0", "c": t("something else", "别的数")}
    counter = word(CASES_SAID["count"])
    return with_bet(lines, marks, said.get(bets.get("08-bet-counter", ""), ""), lambda name: name == counter)


def settle_float32_loses(record: Record) -> dict[str, str | None]:
    row = next((row for row in record.rows if row["case"] == "count"), None)
    if row is None:
        return {"08-bet-counter": None}
    steps = float(row["float32"])
    return {"08-bet-counter": "a" if steps == 10 else "b" if steps == 0 else "c"}


@experiment(
    name="08-float32-loses",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=2,
    title=both(
        "The same sums in float64 and float32 (on the CPU, a simulation of the Mac's limit)",
        "同样的计算，float64 与 float32（在 CPU 上，模拟 Mac 的限制）",
    ),
)
def float32_loses(budget: Budget) -> list[dict]:
    """Four everyday computations in float64, in float32, and in a form that does without float64."""
    return [
        {
            "case": name,
            "float64": str(compute(torch.float64)),
            "float32": str(compute(torch.float32)),
            "cured": str(cured()),
        }
        for name, (compute, cured) in CASES.items()
    ]
