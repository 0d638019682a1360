"""Experiments of lesson 03 on counting: how counters differ, and what they miss.

Counts are MACs (one multiply feeding one accumulate) unless a name says FLOPs.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import nn

from course.core.i18n import both
from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading
from course.flags import using
from course.flops import count
from course.lessons.l03_flops.crosscheck import cross_check

LESSON = "03_flops"


# --- 03-vgg16-counters --------------------------------------------------------------------------------------


@experiment(name="03-vgg16-counters", lesson=LESSON, needs="cpu", seconds=25)
def vgg16_counters(budget: Budget) -> list[dict]:
    """thop, ptflops and torch beside our count; a row for each tool, then one for each named difference."""
    from course.models import vgg16

    found = cross_check(vgg16(), torch.randn(1, 3, 224, 224))
    rows = [{"part": "tool", **row} for row in found.rows() if row["reported"] is not None]
    for tool in found.tools:
        rows += [
            {
                "part": "reason",
                "tool": tool.tool,
                "macs": reason.amount,
                "reason_en": reason.text["en"],
                "reason_zh": reason.text["zh"],
            }
            for reason in tool.reasons
        ]
        if tool.note:
            rows.append(
                {"part": "missing", "tool": tool.tool, "reason_en": tool.note["en"], "reason_zh": tool.note["zh"]}
            )
    return rows


def read_vgg16_counters(rows: list[dict]) -> Reading | None:
    """How far the largest number lies above the smallest: less than 5 % a, up to 50 % b, more c."""
    tools = [row for row in rows if row["part"] == "tool" and row["reported"]]
    if not tools:
        return None
    giga = [row["reported"] / 1e9 for row in tools]
    most = giga.index(max(giga))
    drawn = [
        {**row, "place": "most" if at == most else at, "giga": giga[at], "quiet": row["unit"] == "MACs"}
        for at, row in enumerate(tools)
    ]
    apart = max(giga) / min(giga)
    numbers = {"apart": apart, "least": min(giga), "top": max(2.2 * min(giga), max(giga))}
    if len(tools) < 2:
        return Reading("one", numbers, drawn, {"03-bet-vgg": None})
    option = "a" if apart < 1.05 else "b" if apart <= 1.5 else "c"
    return Reading("a" if option == "a" else "apart", numbers, drawn, {"03-bet-vgg": option})


# --- 03-lstm-zero -------------------------------------------------------------------------------------------


@experiment(name="03-lstm-zero", lesson=LESSON, needs="mkldnn", seconds=5)
def lstm_zero(budget: Budget) -> list[dict]:
    """FlopCounterMode on three recurrent layers, oneDNN on and off, beside the exact FLOPs."""
    from torch.utils.flop_counter import FlopCounterMode

    x = torch.randn(10, 1, 32)
    layers = {"LSTM": nn.LSTM(32, 64), "GRU": nn.GRU(32, 64), "RNN": nn.RNN(32, 64)}
    rows = []
    for name, layer in layers.items():
        for enabled in (True, False):
            with using({"mkldnn.enabled": enabled}), torch.no_grad():
                with FlopCounterMode(display=False) as counter:
                    layer(x)
                rows.append(
                    {
                        "layer": name,
                        "mkldnn": int(enabled),
                        "torch_flops": counter.get_total_flops(),
                        "exact_flops": count(layer, x).flops,
                    }
                )
    return rows


def read_lstm_zero(rows: list[dict]) -> Reading:
    """What the counter sees of the LSTM, with the switch on and off."""
    drawn = []
    for row in rows:
        share, switch = row["torch_flops"] / row["exact_flops"], "on" if row["mkldnn"] else "off"
        saw = {0: "nothing", 1: "all"}.get(share, both(f"sees {share:.0%} of it", f"数到 {share:.0%}"))
        case = {"case": f"{row['layer']} {switch}", "layer": row["layer"], "switch": switch}
        drawn.append({**case, "flops": row["torch_flops"], "saw": saw, "quiet": row["layer"] != "LSTM"})
    seen = {row["switch"]: row["flops"] for row in drawn if row["layer"] == "LSTM"}
    if len(seen) < 2:
        return Reading(drawn=drawn)
    if seen["on"] == seen["off"]:
        return Reading("b", drawn=drawn, bets={} if seen["on"] else {"03-bet-lstm": None})
    if all(seen.values()):
        return Reading("another number", drawn=drawn, bets={"03-bet-lstm": None})
    return Reading("a" if not seen["on"] else "c", drawn=drawn)


# --- 03-length ----------------------------------------------------------------------------------------------

LENGTHS = (128, 256, 512, 1024, 2048, 4096)


@experiment(name="03-length", lesson=LESSON, needs="cpu", seconds=15)
def length(budget: Budget) -> Iterator[dict]:
    """MACs of a block of width 768 by length, the linear layers and the attention apart; nothing is timed."""
    from course.models import gpt_block

    block = gpt_block()
    linear = sum(layer.weight.numel() for layer in block.modules() if isinstance(layer, nn.Linear))
    for tokens in budget.loop(LENGTHS, desc=both("lengths", "长度")):
        macs = count(block, torch.empty(1, tokens, 768)).macs
        yield {"tokens": tokens, "macs": macs, "linear_macs": linear * tokens, "attention_macs": macs - linear * tokens}


def read_length(rows: list[dict]) -> Reading | None:
    """The work of 1024 tokens over that of 256."""
    found = {row["tokens"]: row for row in rows}
    if not {256, 1024} <= set(found):
        return None
    drawn = [
        {"tokens": tokens, "grown": row["macs"] / found[256]["macs"], "share": row["attention_macs"] / row["macs"]}
        for tokens, row in found.items()
        if tokens in (256, 1024)
    ]
    grown = found[1024]["macs"] / found[256]["macs"]
    if abs(grown - 4) < 0.01:
        option = "a"
    else:
        option = "c" if 4 < grown < 8 else "b" if 12 < grown < 20 else None
    return Reading("told", {"grown": grown}, drawn, {"03-bet-length": option})
