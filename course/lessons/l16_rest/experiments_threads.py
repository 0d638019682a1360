"""Experiments of lesson 16 about threads and processes: flushed denormals, a busy neighbour, older instructions, the launcher."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from typing import Any

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.rows import kind_of
from course.experiment.words import NOTHING, TOO_NOISY, joined, word
from course.figures.kinds import Bet, ratio_rows
from course.figures.svg import SvgPicture
from course.i18n import Text, both, t
from course.lessons.l16_rest.experiments import LESSON, MEASURING, PROBES, as_ratio, interval
from course.records import Record
from course.tables import Table
from course.timing.stats import median_interval

THREADS = "course.lessons.l16_rest.probes_threads"
IN_TURN = both("new processes", "新进程")

# --- 16-flushed ---------------------------------------------------------------------------------------------

ORDERS = {
    "never": both("never set", "没设过"),
    "set, then threads": both("set, then the threads start", "先设，线程后启动"),
    "threads, then set": both("the threads run, then set", "线程已在跑，再设"),
    "set, threads, taken back": both("set, threads start, taken back", "先设，线程启动，再取消"),
    "set in another thread": both("set in another Python thread", "在另一个 Python 线程里设"),
}


def _kept(record: Record) -> dict[str, float]:
    return {row["order"]: row["kept"] for row in record.rows if row["supported"]}


def headline_flushed(record: Record) -> Text:
    if record.rows[1:] and not any(row["supported"] for row in record.rows[1:]):
        return both("This CPU cannot flush denormals; nothing changed.", "这颗 CPU 不支持清零，什么都没变。")
    kept = _kept(record).get("threads, then set")
    if kept is None:
        return TOO_NOISY
    if kept == 0:
        return both("Once set, every tiny number in the tensor became zero.", "一设置，太小的数全都变成零。")
    if kept == 1:
        return both("Set too late: not one tiny number became zero.", "设得太晚，太小的数一个也没变成零。")
    return both("One switch, one product: only part of the tensor obeyed.", "同一次乘法，张量只有一部分听开关的。")


def say_flushed(record: Record) -> Text:
    kept = _kept(record)
    if not kept:
        return NOTHING
    return both(
        "Denormal numbers kept by one multiplication on two threads: "
        + "; ".join(f"{ORDERS[order]['en']} {share:.0%}" for order, share in kept.items())
        + ".",
        "两个线程上的一次乘法，留下来的次正规数："
        + "；".join(f"{ORDERS[order]['zh']} {share:.0%}" for order, share in kept.items())
        + "。",
    )


def draw_flushed(record: Record, bets: dict) -> Table:
    """What happened to either half of the tensor, an order a line."""
    kept, flushed_ = t("kept", "留下"), t("flushed to 0", "清零")

    def cell(share: float) -> str:
        return kept if share > 0.99 else flushed_ if share < 0.01 else t(f"{share:.0%} kept", f"留下 {share:.0%}")

    lines = [["", t("first half", "前一半"), t("second half", "后一半")]]
    lines += [[word(ORDERS[row["order"]]), cell(row["first"]), cell(row["second"])] for row in record.rows]
    told = {
        (at, column): "told"
        for at, row in enumerate(record.rows)
        for column, key in ((1, "first"), (2, "second"))
        if row[key] < 0.99
    }
    mine = {
        "a": (kept, kept),
        "b": (flushed_, flushed_),
        "c": (flushed_, kept),
        "d": (t("another share each time", "每次都不一样"), ""),
    }.get(bets.get("16-bet-flush", ""))
    place = next((at for at, row in enumerate(record.rows) if row["order"] == "threads, then set"), None)
    return Table(lines, told).bet_on(place, mine) if mine else Table(lines, told)


def settle_flushed(record: Record) -> dict[str, str | None]:
    kept = _kept(record).get("threads, then set")
    if kept is None:
        return {"16-bet-flush": None}
    return {"16-bet-flush": {1.0: "a", 0.0: "b", 0.5: "c"}.get(kept, "d")}


@experiment(
    name="16-flushed",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=10,
    title=both("Denormal numbers, two threads, five orders of events", "次正规数、两个线程、五种先后"),
)
def flushed(budget: Budget) -> Iterator[dict]:
    """torch.set_flush_denormal at five moments, each in a new process: which part of one product is flushed to zero."""
    orders = budget.loop(ORDERS, desc=IN_TURN, least=len(ORDERS))
    for order in orders:
        yield from rows_of(PROBES, "flushed", order)


# --- 16-two-threads -----------------------------------------------------------------------------------------


def _pairs(record: Record, neighbours: int) -> dict[str, dict[str, Any]] | None:
    """median_ms, p99_ms -> ratio of two threads over one, with its interval over the rounds; None with too few rounds."""
    rounds: dict[int, dict[int, dict]] = {}
    for row in record.rows:
        if row["neighbours"] == neighbours:
            rounds.setdefault(row["round"], {})[row["threads"]] = row
    whole = [pair for pair in rounds.values() if {1, 2} <= set(pair)]
    if len(whole) < 6:
        return None
    found = {}
    for key in ("median_ms", "p99_ms"):
        ratios_seen = [pair[2][key] / pair[1][key] for pair in whole]
        middle = median_interval(ratios_seen)
        ordered = sorted(ratios_seen)
        half = len(ordered) // 2
        value = ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
        found[key] = {"ratio": value, "low": middle.low, "high": middle.high, "rounds": len(whole)}
    return found


def headline_two_threads(record: Record) -> Text:
    found = _pairs(record, 1)
    if found is None:
        return TOO_NOISY
    kinds = kind_of(found["median_ms"]), kind_of(found["p99_ms"])
    said = {
        ("faster", "slower"): both(
            "Two threads make typical calls faster, and the slowest ones slower.",
            "开两个线程，平常的调用更快，最慢的那些更慢。",
        ),
        ("faster", "faster"): both(
            "Two threads win, even beside a busy neighbour.", "旁边有程序在忙，两个线程照样更快。"
        ),
        ("slower", "slower"): both(
            "Beside a busy neighbour, two threads are only slower.", "旁边有程序在忙，两个线程只会更慢。"
        ),
        ("same", "same"): both(
            "Beside a busy neighbour, a second thread made calls neither faster nor slower.",
            "旁边有程序在忙，多开一个线程，耗时没有差别。",
        ),
    }
    if kinds in said:
        return said[kinds]
    if kinds[1] == "slower":
        return both(
            "Two threads make the slow calls slower; the typical one gains nothing certain.",
            "开两个线程，慢的调用更慢，平常的也看不出更快。",
        )
    return TOO_NOISY


def say_two_threads(record: Record) -> Text:
    found = {neighbours: _pairs(record, neighbours) for neighbours in (0, 1)}
    if found[1] is None:
        return NOTHING
    parts = [
        (
            both("alone", "没有邻居") if neighbours == 0 else both("beside one busy neighbour", "旁边有一个忙着的邻居"),
            one,
        )
        for neighbours, one in found.items()
        if one
    ]
    return both(
        "Time on two threads over time on one: "
        + "; ".join(
            f"{name['en']}, median {interval(one['median_ms'])}, 99th percentile {interval(one['p99_ms'])}"
            for name, one in parts
        )
        + ".",
        "两个线程与一个线程的耗时比："
        + "；".join(
            f"{name['zh']}，中位数 {interval(one['median_ms'])}，第 99 百分位 {interval(one['p99_ms'])}"
            for name, one in parts
        )
        + "。",
    )


def draw_two_threads(record: Record, bets: dict) -> SvgPicture:
    rows, busy = [], {}
    kinds = (("median_ms", t("typical call", "平常的一次")), ("p99_ms", t("slowest of 100", "100 次里最慢的")))
    for neighbours, name in ((0, t("alone", "没有邻居")), (1, t("busy neighbour", "邻居在忙"))):
        found = _pairs(record, neighbours)
        taken = len({row["round"] for row in record.rows if row["neighbours"] == neighbours})
        for key, kind in kinds:
            few = {"ratio": 1.0, "low": None, "high": None, "rounds": taken}
            busy |= {key: len(rows)} if neighbours else {}
            rows.append(as_ratio(found[key] if found else few, f"{name}{t(', ', '，')}{kind}"))
    words, *sides = {
        "a": (t("both faster", "都更快"), "left", "left"),
        "b": (t("both slower", "都更慢"), "right", "right"),
        "c": (t("faster, and slower", "一快一慢"), "left", "right"),
        "d": (t("nothing changes", "没有变化"), "middle", "middle"),
    }.get(bets.get("16-bet-neighbour", ""), ("",))
    bet = Bet(words, rows=dict(zip(busy.values(), sides, strict=True))) if sides else None
    return ratio_rows(rows, (t("two threads are faster", "两个线程更快"), t("slower", "更慢")), bet)


def settle_two_threads(record: Record) -> dict[str, str | None]:
    found = _pairs(record, 1)
    if found is None:
        return {"16-bet-neighbour": None}
    answers = {("faster", "faster"): "a", ("slower", "slower"): "b", ("faster", "slower"): "c", ("same", "same"): "d"}
    return {"16-bet-neighbour": answers.get((kind_of(found["median_ms"]), kind_of(found["p99_ms"])))}


@experiment(
    name="16-two-threads",
    lesson=LESSON,
    version=1,
    needs="two_cores",
    seconds=12,
    title=both("One thread or two, on two cores with a busy neighbour", "一个线程还是两个：两个核，外加一个忙邻居"),
)
def two_threads(budget: Budget) -> Iterator[dict]:
    """Rounds of up to 600 convolutions on one and on two threads in turn, alone and beside a busy loop, in a new process."""
    probes = budget.loop(["beside_a_neighbour"], desc=MEASURING)
    for part in probes:
        yield from rows_of(THREADS, part, budget.seconds)


# --- 16-older-bits ------------------------------------------------------------------------------------------

CAPABILITIES = ("", "avx2", "default")
X86 = ("x86_64", "AMD64", "amd64", "i386", "i686")


def _changed(record: Record) -> dict[str, list[str]]:
    """Call -> the instruction sets under which its bits are others than on this CPU as it is."""
    own = {row["what"]: row["bits"] for row in record.rows if row["held"] == ""}
    found: dict[str, list[str]] = {what: [] for what in own}
    for row in record.rows:
        if row["held"] and row["bits"] != own.get(row["what"]):
            found[row["what"]].append(row["uses"])
    return found


def headline_older_bits(record: Record) -> Text:
    changed = _changed(record)
    if len({row["uses"] for row in record.rows}) < 2:
        return both(
            "This CPU offers one instruction set only: nothing to compare.", "这颗 CPU 只有一套指令集，没得比。"
        )
    if changed.get("torch.randn(1000)"):
        return both("The same seed, older instructions: other random numbers.", "种子一样，换成老指令，随机数就变了。")
    if any(changed.values()):
        return both(
            "The same seed and code, older instructions: some bits differ.",
            "种子和代码都一样，换成老指令，结果有几位变了。",
        )
    return both("Older instructions, and every bit stayed the same.", "换成老指令，结果每一位都没变。")


def say_older_bits(record: Record) -> Text:
    changed = _changed(record)
    if not changed:
        return NOTHING
    moved = {what: sets for what, sets in changed.items() if sets}
    told = "; ".join(f"{what} ({', '.join(sets)})" for what, sets in moved.items())
    same = {code: joined([what for what in changed if what not in moved], code) for code in ("en", "zh")}
    return both(
        f"Other bits than with all this CPU has: {told or 'none'}. The same bits everywhere: {same['en'] or 'none'}.",
        f"与不限制时逐位不一致的：{told.replace('; ', '；') or '无'}。始终逐位相同的：{same['zh'] or '无'}。",
    )


def draw_older_bits(record: Record, bets: dict) -> Table:
    uses = list(dict.fromkeys((row["held"], row["uses"]) for row in record.rows))[1:]
    found = {(row["what"], row["held"]): row["bits"] for row in record.rows}
    same, other = t("same bits", "逐位相同"), t("other bits", "不一致")
    lines = [["", *([name for _, name in uses] or [t("nothing to compare", "没得比")])]]
    for what in dict.fromkeys(row["what"] for row in record.rows):
        cells = [same if found.get((what, held)) == found.get((what, "")) else other for held, _ in uses]
        lines.append([what, *(cells or ["–"])])
    told = {
        (at, column): "told" for at, line in enumerate(lines[1:]) for column, one in enumerate(line) if one == other
    }
    return Table(lines, told)


@experiment(
    name="16-older-bits",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=6,
    whole=True,
    title=both("The same seed and code with older instructions", "同样的种子和代码，换成老指令"),
)
def older_bits(budget: Budget) -> Iterator[dict]:
    """ATEN_CPU_CAPABILITY in new processes: a hash of the bits that nine calls give with the same seed."""
    wanted = CAPABILITIES if platform.machine() in X86 else CAPABILITIES[:1]
    for held in budget.loop(wanted, desc=IN_TURN, least=len(wanted)):
        found = rows_of(PROBES, "bits", variables={"ATEN_CPU_CAPABILITY": held or None})
        yield from [{"held": held, **row} for row in found]


# --- 16-launcher --------------------------------------------------------------------------------------------

MODES = {
    "plain": both("no option", "不带选项"),
    "throughput": both("--throughput-mode", "--throughput-mode"),
    "latency": both("--latency-mode", "--latency-mode"),
    "one core each": both("one process for each core", "每个核一个进程"),
    "too many": both("one process more than cores", "进程比核多一个"),
}


def headline_launcher(record: Record) -> Text:
    rows = record.rows
    if len(rows) < len(MODES):
        return TOO_NOISY
    if not any(row["ran"] for row in rows):
        return both("The launcher does not work on this machine.", "这个启动器在本机用不了。")
    if any(row["exit_code"] == 0 and row["ran"] == 0 for row in rows):
        return both("The launcher reported success, and the script never ran.", "启动器说成功了，脚本却一次没跑。")
    return both("Where the launcher reported success, the script had run.", "启动器说成功的，脚本都跑过了。")


def say_launcher(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    return both(
        f"On {record.rows[0]['cores']} cores, copies of the script that ran, and the exit code: "
        + "; ".join(f"{MODES[row['mode']]['en']} {row['ran']}, {row['exit_code']}" for row in record.rows)
        + ".",
        f"{record.rows[0]['cores']} 个核，脚本跑了几份，退出码是多少："
        + "；".join(f"{MODES[row['mode']]['zh']} {row['ran']}、{row['exit_code']}" for row in record.rows)
        + "。",
    )


def draw_launcher(record: Record, bets: dict) -> Table:
    lines = [["", t("copies that ran", "跑了几份"), t("exit code", "退出码"), t("threads of each", "每份的线程")]]
    for row in record.rows:
        lines.append([word(MODES[row["mode"]]), str(row["ran"]), str(row["exit_code"]), row["threads"] or "–"])
    return Table(lines, {(at, 1): "told" for at, row in enumerate(record.rows) if row["ran"] != row["expected"]})


@experiment(
    name="16-launcher",
    lesson=LESSON,
    version=1,
    needs="two_cores",
    seconds=25,
    title=both(
        "torch.backends.xeon.run_cpu: how often did the script run?", "torch.backends.xeon.run_cpu：脚本跑了几次？"
    ),
)
def launcher(budget: Budget) -> Iterator[dict]:
    """PyTorch's launcher for servers in five modes with a script of one line: how many copies ran, and the exit code."""
    modes = budget.loop(MODES, desc=IN_TURN, least=len(MODES))
    for mode in modes:
        yield from rows_of(THREADS, "launched", mode, timeout_s=150)
