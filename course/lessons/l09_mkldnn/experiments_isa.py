"""Experiments of lesson 09 about instruction sets and threads."""

from __future__ import annotations

import platform
from collections.abc import Iterator

import torch

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.rows import kind_of, race_row
from course.experiment.words import NOTHING, TOO_NOISY, ratio_of, word
from course.figures.kinds import Bar, Bet, Ratio, bars, fold, ratio_rows, ratio_words
from course.figures.svg import SvgPicture
from course.i18n import Text, both, t
from course.lessons.l09_mkldnn.experiments import LESSON, PROCESSES
from course.records import Record
from course.tables import Table
from course.timing.stats import median

PROBES = "course.lessons.l09_mkldnn.probes"
RUNGS = ("SSE41", "AVX2", "AVX512_CORE", "DEFAULT")
HALF_RUNGS = ("DEFAULT", "AVX512_CORE", "AVX2")
X86 = ("x86_64", "AMD64", "amd64", "i386", "i686")


def _on_rungs(budget: Budget, probe: str, rungs: tuple[str, ...], repeats: int) -> Iterator[dict]:
    """Rows of `probe`, each from a new process, the rungs taking turns.

    A CPU that is not x86 has another ladder and is left as it is.
    """
    if platform.machine() not in X86:
        rungs = ("DEFAULT",)
    plan = [(repeat, name) for repeat in range(repeats) for name in rungs]
    for repeat, name in budget.loop(plan, desc=both("new processes", "新进程")):
        found = rows_of(PROBES, probe, variables={"ONEDNN_MAX_CPU_ISA": name} if name != "DEFAULT" else {})
        yield from [{"rung": name, "process": repeat, **row} for row in found]


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


def _clear(one: list[dict], other: list[dict]) -> bool:
    """Whether every process of ``one`` took less than every process of ``other``; one process alone has no range."""
    if min(len(one), len(other)) < PROCESSES:
        return False
    return max(row["ratio"] for row in one) < min(row["ratio"] for row in other)


def headline_isa_ladder(record: Record) -> Text:
    rungs = _rungs(record)
    top = rungs.get("DEFAULT")
    if not top or "SSE41" not in rungs:
        if top and len(rungs) == 1 and record.complete:
            return both(
                "This CPU is not x86: it has none of these instruction sets.", "这颗 CPU 不是 x86，没有这几种指令集。"
            )
        return TOO_NOISY
    low = rungs["SSE41"]
    if min(len(top), len(low)) < PROCESSES:
        return TOO_NOISY
    if _clear(top, low):
        return fold(
            median([row["ratio"] for row in low]) / median([row["ratio"] for row in top]),
            "With the oldest instructions only, the convolution takes {} as long.",
            "只准用最老的指令集，卷积要花{}的时间。",
        )
    if _clear(low, top):
        return both(
            "With the oldest instructions only, the convolution is faster.", "只准用最老的指令集，卷积反而更快。"
        )
    return both("Old instructions or new: these runs show no difference.", "不管指令集新旧，这几次的耗时看不出差别。")


def say_isa_ladder(record: Record) -> Text:
    rungs = _rungs(record)
    top = rungs.get("DEFAULT")
    if not top:
        return NOTHING
    if len(rungs) == 1 and record.complete:
        name = top[0]["implementation"] or "-"
        return both(
            f"This processor is not x86, so these instruction sets are not its own; oneDNN uses {name} here.",
            f"这台机器不是 x86，没有这几种指令集；oneDNN 在这里用的是 {name}。",
        )
    name, low = next(iter(rungs.items()))
    if min(len(top), len(low)) < PROCESSES:
        return NOTHING
    kinds = len({row["implementation"] for row in record.rows})
    clear = _clear(top, low)
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


