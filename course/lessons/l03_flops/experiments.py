"""Experiments of lesson 03: how counters differ, what they miss, and how little work says about time.

Counts are MACs (one multiply feeding one accumulate) unless a name says FLOPs. The sentences and pictures of
the records stand in ``work_findings``.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from course.experiment.base import Budget, experiment
from course.flags import using
from course.flops import count, cross_check
from course.i18n import both
from course.lessons.l03_flops import findings as say
from course.lessons.l03_flops import findings_roof as say_roof

LESSON = "03_flops"
LENGTHS = (128, 256, 512, 1024, 2048, 4096)
SHAPES = ((64, 56), (32, 112), (128, 28))  # channels and image size of the dense and depthwise layers
GROUPS = (2, 4, 8, 16, 32)
BATCHES = (1, 64)
WIDTH = 4096  # of the linear layer: its weights, 64 MiB, are larger than most caches


@experiment(name="03-vgg16-counters", lesson=LESSON, version=1, needs="cpu", seconds=25,
            title=both("Several counters, one VGG16: what does each one print?",
                       "几个统计工具，一个 VGG16：各自打印多少？"),
            finding=say.counters, draw=say.draw_counters, settles=say.settle_counters)
def vgg16_counters(budget: Budget) -> list[dict]:
    """thop, ptflops and torch beside our count; a row for each tool, then one for each named difference."""
    from course.models import vgg16

    found = cross_check(vgg16(), torch.randn(1, 3, 224, 224))
    rows = [{"part": "tool", **row} for row in found.rows() if row["reported"] is not None]
    for tool in found.tools:
        rows += [{"part": "reason", "tool": tool.tool, "macs": reason.amount, "reason_en": reason.text["en"],
                  "reason_zh": reason.text["zh"]} for reason in tool.reasons]
        if tool.note:
            rows.append({"part": "missing", "tool": tool.tool, "reason_en": tool.note["en"],
                         "reason_zh": tool.note["zh"]})
    return rows


@experiment(name="03-lstm-zero", lesson=LESSON, version=1, needs="mkldnn", seconds=5,
            title=both("One LSTM, one switch: what does PyTorch's own counter see?",
                       "一个 LSTM，一个开关：PyTorch 自带的工具看到了什么？"),
            finding=say.lstm, draw=say.draw_lstm, settles=say.settle_lstm)
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
                rows.append({"layer": name, "mkldnn": int(enabled), "torch_flops": counter.get_total_flops(),
                             "exact_flops": count(layer, x).flops})
    return rows


@experiment(name="03-length", lesson=LESSON, version=1, needs="cpu", seconds=15,
            title=both("A longer text: how much more work is one GPT-2 block?",
                       "文本变长，一个 GPT-2 block 的工作量增加多少？"),
            finding=say.length, draw=say.draw_length, settles=say.settle_length)
def length(budget: Budget) -> list[dict]:
    """MACs of a block of width 768 by length, the linear layers and the attention apart; nothing is timed."""
    from course.models import gpt_block

    block = gpt_block()
    linear = sum(layer.weight.numel() for layer in block.modules() if isinstance(layer, nn.Linear))
    rows = []
    for tokens in budget.loop(LENGTHS, desc=both("lengths", "长度")):
        macs = count(block, torch.empty(1, tokens, 768)).macs
        rows.append({"tokens": tokens, "macs": macs, "linear_macs": linear * tokens,
                     "attention_macs": macs - linear * tokens})
    return rows


def _convolution(channels: int, size: int, groups: int) -> tuple[Callable[[], object], int]:
    """A 3x3 convolution without bias on one image, and its MACs."""
    layer = nn.Conv2d(channels, channels, 3, padding=1, groups=groups, bias=False).requires_grad_(False)
    image = torch.randn(1, channels, size, size)
    return lambda: layer(image), count(layer, image).macs


def _against_dense(channels: int, size: int, groups: tuple[int, ...], seconds: float) -> list[dict]:
    """Time and MACs of grouped convolutions as shares of the dense one, on one thread."""
    from course.timing import compare

    made = {str(g): _convolution(channels, size, g) for g in (1, *groups)}
    for run, _ in made.values():
        for _ in range(3):
            run()
    found = compare({name: run for name, (run, _) in made.items()}, baseline="1", max_time=seconds)
    return [{"channels": channels, "size": size, "groups": int(name), "macs": made[name][1],
             "macs_ratio": made[name][1] / made["1"][1], "ratio": pair.ratio, "low": pair.low,
             "high": pair.high, "verdict": pair.verdict, "threads": 1}
            for name, pair in found.pairs.items()]


@experiment(name="03-depthwise", lesson=LESSON, version=1, needs="cpu", seconds=6,
            title=both("Depthwise against dense: does the time shrink like the MACs?",
                       "深度卷积对普通卷积：耗时会和 MACs 一样缩小吗？"),
            finding=say.depthwise, draw=say.draw_shares, settles=say.settle_depthwise)
def depthwise(budget: Budget) -> list[dict]:
    """Three shapes; in each a depthwise 3x3 convolution takes turns with the dense one."""
    torch.set_num_threads(1)  # restored afterwards
    rows = []
    for place, (channels, size) in enumerate(budget.loop(SHAPES, desc=both("shapes", "形状"))):
        rows += _against_dense(channels, size, (channels,), budget.share(len(SHAPES) - place))
    return rows


@experiment(name="03-groups", lesson=LESSON, version=1, needs="cpu", seconds=6,
            title=both("Cutting the work into groups: when does the time follow?",
                       "用分组削减工作量：耗时什么时候会跟着降？"),
            finding=say.group_sweep, draw=say.draw_shares)
def group_sweep(budget: Budget) -> list[dict]:
    """One dense convolution on 32 channels against five grouped ones, all in turn."""
    torch.set_num_threads(1)  # restored afterwards
    return _against_dense(32, 28, GROUPS, budget.share(1))


def _placed(roof: object, seconds: float, budget: Budget) -> list[dict]:
    """A product, two convolutions, two linear layers and a ReLU, each timed alone with its data out of the cache."""
    from course.roofline import place

    wide = nn.Linear(WIDTH, WIDTH, bias=False)
    operations = {
        "linear, batch 1": (wide, torch.randn(BATCHES[0], WIDTH)),
        "linear, batch 64": (wide, torch.randn(BATCHES[1], WIDTH)),
        "matrix product": (nn.Linear(1024, 1024, bias=False), torch.randn(1024, 1024)),
        "depthwise conv": (nn.Conv2d(128, 128, 3, padding=1, groups=128, bias=False), torch.randn(1, 128, 56, 56)),
        "dense conv": (nn.Conv2d(128, 128, 3, padding=1, bias=False), torch.randn(1, 128, 56, 56)),
        "ReLU": (nn.ReLU(), torch.randn(4, 128, 112, 112)),
    }
    rows = []
    for name in budget.loop(operations, desc=both("operations", "算子")):
        layer, x = operations[name]
        whole = place(layer, x, peaks=roof, max_time=seconds / len(operations), cache="cold").whole
        rows.append({"part": "operation", "operation": name, "flops": whole.flops, "bytes": whole.moved,
                     "time_ms": whole.time_ms, "flops_per_byte": whole.intensity, "bound": whole.bound,
                     "share_of_roof": whole.share})
    return rows


@experiment(name="03-roof", lesson=LESSON, version=1, needs="cpu", seconds=18,
            title=both("The roof of this very machine: who is kept waiting by the memory?",
                       "这台机器自己的屋顶：谁在等内存？"),
            finding=say_roof.roof, draw=say_roof.draw_roof, settles=say_roof.settle_roof)
def roof(budget: Budget) -> list[dict]:
    """Measured peaks, one linear layer with two batches taking turns, and six operations under the peaks."""
    from course.roofline import peaks
    from course.timing import compare

    torch.set_num_threads(1)  # restored afterwards
    found = peaks("cpu", max_time=min(3.0, 0.25 * budget.seconds), refresh=True)
    rows = [{"part": "peak", **found.rows()[0], "busy": int(bool(found.notes))}]
    layer = nn.Linear(WIDTH, WIDTH, bias=False).requires_grad_(False)
    small, large = (torch.randn(batch, WIDTH) for batch in BATCHES)
    race = compare({"1": lambda: layer(small), "64": lambda: layer(large)}, baseline="1",
                   max_time=max(0.25 * budget.seconds, 0.2))
    rows.append({"part": "batch", "work_ratio": BATCHES[1] / BATCHES[0], "ratio": race.ratio, "low": race.low,
                 "high": race.high, "verdict": race.verdict, "threads": 1})
    return rows + _placed(found, 0.4 * budget.seconds, budget)
