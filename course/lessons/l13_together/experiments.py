"""Experiments of lesson 13: attention's kernels, what compiled code notices, and autocast."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from textwrap import shorten

import torch
from torch import nn
from torch.nn import functional as F

from course.core.i18n import both
from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading, race_row
from course.lessons.l13_together import probes
from course.lessons.l13_together.attention import flash_math, kernel_of, peak_mib, refusal
from course.trace.onednn_log import log_of

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
    return Reading("some" if taken else "none", {"taken": taken, "inputs": len(kernel)}, drawn, bets)


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
    option = "a" if share > 0.75 else "b" if share > 0.2 else "c"
    numbers["more"] = 1 / share
    return Reading("a" if option == "a" else "less", numbers, drawn, {"13-bet-memory": option})


# --- 13-recompiles ------------------------------------------------------------------------------------------


@experiment(name="13-recompiles", lesson=LESSON, version=1, needs="cpu", seconds=8)
def recompiles(budget: Budget) -> Iterator[dict]:
    """Compilations of a small convolution after each of ten settings was moved; no C++ compiler needed."""
    for run in budget.loop([probes.recompiles], desc=both("compiling", "编译")):
        yield from run()


def read_recompiles(rows: list[dict]) -> Reading | None:
    """Two of the settings decide; where the control compiled again, too, the run proves nothing."""
    words = ("runs on", "again")
    drawn = [
        {
            "setting": row["setting"],
            "moved": words[row["again"] > 0],
            "put back": words[row["back"] > 0],
            "told": ["moved"] * (row["again"] > 0),
        }
        for row in rows
    ]
    again = {row["setting"]: row["again"] > 0 for row in rows}
    if not {"nothing", "mkldnn.enabled", "set_num_threads"} <= set(again):
        return None
    if again["nothing"]:
        return Reading("the control, too", drawn=drawn, bets={"13-bet-recompile": None})
    answers = {(True, False): "a", (False, True): "b", (True, True): "c", (False, False): "d"}
    return Reading(answers[again["mkldnn.enabled"], again["set_num_threads"]], drawn=drawn)


# --- 13-baked -----------------------------------------------------------------------------------------------


@experiment(name="13-baked", lesson=LESSON, version=1, needs="cpu", seconds=8)
def baked(budget: Budget) -> Iterator[dict]:
    """The attention kernel before and after flash is switched off, plain and compiled in two ways."""
    for run in budget.loop([probes.baked], desc=both("compiling", "编译")):
        yield from run()


def read_baked(rows: list[dict]) -> Reading | None:
    """What the code compiled by aot_eager does once flash is off."""
    drawn = [{**row, "told": ["after"] * (row["after"] == "flash")} for row in rows]
    row = next((row for row in rows if row["backend"] == "aot_eager"), None)
    if row is None:
        return None
    if row["before"] != "flash":
        return Reading("never flash", drawn=drawn, bets={"13-bet-baked": None})
    return Reading("c" if row["after"] == "flash" else "a" if row["again"] else "b", drawn=drawn)


# --- 13-autocast --------------------------------------------------------------------------------------------

REFUSED = "RuntimeError"
"""In the place of a type, where oneDNN has no such operation for this CPU, and PyTorch raised one."""


def _operations() -> dict[str, Callable[[], torch.Tensor]]:
    """One call of each operation on float32 tensors."""
    x, image, labels = torch.randn(8, 64), torch.randn(2, 8, 16, 16), torch.zeros(8, dtype=torch.long)
    linear, conv, norm, lstm = nn.Linear(64, 64), nn.Conv2d(8, 8, 3), nn.LayerNorm(64), nn.LSTM(64, 64)
    q = torch.randn(1, 2, 16, 16)
    return {
        "Linear": lambda: linear(x),
        "Conv2d": lambda: conv(image),
        "attention": lambda: F.scaled_dot_product_attention(q, q, q),
        "LSTM": lambda: lstm(x)[0],
        "relu": lambda: x.relu(),
        "x + x": lambda: x + x,
        "sum": lambda: x.sum(),
        "softmax": lambda: x.softmax(-1),
        "LayerNorm": lambda: norm(x),
        "mse_loss": lambda: F.mse_loss(x, x),
        "cross_entropy": lambda: F.cross_entropy(x, labels),
    }


@experiment(name="13-autocast", lesson=LESSON, version=1, needs="cpu", seconds=5, whole=True)
def autocast(budget: Budget) -> list[dict]:
    """The type of the result of eleven operations outside and inside autocast (bfloat16), and lines in oneDNN's log."""
    rows = []
    with torch.inference_mode():
        for operation, call in budget.loop(_operations().items(), desc=both("operations", "算子")):
            outside = _computed(call)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                inside = _computed(call)
            row = {"outside": outside[0], "lines_outside": outside[1], "inside": inside[0], "lines_inside": inside[1]}
            rows.append({"operation": operation, **row})
    return rows


def read_autocast(rows: list[dict]) -> Reading | None:
    """What becomes of Linear: its type, and by oneDNN's log who computes it. A log without a line settles nothing."""
    drawn = []
    for row in rows:
        other_library = row["inside"] != REFUSED and bool(row["lines_inside"]) != bool(row["lines_outside"])
        told = ["inside"] * (row["inside"] != row["outside"]) + ["lines_inside"] * other_library
        drawn.append({**row, "told": told})
    row = next((row for row in rows if row["operation"] == "Linear"), None)
    if row is None:
        return None
    before, now = bool(row["lines_outside"]), bool(row["lines_inside"])
    silent = not any(one["lines_outside"] for one in rows)
    if row["inside"] in (row["outside"], REFUSED):
        outcome = "raises" if row["inside"] == REFUSED else "keeps its type"
    elif silent and not any(one["lines_inside"] for one in rows):
        outcome = "silent"
    else:
        outcome = "b" if now else "a"
    option = outcome if outcome in ("a", "b") and not before and not silent else None
    return Reading(outcome, {"type": row["inside"]}, drawn, {"13-bet-library": option})


def _computed(call: Callable[[], torch.Tensor]) -> tuple[str, int]:
    """The type of the result, and the lines in oneDNN's log; REFUSED and 0 where oneDNN has none for this CPU."""
    try:
        return str(call().dtype).removeprefix("torch."), len(log_of(call))
    except RuntimeError as error:
        if "could not create a primitive" not in str(error):
            raise
        return REFUSED, 0
