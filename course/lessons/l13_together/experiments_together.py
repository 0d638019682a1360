"""Experiments of lesson 13: what compiled code notices, what a thread or a child inherits, what autocast changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.words import NOTHING, TOO_NOISY, joined, word
from course.i18n import Text, both, t
from course.lessons.l13_together.experiments import LESSON, with_bets
from course.onednn_log import log_of
from course.records import Record
from course.tables import Table

PROBES = "course.lessons.l13_together.probes"

# --- 13-recompiles ------------------------------------------------------------------------------------------


def _again(record: Record) -> dict[str, bool]:
    return {row["setting"]: row["again"] > 0 for row in record.rows}


def headline_recompiles(record: Record) -> Text:
    again = _again(record)
    if not {"nothing", "mkldnn.enabled", "set_num_threads"} <= set(again):
        return TOO_NOISY
    if again["nothing"]:
        return both(
            "With nothing changed, torch compiled again: this run proves nothing.",
            "什么都没改也重新编译了，这次结果不算数。",
        )
    said = {
        "a": both(
            "The oneDNN switch makes torch compile again; a new thread count does not.",
            "改 oneDNN 开关会重新编译，改线程数不会。",
        ),
        "b": both(
            "A new thread count makes torch compile again; the oneDNN switch does not.",
            "改线程数会重新编译，改 oneDNN 开关不会。",
        ),
        "c": both(
            "Both make torch compile again: the oneDNN switch and a new thread count.",
            "改 oneDNN 开关、改线程数，都会重新编译。",
        ),
        "d": both(
            "Neither the oneDNN switch nor a new thread count makes torch compile again.",
            "改 oneDNN 开关、改线程数，都不会重新编译。",
        ),
    }
    return said[settle_recompiles(record)["13-bet-recompile"] or ""]


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


def draw_recompiles(record: Record, bets: dict) -> Table:
    words = (t("old code runs on", "照跑旧代码"), t("compiled again", "重新编译"))
    lines = [["", t("moved", "改了之后"), t("put back", "改回去之后")]]
    lines += [
        [
            t("nothing moved (control)", "什么都没改（对照）") if row["setting"] == "nothing" else row["setting"],
            *(words[row[when] > 0] for when in ("again", "back")),
        ]
        for row in record.rows
    ]
    place = {row["setting"]: number for number, row in enumerate(record.rows)}
    bet = bets.get("13-bet-recompile", "")
    asked = {"mkldnn.enabled": "ac", "set_num_threads": "bc"}  # the options that say: this one compiles again
    said = {place[name]: words[bet in options] for name, options in asked.items() if bet and name in place}
    return with_bets(
        lines, {(number, 1): "told" for number, row in enumerate(record.rows) if row["again"]}, said, lines[0][1]
    )


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
def recompiles(budget: Budget) -> Iterator[dict]:
    """In a new process: compilations of a small convolution after each of ten settings was moved; no C++ compiler needed."""
    for part in budget.loop(["recompiles"], desc=both("compiling", "编译")):
        yield from rows_of(PROBES, part)


# --- 13-baked -----------------------------------------------------------------------------------------------

RUNS = {
    "none": both("not compiled", "没有编译"),
    "eager": both('compiled, backend="eager"', 'compile，backend="eager"'),
    "aot_eager": both('compiled, backend="aot_eager"', 'compile，backend="aot_eager"'),
    "inside": both("aot_eager, sdpa_kernel(MATH) inside", "aot_eager，函数里写 sdpa_kernel(MATH)"),
}


def headline_baked(record: Record) -> Text:
    row = next((one for one in record.rows if one["backend"] == "aot_eager"), None)
    if row is None:
        return TOO_NOISY
    said = {
        "a": both(
            "Flash switched off: the compiled code notices, and is compiled again.",
            "关掉 flash，编译过的代码会发现，并重新编译。",
        ),
        "b": both(
            "Flash switched off: the compiled code obeys without compiling again.",
            "关掉 flash，编译过的代码不用重新编译就照办。",
        ),
        "c": both(
            "Flash is off, but code compiled earlier still uses flash.", "flash 关了，之前编译好的代码却还在用 flash。"
        ),
        None: both(
            "Compiled attention never ran flash here: nothing to switch off.", "这里编译后没跑过 flash，关不关都一样。"
        ),
    }
    return said[settle_baked(record)["13-bet-baked"]]


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


def draw_baked(record: Record, bets: dict) -> Table:
    pieces = {"written out": t("math, written out", "math，已拆成算子")}
    lines = [["", t("flash on", "flash 开"), t("then off", "随后关掉"), t("after reset()", "reset() 之后")]]
    lines += [
        [word(RUNS[row["backend"]]), *(pieces.get(row[when], row[when]) for when in ("before", "after", "reset"))]
        for row in record.rows
    ]
    options = {
        "a": t("math, compiled again", "math，重新编译"),
        "b": t("math, the old code", "math，旧代码"),
        "c": "flash",
    }
    mine = options.get(bets.get("13-bet-baked", ""))
    said = {number: mine for number, row in enumerate(record.rows) if mine and row["backend"] == "aot_eager"}
    return with_bets(
        lines,
        {(number, 2): "told" for number, row in enumerate(record.rows) if row["after"] == "flash"},
        said,
        lines[0][2],
    )


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
def baked(budget: Budget) -> Iterator[dict]:
    """In a new process: the attention kernel before and after flash is switched off, plain and compiled in two ways."""
    for part in budget.loop(["baked"], desc=both("compiling", "编译")):
        yield from rows_of(PROBES, part)


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


def headline_who_inherits(record: Record) -> Text:
    wall = tuple(row["setting"] for row in record.rows if row["setting"] not in OF_THREAD)
    switches, own = _sees(record, "thread", wall), _sees(record, "thread", OF_THREAD)
    if not switches or not own:
        return TOO_NOISY
    if len(switches) > 1 or len(own) > 1:
        return both("A new thread sees some of your settings, not all.", "新线程只看得到你的一部分设置。")
    said = {
        (True, True): both(
            "A new thread sees all of it: your switches, no_grad and autocast.",
            "新线程全看得到：开关、no_grad 和 autocast。",
        ),
        (True, False): both(
            "A new thread sees your switches, but not your no_grad or autocast.",
            "新线程看得到你的开关，看不到 no_grad 和 autocast。",
        ),
        (False, True): both(
            "A new thread sees no_grad and autocast, but not your switches.",
            "新线程看得到 no_grad 和 autocast，看不到开关。",
        ),
        (False, False): both(
            "A new thread starts afresh and sees nothing you set.", "新线程从头开始，你的设置都看不到。"
        ),
    }
    return said[switches.pop(), own.pop()]


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


def draw_who_inherits(record: Record, bets: dict) -> Table:
    """What each reads; marked where it is not what the main thread has set."""
    heads = [t("main thread", "主线程"), *(word(name) for name in WHO.values())]
    lines = [["", *heads], *([row["setting"], row["main"], *(row[who] or "–" for who in WHO)] for row in record.rows)]
    marks = {
        (number, at): "told"
        for number, row in enumerate(record.rows)
        for at, who in enumerate(WHO, 2)
        if row[who] not in ("", row["main"])
    }
    arrive = {"a": ("flash_sdp_enabled", *OF_THREAD), "b": ("flash_sdp_enabled",), "c": OF_THREAD, "d": ()}
    mine = arrive.get(bets.get("13-bet-thread", ""))
    said = {
        number: row["main" if row["setting"] in mine else "default"]
        for number, row in enumerate(record.rows)
        if mine is not None and row["setting"] in arrive["a"]
    }
    return with_bets(lines, marks, said, heads[1])


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
    whole=True,
    title=both("Seven settings moved here: who else reads them?", "在这里改了七个设置：还有谁读得到？"),
)
def who_inherits(budget: Budget) -> Iterator[dict]:
    """In a new process: five settings of the process and two of a thread; read in a thread, a forked and a spawned child."""
    for part in budget.loop(["inherits"], desc=both("processes", "进程")):
        yield from rows_of(PROBES, part)


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


def _changed(record: Record) -> list[str]:
    return [row["operation"] for row in record.rows if row["inside"] not in (row["outside"], REFUSED)]


def _library_changed(row: Mapping[str, Any]) -> bool:
    return row["inside"] != REFUSED and bool(row["lines_inside"]) != bool(row["lines_outside"])


def headline_autocast(record: Record) -> Text:
    row = next((one for one in record.rows if one["operation"] == "Linear"), None)
    if row is None:
        return TOO_NOISY
    if row["inside"] == row["outside"]:
        return both("Under autocast, Linear keeps its type here.", "在这里，进了 autocast，Linear 的类型没变。")
    if row["inside"] == REFUSED:
        return both("Under autocast, Linear raises an error here.", "在这里，进了 autocast，Linear 直接报错。")
    who = {
        (False, False): both("but oneDNN does not do the work", "但不是 oneDNN 在算"),
        (False, True): both("and oneDNN takes over the work", "换成 oneDNN 来算"),
        (True, False): both("and oneDNN no longer does the work", "不再由 oneDNN 算"),
        (True, True): both("and oneDNN does the work as before", "还是由 oneDNN 算"),
    }[bool(row["lines_outside"]), bool(row["lines_inside"])]
    if not any(one["lines_outside"] or one["lines_inside"] for one in record.rows):
        who = both("but oneDNN's log does not say who computes", "谁在算，日志没说")
    return both(
        f"Under autocast, Linear computes in {row['inside']}, {who['en']}.",
        f"进了 autocast，Linear 改用 {row['inside']}，{who['zh']}。",
    )


def say_autocast(record: Record) -> Text:
    rows = record.rows
    if not rows:
        return NOTHING
    kept = [row["operation"] for row in rows if row["inside"] == row["outside"]]
    refused = [row["operation"] for row in rows if row["inside"] == REFUSED]
    moved = [row["operation"] for row in rows if _library_changed(row)]
    return both(
        f"From float32 to 16 bits under autocast: {joined(_changed(record), 'en') or 'none'}. Still float32: "
        f"{joined(kept, 'en') or 'none'}. Another library than before (oneDNN's log): {joined(moved, 'en') or 'none'}."
        + (
            f" Raised an error: {joined(refused, 'en')}: oneDNN has no 16-bit version of it for this CPU."
            if refused
            else ""
        ),
        f"autocast 下从 float32 变成 16 位的：{joined(_changed(record), 'zh') or '无'}。仍是 float32 的："
        f"{joined(kept, 'zh') or '无'}。换了库的（看 oneDNN 日志）：{joined(moved, 'zh') or '无'}。"
        + (f"报错的：{joined(refused, 'zh')}，在这颗 CPU 上，oneDNN 没有它的 16 位版本。" if refused else ""),
    )


def draw_autocast(record: Record, bets: dict) -> Table:
    def lines_of(count: int) -> str:
        return t(f"{count} line{'s' * (count > 1)}", f"{count} 行") if count else "–"

    inside = t("in autocast", "autocast 里")
    log = t("oneDNN's log", "oneDNN 日志"), t("its log in autocast", "autocast 里的日志")
    lines = [["", t("result", "结果"), inside, *log]]
    marks = {}
    for number, row in enumerate(record.rows):
        outside = row["lines_outside"], row["lines_inside"]
        lines.append([row["operation"], row["outside"], row["inside"], *map(lines_of, outside)])
        marks |= {(number, 2): "told"} if row["inside"] != row["outside"] else {}
        marks |= {(number, 4): "told"} if _library_changed(row) else {}
    mine = {"a": "MKL", "b": "oneDNN"}.get(bets.get("13-bet-library", ""))
    said = {number: mine for number, row in enumerate(record.rows) if mine and row["operation"] == "Linear"}
    return with_bets(lines, marks, said, t("who computes", "由谁来算"))


def settle_autocast(record: Record) -> dict[str, str | None]:
    """None too where oneDNN says nothing at all: there is none in this build, or it keeps no log."""
    row = next((one for one in record.rows if one["operation"] == "Linear"), None)
    silent = not any(one["lines_outside"] for one in record.rows)
    if row is None or silent or row["inside"] in (row["outside"], REFUSED) or row["lines_outside"]:
        return {"13-bet-library": None}
    return {"13-bet-library": "b" if row["lines_inside"] else "a"}


@experiment(
    name="13-autocast",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=5,
    whole=True,
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
            outside = _computed(call)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                inside = _computed(call)
            row = {"outside": outside[0], "lines_outside": outside[1], "inside": inside[0], "lines_inside": inside[1]}
            rows.append({"operation": operation, **row})
    return rows


def _computed(call: Callable[[], torch.Tensor]) -> tuple[str, int]:
    """The type of the result, and the lines in oneDNN's log; REFUSED and 0 where oneDNN has none for this CPU."""
    try:
        return str(call().dtype).removeprefix("torch."), len(log_of(call))
    except RuntimeError as error:
        if "could not create a primitive" not in str(error):
            raise
        return REFUSED, 0
