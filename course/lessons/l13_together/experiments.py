"""Experiments of lesson 13 about attention: which kernel computes it on a CPU, for which inputs, and what that is worth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from textwrap import shorten

import torch
from torch.nn import functional as F

from course.attention import flash_math, kernel_of, peak_mib, refusal
from course.experiment.base import Budget, experiment
from course.experiment.rows import race_row
from course.experiment.words import NOTHING, TOO_NOISY, joined, ratio_of, word
from course.figures.kinds import Bar, Bet, bars, fold
from course.figures.svg import SvgPicture
from course.i18n import Text, both, t
from course.records import Record
from course.tables import Table

LESSON = "13_together"
LENGTHS = (64, 256, 1024)
attend = F.scaled_dot_product_attention


def interval(row: dict) -> str:
    """0.61 [0.58, 0.64] of a row with ratio, low, high."""
    return ratio_of(row)


def with_bets(lines: list[list[str]], marks: dict, said: dict[int, str], head: str) -> Table:
    """A table with a last column for the bet: line -> what was bet of it. Without a bet there is no such column.

    head: what the bet speaks of, such as the name of a column.
    """
    if not said:
        return Table(lines, marks)
    added = [[*line, said.get(number, "")] for number, line in enumerate(lines[1:])]
    column = t(f"{head}, as you bet", f"{head}，按你押的")
    return Table([[*lines[0], column], *added], marks, {(number, len(lines[0])) for number in said})


# --- 13-who-attends -----------------------------------------------------------------------------------------

CASES = {
    "plain": both("plain float32", "普通的 float32"),
    "mask": both("with a mask", "带掩码"),
    "causal": both("is_causal=True", "is_causal=True"),
    "bfloat16": both("bfloat16", "bfloat16"),
    "gradients": both("gradients needed", "需要梯度"),
    "dropout": both("dropout 0.1", "dropout 0.1"),
    "learnt mask": both("a mask that is learnt", "可学习的掩码"),
    "three dimensions": both("3 dimensions (no heads)", "三维（没有头）"),
    "narrow values": both("values narrower than keys", "value 比 key 窄"),
    "transposed": both("numbers not side by side", "最后一维不连续"),
    "fewer key heads": both("fewer key heads (GQA)", "key 的头更少（GQA）"),
    "float64": both("float64", "float64"),
}
ASKED = {"mask": "a", "dropout": "b", "bfloat16": "c", "gradients": "d"}  # the bet on one changed input


def _cases() -> dict[str, Callable[[], torch.Tensor]]:
    """One call for each case: 2 sequences, 4 heads, 64 tokens, 16 numbers a head; one thing changed in each."""
    q, k, v = (torch.randn(2, 4, 64, 16) for _ in range(3))
    mask, learnt = torch.ones(64, 64, dtype=torch.bool).tril(), torch.zeros(64, 64, requires_grad=True)
    wants = q.clone().requires_grad_()
    return {
        "plain": lambda: attend(q, k, v),
        "mask": lambda: attend(q, k, v, attn_mask=mask),
        "causal": lambda: attend(q, k, v, is_causal=True),
        "bfloat16": lambda: attend(q.bfloat16(), k.bfloat16(), v.bfloat16()),
        "gradients": lambda: attend(wants, k, v),
        "dropout": lambda: attend(q, k, v, dropout_p=0.1),
        "learnt mask": lambda: attend(q, k, v, attn_mask=learnt),
        "three dimensions": lambda: attend(q[0], k[0], v[0]),
        "narrow values": lambda: attend(q, k, v[..., :8]),
        "transposed": lambda: attend(q, k.mT.contiguous().mT, v),
        "fewer key heads": lambda: attend(q, k[:, :2], v[:, :2], enable_gqa=True),
        "float64": lambda: attend(q.double(), k.double(), v.double()),
    }


def headline_who_attends(record: Record) -> Text:
    kernel = {row["case"]: row["kernel"] for row in record.rows}
    taken = sum(one == "flash" for one in kernel.values())
    if "plain" not in kernel:
        return TOO_NOISY
    if not taken:
        return both("On this CPU flash computed not one of these calls.", "这颗 CPU 上，没有一次调用走 flash。")
    if kernel["plain"] != "flash":
        return both(
            "Plain attention does not run flash here, other inputs do.", "这里普通输入不走 flash，别的输入反而走。"
        )
    if taken == len(kernel):
        return both("On this CPU flash takes every input we tried.", "这颗 CPU 上，试过的输入 flash 全收。")
    return both(
        f"A CPU, too, runs flash attention: for {taken} of these {len(kernel)} inputs.",
        f"CPU 也会走 flash：这 {len(kernel)} 种输入里，有 {taken} 种。",
    )


def say_who_attends(record: Record) -> Text:
    rows = record.rows
    if not rows:
        return NOTHING
    other = {
        code: joined([CASES[row["case"]][code] for row in rows if row["kernel"] != "flash"], code)
        for code in ("en", "zh")
    }
    taken = sum(row["kernel"] == "flash" for row in rows)
    return both(
        f"{taken} of {len(rows)} calls ran the flash kernel. Computed otherwise: {other['en'] or 'none'}.",
        f"{len(rows)} 次调用里有 {taken} 次走 flash kernel。走别的：{other['zh'] or '无'}。",
    )


def draw_who_attends(record: Record, bets: dict) -> Table:
    """The kernel of each call, and the beginning of torch's reason; a bet stands in the column of reasons."""
    kernel = {"a": "math", "b": "flash", "c": "memory-efficient"}.get(bets.get("13-bet-cpu", ""))
    refused = {option: case for case, option in ASKED.items()}.get(bets.get("13-bet-inputs", ""))
    lines = [["", t("kernel", "kernel"), t("why flash refuses, in torch's words", "flash 为何拒绝（torch 的原话）")]]
    marks, mine = {}, set()
    for number, row in enumerate(record.rows):
        reason = shorten(row["refusal"].split(".")[0], 58, placeholder="…")
        reason = t("torch gives no reason", "torch 没说原因") if reason == "-" else reason
        if row["kernel"] != "flash":
            marks[number, 1] = "told"
        if kernel and row["case"] == "plain":
            mine.add((number, 2))
            reason = t(f"{kernel} computes it", f"由 {kernel} 来算")
        elif row["case"] == refused:
            mine.add((number, 2))
            reason = reason or t("flash refuses it", "flash 拒绝")
        lines.append([word(CASES[row["case"]]), row["kernel"], reason])
    return Table(lines, marks, mine)


