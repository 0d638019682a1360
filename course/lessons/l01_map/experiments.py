"""Experiments of lesson 01: what a switch of torch.backends reaches, and what it does not.

Whatever leaves traces (freezing, children, overwritten functions) runs in a new process. The sentences and
pictures of the records stand in ``map_findings``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.i18n import both
from course.lessons.l01_map import findings as say

LESSON = "01_map"
PROBES = "course.lessons.l01_map.probes"
# what was written, the switch that was meant, the value
MISSPELT = (
    ("cudnn.benchmarks", "cudnn.benchmark", True),
    ("cudnn.enable", "cudnn.enabled", False),
    ("cudnn.determinstic", "cudnn.deterministic", True),
    ("cudnn.allow_tf_32", "cudnn.allow_tf32", False),
    ("mkldnn.enable", "mkldnn.enabled", False),
    ("mkldnn.determenistic", "mkldnn.deterministic", True),
    ("miopen.imediate", "miopen.immediate", True),
    ("quantized.engin", "quantized.engine", "x86"),
    ("opt_einsum.enable", "opt_einsum.enabled", False),
    ("cuda.allow_tf32", "cuda.matmul.allow_tf32", True),
    ("cuda.matmul.allow_fp32", "cuda.matmul.allow_tf32", True),
    ("fp32_percision", "fp32_precision", "ieee"),
)


def _depthwise() -> Callable[[], None]:
    """48 calls of a convolution with one filter a channel: float32, batch 2, 32 channels, 14 x 14.

    So many, that entering a `with` block around them weighs next to nothing; so small, that the memory of the
    results is reused (fresh pages from the system would cost more than the convolution, and at random).
    """
    x, weight = torch.randn(2, 32, 14, 14), torch.randn(32, 1, 3, 3)

    def convolve() -> None:
        for _ in range(48):
            torch.nn.functional.conv2d(x, weight, padding=1, groups=32)
    return convolve


def _inside(convolve: Callable[[], None], **asked: bool) -> Callable[[], None]:
    def call() -> None:
        with torch.backends.mkldnn.flags(**asked):
            convolve()
    return call


@experiment(name="01-polite-request", lesson=LESSON, version=1, needs="mkldnn", seconds=5,
            title=both("What does a polite `flags(deterministic=True)` cost?",
                       "礼貌地写一句 `flags(deterministic=True)`，要付出什么代价？"),
            finding=say.polite, draw=say.draw_polite, settles=say.settle_polite)
def polite_request(budget: Budget) -> list[dict]:
    """One convolution as it is, inside flags(deterministic=True), and with enabled=True said as well.

    On one thread, where a busy machine disturbs least.
    """
    from course.timing import compare

    torch.set_num_threads(1)
    convolve = _depthwise()
    candidates = {"plain": convolve, "deterministic": _inside(convolve, deterministic=True),
                  "both named": _inside(convolve, enabled=True, deterministic=True)}
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # flags() also touches a TF32 switch that only Intel GPUs have
        result = compare(candidates, baseline="plain", max_time=max(1.0, min(5.0, budget.left())))
    medians = result.medians_ms
    rows = [{"request": "plain", "median_ms": medians["plain"], "ratio": 1.0, "low": 1.0, "high": 1.0}]
    for name, pair in result.pairs.items():
        rows.append({"request": name, "median_ms": medians[name], "ratio": pair.ratio, "low": pair.low,
                     "high": pair.high, "samples_ratio": list(pair.ratios)})
    return rows


def _owner(path: str) -> tuple[Any, str]:
    """The object that holds the last name of a dotted path below torch.backends, and that name."""
    *middle, last = path.split(".")
    owner = torch.backends
    for name in middle:
        owner = getattr(owner, name)
    return owner, last


def _try(path: str, value: Any) -> str:
    """Assign and take back; the error's class name, or "" where Python accepted it."""
    owner, name = _owner(path)
    try:
        setattr(owner, name, value)
    except (AttributeError, RuntimeError) as error:
        return type(error).__name__
    delattr(owner, name)
    return ""


@experiment(name="01-typos", lesson=LESSON, version=1, needs="cpu", seconds=1,
            title=both("Twelve misspelt switches: who complains?", "十二个拼错的开关：谁会报错？"),
            finding=say.typos, draw=say.draw_typos, settles=say.settle_typos)
def typos(budget: Budget) -> list[dict]:
    """Assign to twelve names that do not exist and note which assignment raises; all are taken back."""
    rows = []
    for wrote, meant, value in budget.loop(MISSPELT, desc=both("misspelling", "正在拼错")):
        owner, name = _owner(wrote)
        if not hasattr(owner, name):
            error = _try(wrote, value)
            rows.append({"wrote": wrote, "meant": meant, "raised": int(bool(error)), "error": error})
    return rows


@experiment(name="01-who-sees", lesson=LESSON, version=1, needs="cpu", seconds=8,
            title=both("A switch is turned: who sees it?", "拨动一个开关：谁看得到？"),
            finding=say.who_sees, draw=say.draw_who_sees, settles=say.settle_who_sees)
def who_sees(budget: Budget) -> list[dict]:
    """Turn cudnn.benchmark in one place and read it in a thread, a forked child and a spawned child."""
    return rows_of(PROBES, "who_sees")


@experiment(name="01-flags-trap", lesson=LESSON, version=1, needs="cpu", seconds=4,
            title=both("`with cudnn.flags(deterministic=True)`: what changes inside?",
                       "`with cudnn.flags(deterministic=True)`：里面变了什么？"),
            finding=say.flags_trap, draw=say.draw_flags_trap, settles=say.settle_flags_trap)
def flags_trap(budget: Budget) -> list[dict]:
    """Read four cuDNN switches before, inside and after the documented context manager."""
    return rows_of(PROBES, "flags_trap")


@experiment(name="01-frozen", lesson=LESSON, version=1, needs="cpu", seconds=5,
            title=both("The switches are frozen: which doors are still open?", "开关已冻结：哪些门还开着？"),
            finding=say.frozen, draw=say.draw_frozen, settles=say.settle_frozen)
def frozen(budget: Budget) -> list[dict]:
    """Freeze the switches in a new process, then try ten ways to move one."""
    return rows_of(PROBES, "frozen_doors")


@experiment(name="01-not-a-switch", lesson=LESSON, version=1, needs="cpu", seconds=5,
            title=both("Six things that look like switches: what do they switch?",
                       "六个看起来像开关的东西：它们到底管什么？"),
            finding=say.not_switches, draw=say.draw_not_switches, settles=say.settle_not_switches)
def not_a_switch(budget: Budget) -> list[dict]:
    """Turn them in a new process, and ask before and after what they were meant to change."""
    return rows_of(PROBES, "not_switches")
