"""Experiments of lesson 03: how counters differ, what they miss, and how little work says about time.

Counts are MACs (one multiply feeding one accumulate) unless a name says FLOPs. The sentences and pictures of
the records stand in ``work_findings``.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from course.experiments import work_findings as say
from course.experiments.base import Budget, experiment
from course.flags import using
from course.flops import count, cross_check
from course.i18n import both

LESSON = "03_flops"
LENGTHS = (128, 256, 512, 1024, 2048, 4096)
SHAPES = ((64, 56), (32, 112), (128, 28))  # channels and image size of the dense and depthwise layers
GROUPS = (2, 4, 8, 16, 32)


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


@experiment(name="03-length", lesson=LESSON, version=1, needs="cpu", seconds=5,
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
