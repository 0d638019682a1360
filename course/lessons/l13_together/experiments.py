"""Experiments of lesson 13 about attention: which kernel computes it on a CPU, for which inputs, and what that is worth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from textwrap import shorten

import torch
from torch.nn import functional as F

from course.core.i18n import both
from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading
from course.experiment.rows import race_row
from course.lessons.l13_together.attention import flash_math, kernel_of, peak_mib, refusal

LESSON = "13_together"
LENGTHS = (64, 256, 1024)
attend = F.scaled_dot_product_attention


# --- 13-who-attends -----------------------------------------------------------------------------------------

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


@experiment(name="13-who-attends", lesson=LESSON, version=1, needs="cpu", seconds=5, whole=True)
def who_attends(budget: Budget) -> list[dict]:
    """The kernel that a profile shows for twelve calls, and torch's reason where flash alone may not run it."""
    cases = _cases()
    return [
        {"case": case, "kernel": kernel_of(call), "refusal": refusal(call)}
        for case, call in budget.loop(cases.items(), desc=both("calls", "调用"), least=len(cases))
    ]


def read_who_attends(rows: list[dict]) -> Reading | None:
    """The kernel of each call, and the beginning of torch's reason. Two bets: on the plain call, and on what flash refuses."""
    kernel = {row["case"]: row["kernel"] for row in rows}
    drawn = [
        {
            **row,
            "refusal": shorten(row["refusal"].split(".")[0].split(", but got")[0], 80, placeholder="…"),
            "told": ["kernel"] * (row["kernel"] != "flash"),
        }
        for row in rows
    ]
    if "plain" not in kernel:
        return None
    refused = [option for case, option in ASKED.items() if kernel.get(case, "flash") != "flash"]
    bets = {
        "13-bet-cpu": {"math": "a", "flash": "b", "efficient": "c"}.get(kernel["plain"]),
        "13-bet-inputs": refused[0] if len(refused) == 1 else None,
    }
    taken = list(kernel.values()).count("flash")
    some = "some" if kernel["plain"] == "flash" else "not the plain one"
    outcome = "none" if not taken else "all" if taken == len(kernel) else some
    return Reading(outcome, {"taken": taken, "inputs": len(kernel)}, drawn, bets)


# --- 13-flash-math ------------------------------------------------------------------------------------------


def _attention(tokens: int) -> Callable[[], torch.Tensor]:
    q, k, v = (torch.randn(1, 4, tokens, 32) for _ in range(3))
    return lambda: attend(q, k, v)


@experiment(name="13-flash-math", lesson=LESSON, version=1, needs="cpu", seconds=8, clockless=True)
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


def read_two_kernels(rows: list[dict]) -> Reading:
    """The memory of the longest sequence; nothing to compare where one of the two kernels did not run."""
    row = rows[-1]
    numbers = {kernel: row[f"{kernel}_mib"] for kernel in ("math", "flash")}
    drawn = [{"kernel": kernel, "mib": mib, "how": f"by {kernel}"} for kernel, mib in numbers.items()]
    if row["tokens"] != LENGTHS[-1]:
        return Reading(None, numbers, drawn)
    if row["flash"] != "flash" or row["math"] != "math":
        return Reading("not run", numbers, drawn, {"13-bet-memory": None})
    share = numbers["flash"] / numbers["math"]
    outcome = "a even more" if share > 1.25 else "a" if share > 0.75 else "b" if share > 0.2 else "c"
    return Reading(outcome, {**numbers, "more": 1 / share}, drawn)
