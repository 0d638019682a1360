"""Experiments of lesson 13: what compiled code notices, what a thread or a child inherits, what autocast changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.plots import table
from course.experiment.words import NOTHING, joined, word
from course.i18n import Text, both, t
from course.lessons.l13_together.experiments import LESSON
from course.onednn_log import log_of
from course.records import Record

PROBES = "course.lessons.l13_together.probes"

# --- 13-recompiles ------------------------------------------------------------------------------------------


def _again(record: Record) -> dict[str, bool]:
    return {row["setting"]: row["again"] > 0 for row in record.rows}


def say_recompiles(record: Record) -> Text:
    again = _again(record)
    if len(again) < 2:
        return NOTHING
    told = {flag: [name for name, one in again.items() if one is flag and name != "nothing"] for flag in (True, False)}
    control = (
        both("", "")
        if not again.get("nothing")
        else both(
            " The control compiled again too: this record proves nothing.", "对照也重新编译了：这份记录说明不了什么。"
        )
    )
    return both(
        f"Compiled again after: {joined(told[True], 'en') or 'none'}. Not compiled again after: "
        f"{joined(told[False], 'en') or 'none'}.{control['en']}",
        f"改了之后重新编译的：{joined(told[True], 'zh') or '无'}。改了也不重新编译的：{joined(told[False], 'zh') or '无'}。"
        f"{control['zh']}",
    )


def draw_recompiles(record: Record, ax: Any) -> None:
    words = (t("the old code runs on", "照跑旧代码"), t("compiled again", "重新编译"))
    heads = (t("moved", "改了之后"), t("put back", "改回去之后"))
    lines = [
        (
            t("nothing moved (control)", "什么都没改（对照）") if row["setting"] == "nothing" else row["setting"],
            [(words[row[when] > 0], int(row[when] > 0)) for when in ("again", "back")],
        )
        for row in record.rows
    ]
    table(ax, heads, lines)


def settle_recompiles(record: Record) -> dict[str, str | None]:
    again = _again(record)
    pair = again.get("mkldnn.enabled"), again.get("set_num_threads")
    if None in pair or again.get("nothing", True):
        return {"13-bet-recompile": None}
    answers = {(True, False): "a", (False, True): "b", (True, True): "c", (False, False): "d"}
    return {"13-bet-recompile": answers[pair]}


@experiment(
    name="13-recompiles",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=25,
    title=both(
        "Ten settings moved after compiling: which make torch compile again?",
        "编译之后改十个设置：哪些会让 torch 重新编译？",
    ),
)
def recompiles(budget: Budget) -> list[dict]:
    """In a new process: compilations of a small convolution after each of ten settings was moved; no C++ compiler needed."""
    return [
        row for part in budget.loop(["recompiles"], desc=both("compiling", "编译")) for row in rows_of(PROBES, part)
    ]


# --- 13-baked -----------------------------------------------------------------------------------------------

RUNS = {
    "none": both("not compiled", "没有编译"),
    "eager": both('compiled, backend="eager"', 'compile，backend="eager"'),
    "aot_eager": both('compiled, backend="aot_eager"', 'compile，backend="aot_eager"'),
    "inside": both("aot_eager, sdpa_kernel(MATH) inside", "aot_eager，函数里写 sdpa_kernel(MATH)"),
}


def say_baked(record: Record) -> Text:
    rows = [row for row in record.rows if row["backend"] != "inside"]
    if not rows:
        return NOTHING
    stale = {
        code: joined([RUNS[row["backend"]][code] for row in rows if row["after"] == row["before"]], code)
        for code in ("en", "zh")
    }
    return both(
        f"Flash switched off after the first call. Still flash in the next call: {stale['en'] or 'none'}.",
        f"第一次调用之后关掉 flash。下一次调用仍走 flash 的：{stale['zh'] or '无'}。",
    )


def draw_baked(record: Record, ax: Any) -> None:
    heads = (t("flash on", "flash 开"), t("then off", "随后关掉"), t("after reset()", "reset() 之后"))
    pieces = {"written out": t("math, written out", "math，已拆成算子")}
    lines = [
        (
            word(RUNS[row["backend"]]),
            [
                (pieces.get(row[when], row[when]), int(row[when] == "flash") if when == "after" else None)
                for when in ("before", "after", "reset")
            ],
        )
        for row in record.rows
    ]
    table(ax, heads, lines)


def settle_baked(record: Record) -> dict[str, str | None]:
    row = next((one for one in record.rows if one["backend"] == "aot_eager"), None)
    if row is None or row["before"] != "flash":
        return {"13-bet-baked": None}
    if row["after"] == "flash":
        return {"13-bet-baked": "c"}
    return {"13-bet-baked": "a" if row["again"] else "b"}


@experiment(
    name="13-baked",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=25,
    title=both("Flash switched off after compiling: who notices?", "编译之后再关掉 flash：谁会注意到？"),
)
def baked(budget: Budget) -> list[dict]:
    """In a new process: the attention kernel before and after flash is switched off, plain and compiled in two ways."""
    return [row for part in budget.loop(["baked"], desc=both("compiling", "编译")) for row in rows_of(PROBES, part)]


# --- 13-who-inherits ----------------------------------------------------------------------------------------

OF_THREAD = ("grad_enabled", "autocast")
WHO = {
    "thread": both("a new thread", "新线程"),
    "fork": both("a forked child", "fork 的子进程"),
    "spawn": both("a spawned child", "spawn 的子进程"),
}


def _sees(record: Record, who: str, names: tuple[str, ...]) -> set[bool]:
    """For the settings that moved: whether ``who`` reads what the main thread set. Empty where there is no such child."""
    return {row[who] == row["main"] for row in record.rows if row["setting"] in names and row[who]}


def say_who_inherits(record: Record) -> Text:
    rows = record.rows
    if not rows:
        return NOTHING

    def told(code: str) -> str:
        none, absent = ("none", "cannot be started here") if code == "en" else ("无", "这里启动不了")
        parts = []
        for who, name in WHO.items():
            lost = [row["setting"] for row in rows if row[who] and row[who] != row["main"]]
            what = joined(lost, code) or none if any(row[who] for row in rows) else absent
            parts.append(f"{what} ({name['en']})" if code == "en" else f"{name['zh']}：{what}")
        return ("; " if code == "en" else "；").join(parts)

    return both(f"Settings that do not arrive: {told('en')}.", f"没有传过去的设置。{told('zh')}。")


def draw_who_inherits(record: Record, ax: Any) -> None:
    """Three processes as boxes: switches on the wall of each, and what a thread has in its apron."""
    from matplotlib.patches import FancyBboxPatch

    from course.figures.style import colors, faint, guide

    orange, wall = colors()[1], [row for row in record.rows if row["setting"] not in OF_THREAD]
    own = [row for row in record.rows if row["setting"] in OF_THREAD]
    middle, low = 1.6 + len(wall), 3.4 + len(wall) + len(own)

    def box(left: float, top: float, wide: float, high: float, title: str, colour: str) -> None:
        shape = FancyBboxPatch(
            (left, top), wide, high, boxstyle="round,pad=0,rounding_size=0.25", facecolor="none", edgecolor=colour
        )
        ax.add_patch(shape)
        ax.text(left + 0.2, top + 0.5, title, va="center", fontsize=10, color=guide())

    def listed(rows: list[dict], who: str, left: float, top: float) -> None:
        for place, row in enumerate(rows):
            other = row[who] not in ("", row["main"])
            ax.text(
                left + 0.25,
                top + place,
                f"{'◆ ' if other else ''}{row['setting']} {row[who] or '–'}",
                va="center",
                fontsize=8.5,
                **({"color": orange} if other else {}),
            )

    box(0, 0, 10.9, low, t("this process: one wall, two threads", "这个进程：一面墙，两个线程"), guide())
    listed(wall, "main", 0, 1.5)
    for who, left, title in (("main", 0.2, t("main thread", "主线程")), ("thread", 5.5, word(WHO["thread"]))):
        box(left, middle, 5.2, low - middle - 0.25, title, faint())
        listed(own, who, left, middle + 1.5)
    for who, left, wide in (("fork", 11.2, 6.0), ("spawn", 17.5, 6.6)):
        box(left, 0, wide, low, word(WHO[who]), guide())
        listed(wall, who, left, 1.5)
        listed(own, who, left, middle + 1.5)
    ax.set(xlim=(-0.1, 24.2), ylim=(low + 0.1, -0.1), xticks=[], yticks=[])
    ax.set_xlabel(t("orange ◆: not what the main thread has set", "橙色 ◆：和主线程设的不一样"))
    ax.grid(False)
    ax.spines[:].set_visible(False)
    if len(ax.figure.axes) == 1:
        ax.figure.set_figheight(0.25 * low + 0.6)


def settle_who_inherits(record: Record) -> dict[str, str | None]:
    switch, own = _sees(record, "thread", ("flash_sdp_enabled",)), _sees(record, "thread", OF_THREAD)
    if len(switch) != 1 or len(own) != 1:
        return {"13-bet-thread": None}
    answers = {(True, True): "a", (True, False): "b", (False, True): "c", (False, False): "d"}
    return {"13-bet-thread": answers[switch.pop(), own.pop()]}


@experiment(
    name="13-who-inherits",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=15,
    title=both("Seven settings moved here: who else reads them?", "在这里改了七个设置：还有谁读得到？"),
)
def who_inherits(budget: Budget) -> list[dict]:
    """In a new process: five settings of the process and two of a thread; read in a thread, a forked and a spawned child."""
    return [row for part in budget.loop(["inherits"], desc=both("processes", "进程")) for row in rows_of(PROBES, part)]


# --- 13-autocast --------------------------------------------------------------------------------------------


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


def _changed(record: Record) -> list[str]:
    return [row["operation"] for row in record.rows if row["inside"] != row["outside"]]


def say_autocast(record: Record) -> Text:
    rows = record.rows
    if not rows:
        return NOTHING
    kept = [row["operation"] for row in rows if row["operation"] not in _changed(record)]
    moved = [row["operation"] for row in rows if bool(row["lines_inside"]) != bool(row["lines_outside"])]
    return both(
        f"From float32 to 16 bits under autocast: {joined(_changed(record), 'en') or 'none'}. Still float32: "
        f"{joined(kept, 'en') or 'none'}. Another library than before (oneDNN's log): {joined(moved, 'en') or 'none'}.",
        f"autocast 下从 float32 变成 16 位的：{joined(_changed(record), 'zh') or '无'}。仍是 float32 的："
        f"{joined(kept, 'zh') or '无'}。换了库的（看 oneDNN 日志）：{joined(moved, 'zh') or '无'}。",
    )


def draw_autocast(record: Record, ax: Any) -> None:
    def lines_of(count: int) -> str:
        return t(f"{count} line{'s' * (count > 1)}", f"{count} 行") if count else "–"

    heads = (
        t("result", "结果"),
        t("in autocast", "autocast 里"),
        t("oneDNN's log", "oneDNN 日志"),
        t("in autocast", "autocast 里"),
    )
    lines = [
        (
            row["operation"],
            [
                (row["outside"], None),
                (row["inside"], 0 if row["inside"] == row["outside"] else 1),
                (lines_of(row["lines_outside"]), None),
                (lines_of(row["lines_inside"]), 0 if bool(row["lines_inside"]) == bool(row["lines_outside"]) else 1),
            ],
        )
        for row in record.rows
    ]
    table(ax, heads, lines)


def settle_autocast(record: Record) -> dict[str, str | None]:
    """None too where oneDNN says nothing at all: there is none in this build, or it keeps no log."""
    row = next((one for one in record.rows if one["operation"] == "Linear"), None)
    silent = not any(one["lines_outside"] for one in record.rows)
    if row is None or silent or row["inside"] == row["outside"] or row["lines_outside"]:
        return {"13-bet-library": None}
    return {"13-bet-library": "b" if row["lines_inside"] else "a"}


@experiment(
    name="13-autocast",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=5,
    title=both(
        "autocast on the CPU: which results change their type, and who computes them?",
        "CPU 上的 autocast：哪些结果换了类型，又是谁在算？",
    ),
)
def autocast(budget: Budget) -> list[dict]:
    """The type of the result of eleven operations outside and inside autocast (bfloat16), and lines in oneDNN's log."""
    rows = []
    with torch.inference_mode():
        for operation, call in budget.loop(_operations().items(), desc=both("operations", "算子")):
            outside = {"outside": _type(call), "lines_outside": len(log_of(call))}
            with torch.autocast("cpu", dtype=torch.bfloat16):
                inside = {"inside": _type(call), "lines_inside": len(log_of(call))}
            rows.append({"operation": operation, **outside, **inside})
    return rows


def _type(call: Callable[[], torch.Tensor]) -> str:
    return str(call().dtype).removeprefix("torch.")