def settle_who_attends(record: Record) -> dict[str, str | None]:
    kernel = {row["case"]: row["kernel"] for row in record.rows}
    refused = [option for case, option in ASKED.items() if kernel.get(case, "flash") != "flash"]
    return {
        "13-bet-cpu": {"math": "a", "flash": "b", "efficient": "c"}.get(kernel.get("plain", "")),
        "13-bet-inputs": refused[0] if len(refused) == 1 else None,
    }


@experiment(
    name="13-who-attends",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=5,
    whole=True,
    title=both(
        "Attention on this CPU: which kernel, for which inputs?", "这颗 CPU 上的注意力：哪种输入走哪个 kernel？"
    ),
)
def who_attends(budget: Budget) -> list[dict]:
    """The kernel that a profile shows for twelve calls, and torch's reason where flash alone may not run it."""
    cases = _cases()
    return [
        {"case": case, "kernel": kernel_of(call), "refusal": refusal(call)}
        for case, call in budget.loop(cases.items(), desc=both("calls", "调用"), least=len(cases))
    ]


# --- 13-flash-math ------------------------------------------------------------------------------------------


def _longest(record: Record) -> dict | None:
    """The row of 1024 tokens."""
    return next((row for row in record.rows if row["tokens"] == 1024), None)


def headline_two_kernels(record: Record) -> Text:
    row = _longest(record)
    if row is None:
        return TOO_NOISY
    if row["flash"] != "flash" or row["math"] != "math":
        return both("Flash or math did not run here: nothing to compare.", "这里 flash 或 math 没跑成，没法比。")
    more = row["math_mib"] / row["flash_mib"]
    if more < 0.8:
        return both("Here flash holds more memory than math.", "在这里，flash 占的内存比 math 还多。")
    if settle_two_kernels(record)["13-bet-memory"] == "a":
        return both("Here flash saves hardly any memory.", "在这里，flash 几乎没省内存。")
    return fold(
        more,
        "For a long sequence, the math kernel needs {} the flash kernel's memory.",
        "序列一长，math kernel 要的内存是 flash kernel 的{}。",
    )


