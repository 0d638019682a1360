"""Experiments of lesson 09 about instruction sets and threads."""

from __future__ import annotations

import platform
from typing import Any

import torch

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.plots import ratios
from course.experiment.words import NOTHING
from course.i18n import Text, both, t
from course.lessons.l09_mkldnn.experiments import LESSON, PROCESSES, interval, kind_of
from course.records import Record
from course.timing.stats import median

PROBES = "course.lessons.l09_mkldnn.probes"
RUNGS = ("SSE41", "AVX2", "AVX512_CORE", "DEFAULT")
HALF_RUNGS = ("DEFAULT", "AVX512_CORE", "AVX2")
X86 = ("x86_64", "AMD64", "amd64", "i386", "i686")


def _on_rungs(budget: Budget, probe: str, rungs: tuple[str, ...], repeats: int) -> list[dict]:
    """Rows of `probe`, each from a new process, the rungs taking turns.

    A CPU that is not x86 has another ladder and is left as it is.
    """
    if platform.machine() not in X86:
        rungs = ("DEFAULT",)
    plan = [(repeat, name) for repeat in range(repeats) for name in rungs]
    rows = []
    for repeat, name in budget.loop(plan, desc=both("new processes", "新进程")):
        found = rows_of(PROBES, probe, variables={"ONEDNN_MAX_CPU_ISA": name} if name != "DEFAULT" else {})
        rows += [{"rung": name, "process": repeat, **row} for row in found]
    return rows


# --- 09-isa-ladder ------------------------------------------------------------------------------------------


def _rungs(record: Record) -> dict[str, list[dict]]:
    """The rows of each rung, lowest first; one row a process."""
    found: dict[str, list[dict]] = {}
    for row in record.rows:
        found.setdefault(row["rung"], []).append(row)
    return found


def _range(rows: list[dict]) -> str:
    """9.3 (9.1 to 9.6) of the processes of one rung: the middle one, the smallest and the largest."""
    ratios = [row["ratio"] for row in rows]
    return f"{median(ratios):.1f} ({min(ratios):.1f}–{max(ratios):.1f})"


def say_isa_ladder(record: Record) -> Text:
    rungs = _rungs(record)
    top = rungs.get("DEFAULT")
    if not top:
        return NOTHING
    if len(rungs) == 1:
        name = top[0]["implementation"] or "-"
        return both(
            f"This processor is not x86, so these instruction sets are not its own; oneDNN uses {name} here.",
            f"这台机器不是 x86，没有这几种指令集；oneDNN 在这里用的是 {name}。",
        )
    name, low = next(iter(rungs.items()))
    kinds = len({row["implementation"] for row in record.rows})
    clear = max(row["ratio"] for row in top) < min(row["ratio"] for row in low)
    gain = median([row["ratio"] for row in low]) / median([row["ratio"] for row in top])
    en = (
        f"limited to {name} it takes {gain:.1f} times as long as with all this CPU has"
        if clear
        else f"{name} and all this CPU has cannot be told apart, for the processes overlap"
    )
    zh = (
        f"限制到 {name}，耗时是不限制时的 {gain:.1f} 倍"
        if clear
        else f"限制到 {name} 与不限制，分不出高下：各进程的结果有重叠"
    )
    return both(
        f"The same convolution: {en}. "
        f"In units of a matrix product, median and range of the processes: {_range(low)} against {_range(top)}. "
        f"{kinds} implementations appear in the log.",
        f"同一个卷积：{zh}。以一次矩阵乘法为单位，各进程的中位数与范围：{_range(low)} 对 {_range(top)}。日志里出现了 {kinds} 种实现。",
    )


def draw_isa_ladder(record: Record, ax: Any) -> None:
    from course.figures import samples

    names = {"DEFAULT": t("all of this CPU", "本机全部")}
    samples(
        ax,
        {
            f"{names.get(rung, rung)}\n{rows[0]['implementation'] or '-'}": [row["ratio"] for row in rows]
            for rung, rows in _rungs(record).items()
        },
        "",
        what=t(
            "convolution / a matrix product that is not oneDNN's; a dot is a process",
            "卷积 / 不走 oneDNN 的矩阵乘法；一个点是一个进程",
        ),
    )
    for line in ax.lines:
        line.set_markersize(7)
    ax.set_xlim(left=0)


@experiment(
    name="09-isa-ladder",
    lesson=LESSON,
    version=1,
    needs="mkldnn",
    seconds=24,
    title=both("The same convolution with four instruction sets, older to newer", "同一个卷积，换四种指令集，从老到新"),
)
def isa_ladder(budget: Budget) -> list[dict]:
    """ONEDNN_MAX_CPU_ISA in new processes; each times a convolution against a product that is not oneDNN's.

    Several processes a rung, for equal processes differ: where memory lies is drawn anew in each.
    """
    return _on_rungs(budget, "rung", RUNGS, PROCESSES)


# --- 09-bf16 ------------------------------------------------------------------------------------------------

