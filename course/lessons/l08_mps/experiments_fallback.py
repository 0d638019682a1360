"""Experiment of lesson 08: the price of falling back to the CPU, simulated there."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from course.experiment.base import Budget, experiment
from course.experiment.rows import race_row
from course.experiment.words import NOTHING, TOO_NOISY, with_interval, word
from course.figures.kinds import Bet, Ratio, ratio_rows
from course.figures.svg import SvgPicture
from course.i18n import Text, both, t
from course.lessons.l08_mps.experiments import LESSON
from course.records import Record

# --- 08-fallback-price --------------------------------------------------------------------------------------

OPS = {
    "relu": both("relu of 4,000,000 numbers", "400 万个数的 relu"),
    "svd": both("singular values of 160 × 160", "160 × 160 矩阵的奇异值"),
}


def headline_fallback_price(record: Record) -> Text:
    return {
        "a": both(
            "Falling back means extra copies: they slow relu more than an SVD.",
            "回退要多拷两次：relu 比求奇异值更吃亏。",
        ),
        "b": both(
            "Falling back means extra copies: they slow an SVD more than relu.",
            "回退要多拷两次：求奇异值比 relu 更吃亏。",
        ),
        "c": both("The copies of a fallback cost hardly any time.", "回退要多拷两次，几乎不花时间。"),
    }.get(settle_fallback_price(record)["08-bet-fallback"] or "", TOO_NOISY)


def say_fallback_price(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    doubt = both("", "")
    if settle_fallback_price(record)["08-bet-fallback"] is None:
        doubt = both(
            " The intervals overlap, so this run settles nothing; try again when the machine is quiet.",
            "区间有重叠，这次定不了胜负；等机器空闲时再试。",
        )
    en = "; ".join(f"{OPS[r['op']]['en']}: {with_interval(r, 'en')}" for r in record.rows)
    zh = "；".join(f"{OPS[r['op']]['zh']}：{with_interval(r, 'zh')}" for r in record.rows)
    return both(
        f"Simulated on one CPU thread: the time with the two copies, divided by the time without. {en}.{doubt['en']}",
        f"在单个 CPU 线程上模拟：带上两次拷贝的耗时 ÷ 不带拷贝的耗时。{zh}。{doubt['zh']}",
    )


def draw_fallback_price(record: Record, bets: dict) -> SvgPicture:
    """Time between two copies over time alone; the bet marks what is slowed more, or both as not slowed."""
    rows = [
        Ratio(word(OPS[row["op"]]), row["ratio"], row["low"], row["high"], rounds=row.get("rounds", 0))
        for row in record.rows
    ]
    places = {row["op"]: at for at, row in enumerate(record.rows)}
    said = {
        "a": (t("slowed more", "变慢得更多"), {places.get("relu", 0): "right"}),
        "b": (t("slowed more", "变慢得更多"), {places.get("svd", 0): "right"}),
        "c": (t("the same", "一样"), dict.fromkeys(places.values(), "middle")),
    }
    mine = said.get(bets.get("08-bet-fallback", ""))
    sides = (t("with copies: faster", "带拷贝更快"), t("with copies: slower", "带拷贝更慢"))
    return ratio_rows(rows, sides, Bet(mine[0], rows=mine[1]) if mine else None)


def settle_fallback_price(record: Record) -> dict[str, str | None]:
    found = {row["op"]: row for row in record.rows}
    if set(found) != {"relu", "svd"} or any(row["low"] is None for row in found.values()):
        return {"08-bet-fallback": None}
    relu, svd = found["relu"], found["svd"]
    if relu["low"] > svd["high"]:
        return {"08-bet-fallback": "a"}
    if svd["low"] > relu["high"]:
        return {"08-bet-fallback": "b"}
    return {"08-bet-fallback": "c" if max(relu["high"], svd["high"]) < 1.1 else None}


@experiment(
    name="08-fallback-price",
    lesson=LESSON,
    version=2,
    needs="cpu",
    seconds=9,
    title=both(
        "A simulated fallback on the CPU: copy there, compute, copy back", "在 CPU 上模拟回退：拷过去、计算、拷回来"
    ),
)
def fallback_price(budget: Budget) -> Iterator[dict]:
    """Time of an operation between two copies over the operation alone, on one thread: one quick, one slow."""
    from course.timing import compare

    torch.set_num_threads(1)
    big, small = torch.randn(4_000_000), torch.randn(160, 160)
    cases = {"relu": (big, torch.relu), "svd": (small, torch.linalg.svdvals)}
    for name, (x, op) in budget.loop(cases.items(), desc=both("operations", "算子")):
        race = compare(
            {"alone": lambda x=x, op=op: op(x), "between copies": lambda x=x, op=op: op(x.clone()).clone()},
            baseline="alone",
            max_time=max(0.8, min(3.5, budget.left() / 2)),
            device="cpu",
        )
        yield {
            "op": name,
            "numbers": x.numel(),
            **race_row(race),
            "alone_ms": race.medians_ms["alone"],
            "rounds": race.rounds,
        }
