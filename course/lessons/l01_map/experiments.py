"""Experiments of lesson 01: what a switch of torch.backends reaches, and what it does not.

Whatever leaves traces (freezing, children, overwritten functions) runs in a new process.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.plots import BLUE, table, tiles
from course.experiment.words import EMPTY, TOO_NOISY
from course.figures.kinds import times
from course.figures.style import colors, guide
from course.i18n import Text, both, t
from course.records import Record

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


def _row(record: Record, key: str, value: Any) -> dict | None:
    return next((row for row in record.rows if row[key] == value), None)


EN = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
ZH = ("零", "一", "两", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二")


# --- 01-polite-request --------------------------------------------------------------------------------------

SAME_LOW, SAME_HIGH = 0.95, 1.05  # a ratio whose interval stays within counts as "the same time"


def headline_polite_request(record: Record) -> Text:
    asked = _row(record, "request", "deterministic")
    verdict = settle_polite_request(record)["01-bet-polite"]
    en, zh = {
        "a": ("here it even got faster", "这里反而更快"),
        "b": ("here it cost no time", "这里没多花时间"),
        "c": ("slower", "更慢"),
        None: ("", ""),
    }[verdict]
    if not verdict:
        return TOO_NOISY
    if verdict == "c":
        ratio = asked["ratio"]
        more = f"{(ratio - 1) * 100:.0f}"
        en = f"{times(ratio)} times as long" if ratio >= 1.95 else f"{more} % slower"
        zh = f"耗时变成 {times(ratio)} 倍" if ratio >= 1.95 else f"多花 {more}% 的时间"
    return both(f"One flag asked for, another switched off: {en}.", f"只要了一个选项，另一个却被关掉：{zh}。")


def say_polite_request(record: Record) -> Text:
    asked, named = _row(record, "request", "deterministic"), _row(record, "request", "both named")
    if asked is None or named is None:
        return both("Nothing was measured: run it again.", "没有测到数据：请再运行一次。")
    en = zh = ""
    if settle_polite_request(record)["01-bet-polite"] is None:
        en, zh = (
            "Inconclusive, the machine was too busy; close other programs and run it again. ",
            "无法判定：机器太忙，请关掉其他程序再试。",
        )
    return both(
        f"{en}Inside flags(deterministic=True) the same convolution takes {asked['ratio']:.2f} times as long [{asked['low']:.2f}, "
        f"{asked['high']:.2f}]; with enabled=True written as well, {named['ratio']:.2f} times [{named['low']:.2f}, "
        f"{named['high']:.2f}].",
        f"{zh}在 flags(deterministic=True) 里，同一个卷积的耗时是原来的 {asked['ratio']:.2f} 倍 [{asked['low']:.2f}, "
        f"{asked['high']:.2f}]；再写上 enabled=True，则是 {named['ratio']:.2f} 倍 [{named['low']:.2f}, "
        f"{named['high']:.2f}]。",
    )


def draw_polite_request(record: Record, ax: Any) -> None:
    names = {
        "plain": t("as it is", "原样"),
        "deterministic": "flags(deterministic=True)",
        "both named": "flags(enabled=True,\n  deterministic=True)",
    }
    rows = list(reversed(record.rows))
    for height, row in enumerate(rows):
        ax.plot([row["low"], row["high"]], [height, height], color=BLUE, linewidth=3)
        ax.plot(row["ratio"], height, "o", color=BLUE)
    ax.axvline(1.0, color="gray", linestyle=":")
    ax.set_yticks(range(len(rows)), [names[row["request"]] for row in rows])
    ax.set_ylim(-0.5, len(rows) - 0.5)
    ax.set_xlim(left=0)
    ax.set_xlabel(t("time / time as it is", "耗时 / 原样耗时"))


def settle_polite_request(record: Record) -> dict[str, str | None]:
    asked = _row(record, "request", "deterministic")
    verdict = None
    if asked and asked["low"] > SAME_HIGH:
        verdict = "c"
    elif asked and asked["high"] < SAME_LOW:
        verdict = "a"
    elif asked and SAME_LOW <= asked["low"] and asked["high"] <= SAME_HIGH:
        verdict = "b"
    return {"01-bet-polite": verdict}


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


@experiment(
    name="01-polite-request",
    lesson=LESSON,
    version=1,
    needs="mkldnn",
    seconds=5,
    title=both(
        "What does a polite `flags(deterministic=True)` cost?",
        "礼貌地写一句 `flags(deterministic=True)`，要付出什么代价？",
    ),
)
def polite_request(budget: Budget) -> list[dict]:
    """One convolution as it is, inside flags(deterministic=True), and with enabled=True said as well.

    On one thread, where a busy machine disturbs least.
    """
    from course.timing import compare

    torch.set_num_threads(1)
    convolve = _depthwise()
    candidates = {
        "plain": convolve,
        "deterministic": _inside(convolve, deterministic=True),
        "both named": _inside(convolve, enabled=True, deterministic=True),
    }
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # flags() also touches a TF32 switch that only Intel GPUs have
        result = compare(candidates, baseline="plain", max_time=max(1.0, min(5.0, budget.left())))
    medians = result.medians_ms
    rows = [{"request": "plain", "median_ms": medians["plain"], "ratio": 1.0, "low": 1.0, "high": 1.0}]
    for name, pair in result.pairs.items():
        rows.append(
            {
                "request": name,
                "median_ms": medians[name],
                "ratio": pair.ratio,
                "low": pair.low,
                "high": pair.high,
                "samples_ratio": list(pair.ratios),
            }
        )
    return rows


# --- 01-typos -----------------------------------------------------------------------------------------------


def headline_typos(record: Record) -> Text:
    silent = sum(not row["raised"] for row in record.rows)
    wrong = min(len(record.rows), 12)
    if silent == 0:
        return both("Every misspelt switch raised an error.", "拼错的开关，个个都报错。")
    if silent == len(record.rows):
        return both("Every misspelt switch was accepted in silence.", "拼错的开关，个个都被悄悄接受。")
    return both(
        f"{EN[wrong].capitalize()} misspelt switches: PyTorch kept silent about {EN[silent]}.",
        f"拼错{ZH[wrong]}个开关，PyTorch 对其中{ZH[silent]}个一声不吭。",
    )


def say_typos(record: Record) -> Text:
    total, raised = len(record.rows), sum(row["raised"] for row in record.rows)
    loud = ", ".join(row["wrote"] for row in record.rows if row["raised"]) or "-"
    return both(
        f"Of {total} misspelt assignments {total - raised} were accepted in silence; {raised} raised an error: {loud}.",
        f"{total} 个拼错的赋值中，有 {total - raised} 个被悄悄接受，{raised} 个报错：{loud}。",
    )


def draw_typos(record: Record, ax: Any) -> None:
    silent = t("accepted in silence", "悄悄接受")
    tiles(ax, [(row["wrote"], row["error"] or silent, bool(row["raised"])) for row in record.rows])


def settle_typos(record: Record) -> dict[str, str | None]:
    total, raised = len(record.rows), sum(row["raised"] for row in record.rows)
    if not total:
        return {"01-bet-typos": None}
    share = raised / total
    return {"01-bet-typos": "a" if share == 1 else "b" if share > 0.25 else "c" if raised else "d"}


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


@experiment(
    name="01-typos",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=1,
    title=both("Twelve misspelt switches: who complains?", "十二个拼错的开关：谁会报错？"),
)
def typos(budget: Budget) -> list[dict]:
    """Assign to twelve names that do not exist and note which assignment raises; all are taken back."""
    rows = []
    for wrote, meant, value in budget.loop(MISSPELT, desc=both("misspelling", "正在拼错")):
        owner, name = _owner(wrote)
        if not hasattr(owner, name):
            error = _try(wrote, value)
            rows.append({"wrote": wrote, "meant": meant, "raised": int(bool(error)), "error": error})
    return rows


# --- 01-who-sees --------------------------------------------------------------------------------------------

PLACES = {
    "main": ("the same thread", "同一线程"),
    "thread": ("another thread", "另一个线程"),
    "fork": ("a forked child", "fork 出的子进程"),
    "spawn": ("a spawned child", "spawn 出的子进程"),
}


def _seen(record: Record, read_in: str) -> int | None:
    row = next((r for r in record.rows if r["set_in"] == "main" and r["read_in"] == read_in), None)
    return row["sees"] if row else None


def headline_who_sees(record: Record) -> Text:
    """A system without fork has no row for it."""
    thread, fork, spawn = (_seen(record, place) for place in ("thread", "fork", "spawn"))
    if thread is None or spawn is None:
        return EMPTY
    said = {
        (0, 0, 0): both("Only the thread that sets a switch sees it.", "只有拨开关的那个线程看得到它。"),
        (1, 0, 0): both(
            "A second thread sees your switch; no child process does.", "另一个线程看得到你的开关，子进程看不到。"
        ),
        (1, 1, 0): both(
            "Threads and forked children see your switch; spawned children do not.",
            "线程和 fork 的子进程看得到，spawn 的看不到。",
        ),
        (1, 1, 1): both(
            "Threads, forked and spawned children all see your switch.", "线程、fork 和 spawn 的子进程，全都看得到。"
        ),
        (1, None, 0): both(
            "A second thread sees your switch; a spawned child does not.",
            "另一个线程看得到你的开关，spawn 的子进程看不到。",
        ),
    }
    mixed = both("Not every thread and process sees your switch.", "你拨的开关，不是每个线程和进程都看得到。")
    return said.get((thread, fork, spawn), mixed)


def say_who_sees(record: Record) -> Text:
    from_main = [row for row in record.rows if row["set_in"] == "main"]

    def places(sees: int, column: int) -> str:
        names = [PLACES[row["read_in"]][column] for row in from_main if row["sees"] == sees]
        return (", ", "、")[column].join(names) or ("nobody", "无")[column]

    back = sum(row["sees"] for row in record.rows if row["set_in"] in ("fork", "spawn"))
    en_back = "came back" if back else "did not come back"
    return both(
        f"Set in the main thread, the switch was seen by: {places(1, 0)}; not seen by: {places(0, 0)}. "
        f"What a child process set {en_back} to its parent.",
        f"在主线程里拨动开关，看得到的有：{places(1, 1)}；看不到的有：{places(0, 1)}。"
        f"子进程里的改动{'传回了' if back else '没有传回'}父进程。",
    )


def draw_who_sees(record: Record, ax: Any) -> None:
    """Three memories: your process with its two threads, a forked child and a spawned one; what each reads."""
    from matplotlib.patches import FancyBboxPatch

    def memory(left: float, top: float, head: str, words: str, sees: int) -> None:
        colour = colors()[0 if sees else 1]
        shape = "round,pad=0,rounding_size=0.12"
        ax.add_patch(
            FancyBboxPatch((left, top), 3.1, 1.5, boxstyle=shape, facecolor="none", edgecolor=colour, linewidth=2)
        )
        ax.text(left + 0.15, top + 0.27, head, va="center", fontsize=11, fontweight="bold")
        ax.text(
            left + 0.15,
            top + 0.72,
            f"benchmark = {bool(sees)}",
            va="center",
            fontsize=12,
            family="monospace",
            color=colour,
        )
        ax.text(left + 0.15, top + 1.17, words, va="center", fontsize=10)

    shared = (
        t("two threads, one value", "两个线程，同一个值")
        if _seen(record, "thread")
        else t("the main thread set it", "主线程设的")
    )
    memory(0, 1.0, t("your process", "你的进程"), shared, 1)
    children = (
        ("fork", t("fork: a copy", "fork：复制一份"), 0.0),
        ("spawn", t("spawn: a new Python", "spawn：全新的 Python"), 2.0),
    )
    words = (t("starts with the default", "从默认值开始"), t("starts with your value", "从你的值开始"))
    for method, head, top in children:
        sees = _seen(record, method)
        if sees is not None:
            memory(4.1, top, head, words[sees], sees)
            ax.plot([3.1, 4.1], [1.75, top + 0.75], color=guide(), linewidth=1.5)
            ax.plot(4.1, top + 0.75, ">", color=guide(), markersize=8)
    ax.set(xlim=(-0.05, 7.25), ylim=(3.55, -0.05), xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    ax.set_xlabel(t("what each memory holds after the main thread set True", "主线程设为 True 之后，每块内存里的值"))


def settle_who_sees(record: Record) -> dict[str, str | None]:
    seen = tuple(_seen(record, place) for place in ("thread", "fork", "spawn"))
    return {"01-bet-who-sees": {(0, 0, 0): "a", (1, 0, 0): "b", (1, 1, 0): "c", (1, 1, 1): "d"}.get(seen)}


@experiment(
    name="01-who-sees",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=8,
    title=both("A switch is turned: who sees it?", "拨动一个开关：谁看得到？"),
)
def who_sees(budget: Budget) -> list[dict]:
    """Turn cudnn.benchmark in one place and read it in a thread, a forked child and a spawned child."""
    return rows_of(PROBES, "who_sees")


# --- 01-flags-trap ------------------------------------------------------------------------------------------


def _unnamed_changes(record: Record) -> list[str]:
    return [row["switch"] for row in record.rows if not row["named"] and row["inside"] != row["before"]]


def headline_flags_trap(record: Record) -> Text:
    others = len(_unnamed_changes(record))
    back = all(row["after"] == row["before"] for row in record.rows)
    if others == 0:
        en, zh = "no other changes", "其他都没动"
    else:
        en = "another one changes too" if others == 1 else f"{EN[others]} others change too"
        zh = f"另外{ZH[others]}个也跟着变" if others > 1 else "另有一个也跟着变"
    if not back:
        en, zh = f"{en}, and not all come back", f"{zh}，还没全变回来"
    return both(f"You name one switch; {en}.", f"只点名一个开关，{zh}。")


def say_flags_trap(record: Record) -> Text:
    others = _unnamed_changes(record)
    restored = all(row["after"] == row["before"] for row in record.rows)
    en, zh = ", ".join(others) or "-", "、".join(others) or "无"
    return both(
        f"One switch was named; inside, {len(others)} others changed too: {en}. "
        f"Afterwards {'all of them were' if restored else 'not all of them were'} back as before.",
        f"只点名了一个开关，里面却另有 {len(others)} 个跟着变了：{zh}。"
        f"离开之后{'这几个全部恢复原样' if restored else '这几个没有全部恢复'}。",
    )


def draw_flags_trap(record: Record, ax: Any) -> None:
    def cell(row: dict, column: str) -> tuple[str, int | None]:
        named = t(" (named)", "（点了名）") if column == "inside" and row["named"] else ""
        moved = row[column] != row["before"]
        return f"{bool(row[column])}{named}", (0 if row["named"] else 1) if moved else None

    moments = {"before": t("before", "之前"), "inside": t("inside", "里面"), "after": t("after", "之后")}
    table(
        ax, list(moments.values()), [(row["switch"], [cell(row, moment) for moment in moments]) for row in record.rows]
    )
    ax.set_xlabel(t("◆ changed without being named", "◆ 没点名却变了"))


def settle_flags_trap(record: Record) -> dict[str, str | None]:
    found = {0: "a", 1: "b", 2: "c", 3: "d"}.get(len(_unnamed_changes(record)))
    return {"01-bet-flags": found if record.rows else None}


@experiment(
    name="01-flags-trap",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=4,
    title=both(
        "`with cudnn.flags(deterministic=True)`: what changes inside?",
        "`with cudnn.flags(deterministic=True)`：里面变了什么？",
    ),
)
def flags_trap(budget: Budget) -> list[dict]:
    """Read four cuDNN switches before, inside and after the documented context manager."""
    return rows_of(PROBES, "flags_trap")


# --- 01-frozen ----------------------------------------------------------------------------------------------


def headline_frozen(record: Record) -> Text:
    opened = [row for row in record.rows if row["open"]]
    found = settle_frozen(record)["01-bet-frozen"]
    if not opened:
        return both("Frozen is frozen: every way to move a switch was refused.", "冻结就是冻结：什么改法都被拒绝。")
    if found == "b":
        return both("After freezing, only a with block still moves a switch.", "冻结之后，只有 with 块还能拨动开关。")
    work = "way to move a switch still works" if len(opened) == 1 else "ways to move a switch still work"
    return both(f"Frozen, yet {EN[len(opened)]} {work}.", f"都冻结了，还有{ZH[len(opened)]}种办法能拨动开关。")


def say_frozen(record: Record) -> Text:
    opened = [row["door"] for row in record.rows if row["open"]]
    total, shut = len(record.rows), len(record.rows) - len(opened)
    return both(
        f"After freezing, {shut} of {total} ways were refused; {len(opened)} still worked: {', '.join(opened) or '-'}.",
        f"冻结之后，{total} 种改法中有 {shut} 种被拒绝，{len(opened)} 种仍然有效：{'、'.join(opened) or '无'}。",
    )


def draw_frozen(record: Record, ax: Any) -> None:
    words = (t("refused", "被拒绝"), t("still works", "仍然有效"))
    tiles(ax, [(row["door"], words[bool(row["open"])], not row["open"]) for row in record.rows])


def settle_frozen(record: Record) -> dict[str, str | None]:
    opened = {row["kind"] for row in record.rows if row["open"]}
    if not record.rows:
        return {"01-bet-frozen": None}
    return {"01-bet-frozen": "a" if not opened else "b" if opened == {"with"} else "c"}


@experiment(
    name="01-frozen",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=5,
    title=both("The switches are frozen: which ways to move one still work?", "开关已冻结：还有哪些改法有效？"),
)
def frozen(budget: Budget) -> list[dict]:
    """Freeze the switches in a new process, then try ten ways to move one."""
    return rows_of(PROBES, "frozen_entry_points")


# --- 01-not-a-switch ----------------------------------------------------------------------------------------


def headline_not_a_switch(record: Record) -> Text:
    said = {
        "a": both("The line was accepted: asked again, MPS says it is off.", "这一行被接受了：再问，就说 MPS 不可用。"),
        "b": both("The line that should switch MPS off was refused.", "想关掉 MPS 的那一行，直接被拒绝了。"),
        "c": both("The line meant to switch MPS off only broke a function.", "想关掉 MPS 的那一行，只弄坏了一个函数。"),
        None: EMPTY,
    }
    return said[settle_not_a_switch(record)["01-bet-mps"]]


def say_not_a_switch(record: Record) -> Text:
    accepted, total = sum(row["accepted"] for row in record.rows), len(record.rows)
    broken = [row for row in record.rows if row["changed"]]
    moved = {row["asked"] for row in broken}
    same = sorted({row["asked"] for row in record.rows} - moved)
    en = "; ".join(f"{row['tried']} made {row['asked']} end in {row['after']}" for row in broken) or "nothing"
    zh = "；".join(f"{row['tried']} 之后，{row['asked']} 变成了 {row['after']}" for row in broken) or "没有"
    return both(
        f"{accepted} of {total} were accepted without a word. What changed: {en}. "
        f"Not moved by anything: {', '.join(same) or '-'}.",
        f"{total} 个里有 {accepted} 个被一声不吭地接受。真正变了的：{zh}。始终没变的：{'、'.join(same) or '无'}。",
    )


def draw_not_a_switch(record: Record, ax: Any) -> None:
    def word(row: dict) -> str:
        error = row["after"].split(":")[0]
        return f"{row['asked']}: {error}" if row["changed"] else f"{row['asked']}: " + t("unchanged", "没变")

    tiles(ax, [(row["tried"], word(row), not row["changed"]) for row in record.rows])


def settle_not_a_switch(record: Record) -> dict[str, str | None]:
    row = _row(record, "tried", "mps.is_available = False")
    if row is None:
        return {"01-bet-mps": None}
    if not row["accepted"]:
        return {"01-bet-mps": "b"}
    return {"01-bet-mps": "c" if "Error" in row["after"] else "a"}


@experiment(
    name="01-not-a-switch",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=5,
    title=both("Six things that look like switches: what do they switch?", "六个看起来像开关的东西：它们到底管什么？"),
)
def not_a_switch(budget: Budget) -> list[dict]:
    """Turn them in a new process, and ask before and after what they were meant to change."""
    return rows_of(PROBES, "not_switches")
