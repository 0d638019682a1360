"""Experiment of lesson 00: the same numbers, added in many orders."""

from __future__ import annotations

import torch

from course.experiment.base import Budget, experiment
from course.experiment.words import EMPTY
from course.figures.kinds import Bar, Bet, bars
from course.figures.svg import SvgPicture
from course.i18n import Text, both, t
from course.records import Record

COUNT, ORDERS = 1000, 200
EXACT = ("whole numbers", "float64")


def _totals(numbers: torch.Tensor, orders: list[torch.Tensor]) -> list[float]:
    return [numbers[order].sum().item() for order in orders]


def headline_same_numbers(record: Record) -> Text:
    count = next((row["distinct"] for row in record.rows if row["numbers"] == "float32"), None)
    if count is None:
        return EMPTY
    if count == 1:
        return both("Same numbers, another order: the sum stays the same.", "同样的数，换个顺序加，总和没变。")
    en, zh = ("two", "两") if count == 2 else (count, f" {count} ")
    return both(f"Same numbers, another order: {en} different sums.", f"同样的数，换个顺序加，得到{zh}个不同的和。")


def say_same_numbers(record: Record) -> Text:
    by_name = {row["numbers"]: row for row in record.rows}
    plain, whole, double = (by_name.get(name) for name in ("float32", *EXACT))
    if not (plain and whole and double):
        return both(
            "The time was up before all three lists were added: run it again.",
            "三组数还没加完时间就到了：请再运行一次。",
        )
    n, orders = plain["count"], plain["orders"]
    return both(
        f"{n} float32 numbers, {orders} orders: {plain['distinct']} different totals, "
        f"{plain['spread']:.2g} apart at most; whole numbers: {whole['distinct']}; the same numbers added in float64: "
        f"{double['distinct']}.",
        f"{n} 个 float32 数，换 {orders} 种顺序相加，得到 {plain['distinct']} 个不同的和，"
        f"最多相差 {plain['spread']:.2g}；换成整数值：{whole['distinct']} 个；同样的数改用 float64 相加："
        f"{double['distinct']} 个。",
    )


def draw_same_numbers(record: Record, bets: dict) -> SvgPicture:
    names = {
        "float32": "float32",
        "whole numbers": t("whole numbers, float32", "整数值，float32"),
        "float64": t("added in float64", "用 float64 相加"),
    }
    rows = []
    for row in record.rows:
        count = row["distinct"]
        said = t(f"{count} sums", f"{count} 个和") if count > 1 else t("always the same", "总是同一个和")
        rows.append(Bar(names[row["numbers"]], count, said, quiet=row["numbers"] != "float32"))
    plain = next(number for number, row in enumerate(record.rows) if row["numbers"] == "float32")
    said = {
        "a": ((0, 1), t("one sum", "1 个和")),
        "b": ((0, 2), t("two sums", "2 个和")),
        "c": ((3, max(6, rows[plain].value)), t("three or more", "3 个或更多")),
    }
    bet, mine = None, said.get(bets.get("00-bet-sums", ""))
    if mine:
        bet = Bet(mine[1], rows=[plain], span=mine[0])
    return bars(rows, bet)


def settle_same_numbers(record: Record) -> dict[str, str | None]:
    counts = [row["distinct"] for row in record.rows if row["numbers"] == "float32"]
    if not counts:
        return {"00-bet-sums": None}
    return {"00-bet-sums": "a" if counts[0] == 1 else "b" if counts[0] == 2 else "c"}


@experiment(
    name="00-same-numbers",
    lesson="00_start",
    version=1,
    needs="cpu",
    seconds=2,
    title=both(
        "The same numbers in another order: how many different totals?", "同样的数换个顺序相加：会得到多少个不同的和？"
    ),
)
def same_numbers(budget: Budget) -> list[dict]:
    """Add 1000 numbers in 200 random orders: as they are, rounded to whole numbers, and in float64."""
    rng = torch.Generator().manual_seed(1)
    numbers = torch.randn(COUNT, generator=rng)
    orders = [torch.randperm(COUNT, generator=rng) for _ in range(ORDERS)]
    lists = {"float32": numbers, "whole numbers": (numbers * 100).round(), "float64": numbers.double()}
    rows = []
    for name, values in budget.loop(lists.items(), desc=both("adding", "求和中")):
        totals = _totals(values, orders)
        rows.append(
            {
                "numbers": name,
                "count": COUNT,
                "orders": ORDERS,
                "distinct": len(set(totals)),
                "spread": max(totals) - min(totals),
            }
        )
    return rows