def draw_isa_ladder(record: Record, bets: dict) -> SvgPicture:
    """The middle process of each rung, in units of a matrix product that is not oneDNN's."""
    rungs = _rungs(record)
    top, rows = rungs.get("DEFAULT", []), []
    for rung, found in rungs.items():
        value = median([row["ratio"] for row in found])
        said = t("no clear difference", "看不出差别")
        if not top or found is top:
            said = t("as it comes", "平时")
        elif _clear(top, found) or _clear(found, top):
            said = ratio_words(value / median([row["ratio"] for row in top]))
        name = t("all of this CPU", "本机全部") if rung == "DEFAULT" else rung
        rows.append(Bar(name, value, said, quiet=found is top, remark=found[0]["implementation"]))
    return bars(rows)


@experiment(
    name="09-isa-ladder",
    lesson=LESSON,
    version=1,
    needs="mkldnn",
    seconds=24,
    title=both("The same convolution with four instruction sets, older to newer", "同一个卷积，换四种指令集，从老到新"),
)
def isa_ladder(budget: Budget) -> Iterator[dict]:
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


def headline_bf16(record: Record) -> Text:
    kinds = {row["rung"]: kind_of(row) for row in record.rows}
    if "DEFAULT" in kinds and len(kinds) == 1:  # not x86: nothing can be hidden
        return {
            "faster": both("On this CPU, bfloat16 is faster than float32.", "在这颗 CPU 上，bfloat16 比 float32 快。"),
            "slower": both("On this CPU, bfloat16 is slower than float32.", "在这颗 CPU 上，bfloat16 比 float32 慢。"),
            "same": both("On this CPU, bfloat16 is as fast as float32.", "在这颗 CPU 上，bfloat16 和 float32 一样快。"),
        }.get(kinds["DEFAULT"], TOO_NOISY)
    hidden = kinds.get("AVX512_CORE", "undecided")
    if hidden == "slower" and kinds.get("DEFAULT") == "faster":
        return both("bfloat16 is fast only where the CPU has instructions for it.", "CPU 有专门的指令，bfloat16 才快。")
    return {
        "faster": both(
            "Even without CPU instructions for it, bfloat16 is faster than float32.",
            "没有专门的指令，bfloat16 也比 float32 快。",
        ),
        "same": both(
            "Without CPU instructions for it, bfloat16 is as fast as float32.",
            "没有专门的指令，bfloat16 和 float32 一样快。",
        ),
        "slower": both(
            "Without CPU instructions for it, bfloat16 is slower than float32.",
            "没有专门的指令，bfloat16 比 float32 还慢。",
        ),
    }.get(hidden, TOO_NOISY)


def say_bf16(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    en = "; ".join(f"{HIDDEN[row['rung']]['en']} {ratio_of(row)}" for row in record.rows)
    zh = "；".join(f"{HIDDEN[row['rung']]['zh']} {ratio_of(row)}" for row in record.rows)
    return both(
        f"Linear, time in bfloat16 over time in float32: {en}.", f"Linear，bfloat16 与 float32 的耗时比：{zh}。"
    )


def draw_bf16(record: Record, bets: dict) -> SvgPicture | Table:
    """The bet is about the row without bfloat16 instructions; a CPU that is not x86 has none to hide."""
    mine = bets.get("09-bet-bf16")
    hidden = next((at for at, row in enumerate(record.rows) if row["rung"] == "AVX512_CORE"), None)
    if hidden is None and record.complete:
        lines = [["", t("bfloat16 against float32", "bfloat16 比 float32")]]
        lines += [[word(HIDDEN[row["rung"]]), ratio_words(row["ratio"])] for row in record.rows]
        lines.append([word(HIDDEN["AVX512_CORE"]), t("cannot be hidden on this CPU", "这颗 CPU 上藏不了")])
        return Table(lines, bets={(len(lines) - 2, 1)} if mine else ())
    rows = [
        Ratio(
            word(HIDDEN[row["rung"]]),
            row["ratio"],
            row["low"],
            row["high"],
            row["implementation"] or t("not oneDNN", "不走 oneDNN"),
            row.get("rounds", 0),
        )
        for row in record.rows
    ]
    side = {"a": "left", "b": "middle", "c": "right"}.get(mine)
    said = {"a": t("faster", "更快"), "b": t("as fast", "一样快"), "c": t("slower", "更慢")}.get(mine)
    bet = Bet(said, rows={hidden: side}) if side and hidden is not None else None
    return ratio_rows(rows, (t("bfloat16 is faster", "bfloat16 更快"), t("bfloat16 is slower", "bfloat16 更慢")), bet)


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
    whole=True,
    title=both(
        "Linear in bfloat16 against float32, with and without bfloat16 instructions",
        "Linear 用 bfloat16 还是 float32：有和没有 bfloat16 指令时",
    ),
)
def bf16(budget: Budget) -> Iterator[dict]:
    """As the CPU is, with the newest instructions hidden from oneDNN, and with AVX-512 hidden as well."""
    return _on_rungs(budget, "half", HALF_RUNGS, 1)