HIDDEN = {
    "DEFAULT": both("all of this CPU", "本机全部"),
    "AVX512_CORE": both("bfloat16 units hidden", "藏起 bfloat16 指令"),
    "AVX2": both("AVX-512 hidden too", "AVX-512 也藏起"),
}


def say_bf16(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    en = "; ".join(f"{HIDDEN[row['rung']]['en']} {interval(row)}" for row in record.rows)
    zh = "；".join(f"{HIDDEN[row['rung']]['zh']} {interval(row)}" for row in record.rows)
    return both(
        f"Linear, time in bfloat16 over time in float32: {en}.", f"Linear，bfloat16 与 float32 的耗时比：{zh}。"
    )


def draw_bf16(record: Record, ax: Any) -> None:
    rows = record.rows
    labels = [
        t(HIDDEN[row["rung"]]["en"], HIDDEN[row["rung"]]["zh"])
        + "\n"
        + (row["implementation"] or t("not oneDNN", "不走 oneDNN"))
        for row in rows
    ]
    ratios(
        ax,
        rows,
        labels,
        what=t(
            "time in bfloat16 / float32 (right of 1: bfloat16 is slower)",
            "bfloat16 / float32 的耗时比（1 的右边：bfloat16 更慢）",
        ),
    )


def settle_bf16(record: Record) -> dict[str, str | None]:
    row = next((one for one in record.rows if one["rung"] == "AVX512_CORE"), None)
    verdict = {"faster": "a", "same": "b", "slower": "c"}
    return {"09-bet-bf16": verdict.get(kind_of(row)) if row else None}


@experiment(
    name="09-bf16",
    lesson=LESSON,
    version=1,
    needs="mkldnn",
    seconds=15,
    title=both(
        "Linear in bfloat16 against float32, with and without bfloat16 instructions",
        "Linear 用 bfloat16 还是 float32：有和没有 bfloat16 指令时",
    ),
)
def bf16(budget: Budget) -> list[dict]:
    """As the CPU is, with the newest instructions hidden from oneDNN, and with AVX-512 hidden as well."""
    return _on_rungs(budget, "half", HALF_RUNGS, 1)


# --- 09-threads ---------------------------------------------------------------------------------------------

WAITING = 20  # no teamwork of a few microseconds explains such a ratio
SIZES = {
    "small": both("small convolution (8×8)", "小卷积（8×8）"),
    "large": both("large convolution (56×56)", "大卷积（56×56）"),
}


def say_threads(record: Record) -> Text:
    rows = record.rows
    if not rows:
        return NOTHING
    count = rows[0]["threads"]
    if count < 2:
        return both(
            "This process has one thread only, so there is nothing to compare.", "这个进程只有一个线程，没有可比的。"
        )
    en = "; ".join(f"{SIZES[row['size']]['en']} {interval(row)}" for row in rows)
    zh = "；".join(f"{SIZES[row['size']]['zh']}{interval(row)}" for row in rows)
    more = both("", "")
    if any(row["ratio"] > WAITING for row in rows):
        more = both(
            " So large a factor is waiting, not work: most likely other programs hold a core that a thread needs.",
            "这么大的倍数是在等，不是在算：多半是别的程序占着线程要用的核。",
        )
    elif any(kind_of(row) == "undecided" for row in rows):
        more = both(" What is undecided needs a quieter machine.", "无法判定的，请在机器空闲时再运行。")
    return both(
        f"Time with {count} threads over time with one: {en}." + more["en"],
        f"{count} 个线程与 1 个线程的耗时比：{zh}。" + more["zh"],
    )


def draw_threads(record: Record, ax: Any) -> None:
    rows = record.rows
    ratios(
        ax,
        rows,
        [t(SIZES[row["size"]]["en"], SIZES[row["size"]]["zh"]) for row in rows],
        what=t(
            "time with all threads / one (left of 1: threads help)",
            "全部线程 / 单线程 的耗时比（1 的左边：多线程有用）",
        ),
    )


@experiment(
    name="09-threads",
    lesson=LESSON,
    version=1,
    needs="mkldnn",
    seconds=24,
    title=both(
        "One thread or all of them: a small and a large convolution", "单线程还是全部线程：一个小卷积，一个大卷积"
    ),
)
def threads(budget: Budget) -> list[dict]:
    """All threads against one, several new processes each, in turn: the interval is over processes."""
    from course.timing import compare

    rows, count = [], torch.get_num_threads()
    for size in budget.loop(("small", "large"), desc=both("sizes", "规模")):
        found = compare(
            {"one": f"{PROBES}:{size}_one_thread", "all": f"{PROBES}:{size}_all_threads"},
            baseline="one",
            max_time=10.0,
            fresh_process=True,
        )
        rows.append(
            {
                "size": size,
                "threads": count,
                "ratio": found.ratio,
                "low": found.low,
                "high": found.high,
                "verdict": found.verdict,
                "one_ms": found.medians_ms["one"],
                "all_ms": found.medians_ms["all"],
            }
        )
    return rows