def say_two_kernels(record: Record) -> Text:
    rows = record.rows
    if not rows or any(row["flash"] != "flash" or row["math"] != "math" for row in rows):
        return NOTHING
    last = rows[-1]
    more = last["math_mib"] / last["flash_mib"]
    return both(
        f"With {last['tokens']} tokens math holds {last['math_mib']:.3g} MiB at once, flash {last['flash_mib']:.2g} MiB: "
        f"{more:.0f} times as much. Time flash / math, one thread: "
        + "; ".join(f"{row['tokens']} tokens {interval(row)}" for row in rows)
        + f". Largest difference of the results: {max(row['difference'] for row in rows):.0e}.",
        f"{last['tokens']} 个 token 时，math 同时占 {last['math_mib']:.3g} MiB，flash 占 {last['flash_mib']:.2g} MiB，"
        f"相差 {more:.0f} 倍。单线程下 flash / math 的耗时比："
        + "；".join(f"{row['tokens']} 个 token {interval(row)}" for row in rows)
        + f"。结果最大相差 {max(row['difference'] for row in rows):.0e}。",
    )


def draw_two_kernels(record: Record, bets: dict) -> SvgPicture:
    """Memory with the longest sequence; a bet outlines the share of math's memory that flash would hold."""
    row = _longest(record) or record.rows[-1]
    math, flash = row["math_mib"], row["flash_mib"]
    spans = {
        "a": (t("about the same", "差不多"), (0.75 * math, math)),
        "b": (t("about half", "一半左右"), (0.2 * math, 0.75 * math)),
        "c": (t("less than a fifth", "不到五分之一"), (0.0, 0.2 * math)),
    }
    words, span = spans.get(bets.get("13-bet-memory", ""), ("", None))
    return bars(
        [
            Bar("math", math, f"{math:.2g} MiB", quiet=True, remark=t("the whole table", "写下整张表")),
            Bar("flash", flash, f"{flash:.2g} MiB", remark=t("block by block", "一块一块算")),
        ],
        Bet(words, rows=[1], span=span) if span else None,
    )


def settle_two_kernels(record: Record) -> dict[str, str | None]:
    row = _longest(record)
    if row is None or row["flash"] != "flash" or row["math"] != "math":
        return {"13-bet-memory": None}
    share = row["flash_mib"] / row["math_mib"]
    return {"13-bet-memory": "a" if share > 0.75 else "b" if share > 0.2 else "c"}


def _attention(tokens: int) -> Callable[[], torch.Tensor]:
    q, k, v = (torch.randn(1, 4, tokens, 32) for _ in range(3))
    return lambda: attend(q, k, v)


@experiment(
    name="13-flash-math",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=8,
    title=both("Flash against math on this CPU: memory, time, result", "这颗 CPU 上的 flash 与 math：内存、耗时、结果"),
)
def two_kernels(budget: Budget) -> Iterator[dict]:
    """Memory held at once by either kernel, time flash / math on one thread, and the largest difference of the results."""
    torch.set_num_threads(1)
    with torch.inference_mode():
        for done, tokens in enumerate(budget.loop(LENGTHS, desc=both("lengths", "长度"))):
            call = _attention(tokens)
            race = flash_math(call, max_time=max(0.3, min(1.0, budget.share(len(LENGTHS) - done))))
            sides = {name: race.functions[name] for name in ("flash", "math")}
            yield {
                "tokens": tokens,
                **{name: kernel_of(side) for name, side in sides.items()},
                **{f"{name}_mib": peak_mib(side) for name, side in sides.items()},
                **{f"{name}_ms": ms for name, ms in race.medians_ms.items()},
                **race_row(race),
                "difference": (sides["flash"]() - sides["math"]()).abs().max().item(),
            }