# --- 09-threads ---------------------------------------------------------------------------------------------

WAITING = 20  # no teamwork of a few microseconds explains such a ratio
SIZES = {
    "small": both("small convolution (8×8)", "小卷积（8×8）"),
    "large": both("large convolution (56×56)", "大卷积（56×56）"),
}


def _waits(row: dict) -> bool:
    """Whether a factor, or what is known of it, is too large to be work."""
    return row["ratio"] > WAITING or bool(row["low"]) and row["high"] > WAITING * row["low"]


def headline_threads(record: Record) -> Text:
    rows = {row["size"]: row for row in record.rows}
    if set(rows) != set(SIZES):
        return TOO_NOISY
    if rows["small"]["threads"] < 2:
        return both("This process has one thread only: nothing to compare.", "这个进程只有一个线程，没有可比的。")
    small, large = (kind_of(rows[size]) for size in ("small", "large"))
    if any(map(_waits, rows.values())):
        return both("The threads wait for a core instead of computing.", "线程都在等核空出来，并没有在算。")
    if small == large == "undecided":
        return TOO_NOISY
    does = {"faster": "help", "slower": "slow down", "same": "do nothing for"}
    came = {"faster": "变快", "slower": "变慢", "same": "没变化", "undecided": "说不准"}
    if small == large:
        return both(f"More threads {does[small]} both convolutions.", f"线程多了，大、小卷积都{came[small]}。")
    zh = f"线程多了，大卷积{came[large]}，小卷积{came[small]}。"
    if "undecided" in (small, large):
        (name, kind), other = (("large", large), "small") if small == "undecided" else (("small", small), "large")
        return both(f"More threads {does[kind]} the {name} convolution; the {other} one is too noisy.", zh)
    return both(f"More threads {does[large]} the large convolution and {does[small]} the small one.", zh)


def say_threads(record: Record) -> Text:
    rows = record.rows
    if not rows:
        return NOTHING
    count = rows[0]["threads"]
    if count < 2:
        return both(
            "This process has one thread only, so there is nothing to compare.", "这个进程只有一个线程，没有可比的。"
        )
    en = "; ".join(f"{SIZES[row['size']]['en']} {ratio_of(row)}" for row in rows)
    zh = "；".join(f"{SIZES[row['size']]['zh']}{ratio_of(row)}" for row in rows)
    more = both("", "")
    if any(map(_waits, rows)):
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


def draw_threads(record: Record, bets: dict) -> SvgPicture:
    rows = [
        Ratio(word(SIZES[row["size"]]), row["ratio"], row["low"], row["high"], "", row.get("rounds", 0))
        for row in record.rows
    ]
    return ratio_rows(rows, (t("more threads are faster", "多线程更快"), t("one thread is faster", "单线程更快")))


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
def threads(budget: Budget) -> Iterator[dict]:
    """All threads against one, several new processes each, in turn: the interval is over processes."""
    from course.timing import compare

    count = torch.get_num_threads()
    for size in budget.loop(("small", "large"), desc=both("sizes", "规模")):
        found = compare(
            {"one": f"{PROBES}:{size}_one_thread", "all": f"{PROBES}:{size}_all_threads"},
            baseline="one",
            max_time=10.0,
            fresh_process=True,
        )
        yield {
            "size": size,
            "threads": count,
            **race_row(found),
            "one_ms": found.medians_ms["one"],
            "all_ms": found.medians_ms["all"],
        }
