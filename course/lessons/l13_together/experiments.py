"""Experiments of lesson 13 about attention: which kernel computes it on a CPU, for which inputs, and what that is worth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as F

from course.experiment.base import Budget, experiment
from course.experiment.plots import table
from course.experiment.words import NOTHING, joined, word
from course.i18n import Text, both, t
from course.lessons.l13_together.attention import flash_math, kernel_of, peak_mib, refusal
from course.records import Record

LESSON = "13_together"
LENGTHS = (64, 256, 1024)
SAME = 0.02  # within 2 % of the time counts as the same
attend = F.scaled_dot_product_attention


def interval(row: dict) -> str:
    """0.61 [0.58, 0.64] of a row with ratio, low, high."""
    return f"{row['ratio']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"


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


def draw_who_attends(record: Record, ax: Any) -> None:
    heads = (t("kernel", "kernel"), t("why flash refuses, in torch's words", "flash 为何拒绝（torch 的原话）"))
    reasons = {"-": t("(torch gives no reason)", "（torch 没说原因）")}
    lines = [
        (
            word(CASES[row["case"]]),
            [
                (row["kernel"], 0 if row["kernel"] == "flash" else 1),
                (reasons.get(row["refusal"], row["refusal"].split(".")[0]), None),
            ],
        )
        for row in record.rows
    ]
    table(ax, heads, lines)


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
    title=both(
        "Attention on this CPU: which kernel, for which inputs?", "这台 CPU 上的注意力：哪种输入走哪个 kernel？"
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


def draw_two_kernels(record: Record, ax: Any) -> None:
    from course.figures import lines

    rows = record.rows
    names = {
        "math": t("math: writes the whole table", "math：写下整张表"),
        "flash": t("flash: block by block", "flash：一块一块算"),
    }
    lines(
        ax,
        [row["tokens"] for row in rows],
        {names[kernel]: [row[f"{kernel}_mib"] for row in rows] for kernel in names},
        log_x=True,
        log_y=True,
        xlabel=t("tokens in the sequence", "序列里的 token 数"),
        ylabel=t("memory held at once (MiB)", "同时占用的内存（MiB）"),
    )
    for row in rows:
        ax.annotate(
            t(f"time × {row['ratio']:.2f}", f"耗时 × {row['ratio']:.2f}"),
            (row["tokens"], row["flash_mib"]),
            xytext=(0, -14),
            textcoords="offset points",
            ha="center",
            fontsize=9,
        )
    ax.margins(x=0.12, y=0.2)


def settle_two_kernels(record: Record) -> dict[str, str | None]:
    row = next((one for one in record.rows if one["tokens"] == 1024), None)
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
    title=both("Flash against math on this CPU: memory, time, result", "这台 CPU 上的 flash 与 math：内存、耗时、结果"),
)
def two_kernels(budget: Budget) -> list[dict]:
    """Memory held at once by either kernel, time flash / math on one thread, and the largest difference of the results."""
    torch.set_num_threads(1)
    rows = []
    with torch.inference_mode():
        for done, tokens in enumerate(budget.loop(LENGTHS, desc=both("lengths", "长度"))):
            call = _attention(tokens)
            race = flash_math(call, max_time=max(0.3, min(1.0, budget.share(len(LENGTHS) - done))))
            sides = {name: race.functions[name] for name in ("flash", "math")}
            rows.append(
                {
                    "tokens": tokens,
                    **{name: kernel_of(side) for name, side in sides.items()},
                    **{f"{name}_mib": peak_mib(side) for name, side in sides.items()},
                    **{f"{name}_ms": ms for name, ms in race.medians_ms.items()},
                    "ratio": race.ratio,
                    "low": race.low,
                    "high": race.high,
                    "verdict": race.verdict,
                    "difference": (sides["flash"]() - sides["math"]()).abs().max().item(),
                }
            )
    return rows
