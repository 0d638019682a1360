"""Experiments of lesson 08 that need a Mac."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import torch

from course.experiment.base import Budget, experiment
from course.experiment.rows import race_row
from course.experiment.words import NOTHING, TOO_NOISY, VERDICTS, middle, with_interval, word
from course.figures.curves import trend
from course.figures.kinds import Bar, Ratio, bars, ratio_rows, time_words
from course.figures.svg import SvgPicture
from course.i18n import Text, both, pick, t
from course.lessons.l08_mps import probes
from course.lessons.l08_mps.experiments import LESSON
from course.lessons.l08_mps.experiments_env import MOMENTS
from course.records import Record
from course.tables import Table, clip
from course.timing.stats import median

# --- 08-speed-mps -------------------------------------------------------------------------------------------

WORDS = {**VERDICTS, "faster": both("GPU faster", "GPU 更快"), "slower": both("CPU faster", "CPU 更快")}


def headline_speed_mps(record: Record) -> Text:
    won = [row["size"] for row in record.rows if row["verdict"] == "faster"]
    others = [row["size"] for row in record.rows if row["verdict"] != "faster"]
    undecided = not record.complete or any(row["verdict"] == "undecided" for row in record.rows)
    if not won:
        return (
            TOO_NOISY
            if undecided
            else both("The Apple GPU is never faster here.", "在这里，苹果 GPU 没有一次比 CPU 快。")
        )
    if undecided:
        return both("The Apple GPU is faster at least in some cases.", "至少有些情况，苹果 GPU 更快。")
    if not others:
        return both("The Apple GPU is faster in every case here.", "在这里，苹果 GPU 每次都更快。")
    if min(won) > max(others):
        return both("The Apple GPU is faster only for the larger matrices.", "矩阵够大，苹果 GPU 才更快。")
    return both("The Apple GPU is faster in some cases, not in all.", "苹果 GPU 只在有些情况下更快。")


def say_speed_mps(record: Record) -> Text:
    if not record.rows:
        return NOTHING

    def line(row: dict, code: str) -> str:
        colon, comma = (" ", " ") if code == "en" else ("：", "，")
        return f"{row['op']} {row['size']}²{colon}{with_interval(row, code)}{comma}{WORDS[row['verdict']][code]}"

    return both(
        "Time on the GPU over time on the CPU, data already there: "
        + "; ".join(line(row, "en") for row in record.rows)
        + ".",
        "GPU 耗时 ÷ CPU 耗时，数据都已就位。" + "；".join(line(row, "zh") for row in record.rows) + "。",
    )


def draw_speed_mps(record: Record, bets: dict) -> SvgPicture:
    """No bet is made on it."""
    return ratio_rows(
        [
            Ratio(f"{row['op']} {row['size']}²", row["ratio"], row["low"], row["high"], rounds=row.get("rounds", 0))
            for row in record.rows
        ],
        (word(WORDS["faster"]), word(WORDS["slower"])),
    )


@experiment(
    name="08-speed-mps",
    lesson=LESSON,
    version=1,
    needs="mps",
    seconds=25,
    title=both("Apple GPU against CPU: who is faster, and at which size?", "苹果 GPU 对 CPU：谁快，在什么规模上快？"),
)
def speed_mps(budget: Budget, sizes: tuple[int, ...] = (64, 512, 2048)) -> list[dict]:
    """Time on the device over time on the CPU, data already there, fenced; matmul and relu."""
    from course.timing import compare

    cases = [(op, size) for size in sizes for op in ("matmul", "relu")]
    functions: dict[str, Callable[[torch.Tensor], Any]] = {"matmul": lambda x: x @ x, "relu": torch.relu}
    for number, (op, size) in enumerate(budget.loop(cases, desc=both("operations", "算子"))):
        here, there = torch.randn(size, size), torch.randn(size, size, device=probes.DEVICE)
        f = functions[op]
        race = compare(
            {"cpu": lambda f=f, x=here: f(x), "mps": lambda f=f, x=there: f(x)},
            baseline="cpu",
            device=probes.DEVICE,
            clock="wall",
            max_time=budget.share(len(cases) - number),
        )
        yield {
            "op": op,
            "size": size,
            **race_row(race),
            "rounds": race.rounds,
            "cpu_ms": race.medians_ms["cpu"],
            "mps_ms": race.medians_ms["mps"],
        }


# --- 08-transfer-mps ----------------------------------------------------------------------------------------

WAYS = {"to mps": both("to the GPU", "去 GPU"), "to cpu": both("back", "回来")}


def headline_transfer_mps(record: Record) -> Text:
    sizes = sorted({row["kib"] for row in record.rows})
    if len(sizes) < 2:
        return TOO_NOISY
    small, large = (
        median([time for row in record.rows if row["kib"] == size for time in row["samples_ms"]]) / size
        for size in (sizes[0], sizes[-1])
    )
    if small > 2 * large:
        return both("Per byte, a small copy costs far more than a large one.", "平均到每个字节，小拷贝比大拷贝慢得多。")
    return both(
        "Per byte, a small copy costs at most twice as much as a large one.", "平均到每个字节，小拷贝至多慢一倍。"
    )


def say_transfer_mps(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    sizes = [row["kib"] for row in record.rows]
    ends = [row for row in record.rows if row["kib"] in (min(sizes), max(sizes))]
    en = "; ".join(f"{row['kib']:,} KiB {WAYS[row['way']]['en']} {middle(row['samples_ms'])} ms" for row in ends)
    zh = "；".join(f"{row['kib']:,} KiB {WAYS[row['way']]['zh']} {middle(row['samples_ms'])} ms" for row in ends)
    return both(f"Time of one copy, fenced: {en}.", f"一次拷贝的耗时（等它做完）：{zh}。")


def draw_transfer_mps(record: Record, bets: dict) -> SvgPicture:
    """No bet is made on it."""
    sizes = sorted({row["kib"] for row in record.rows})
    found = {(row["way"], row["kib"]): median(row["samples_ms"]) for row in record.rows}
    series = {word(name): [found.get((way, size)) for size in sizes] for way, name in WAYS.items()}
    first, last = (
        t(", ", "，").join(f"{name} {time_words(line[at] / 1e3)}" for name, line in series.items() if line[at])
        for at in (0, -1)
    )
    return trend(
        sizes,
        {name: line for name, line in series.items() if any(line)},
        t(
            f"{sizes[0]:,} KiB: {first}; {sizes[-1]:,} KiB: {last}.",
            f"{sizes[0]:,} KiB：{first}；{sizes[-1]:,} KiB：{last}。",
        ),
        across=t("size of the copy", "拷贝的大小"),
        x_words=lambda size: f"{size:,.0f} KiB" if size < 1024 else f"{size / 1024:,.0f} MiB",
        y_words=lambda ms: time_words(ms / 1e3),
        log_x=True,
        log_y=True,
    )


def _fenced(f: Callable[[], Any], calls: int = 20) -> list[float]:
    """Milliseconds of each call, with the device idle before and after; two calls first, not counted."""
    f(), f()
    times = []
    for _ in range(calls):
        probes.wait()
        start = perf_counter()
        f()
        probes.wait()
        times.append((perf_counter() - start) * 1e3)
    return times


@experiment(
    name="08-transfer-mps",
    lesson=LESSON,
    version=1,
    needs="mps",
    seconds=10,
    whole=True,
    title=both("To the Apple GPU and back: what does a copy cost?", "去苹果 GPU 再回来：拷贝一次要多久？"),
)
def transfer_mps(budget: Budget, sizes_kib: tuple[int, ...] = (4, 64, 1024, 16384, 65536)) -> Iterator[dict]:
    """Fenced copies of 4 KiB to 64 MiB in both directions."""
    for size_kib in budget.loop(sizes_kib, desc=both("sizes", "规模")):
        here = torch.zeros(size_kib * 256)
        there = here.to(probes.DEVICE)
        for way, x, target in (("to mps", here, probes.DEVICE), ("to cpu", there, "cpu")):
            yield {"way": way, "kib": size_kib, "samples_ms": _fenced(lambda x=x, d=target: x.to(d))}


# --- 08-fence-mps -------------------------------------------------------------------------------------------


def headline_fence_mps(record: Record) -> Text:
    found = {row["read"]: row["samples_ms"] for row in record.rows}
    if set(found) != {"at once", "after synchronize"} or min(map(len, found.values())) < 6:
        return TOO_NOISY
    share = median(found["at once"]) / median(found["after synchronize"])
    if share < 0.5:
        return both("Without waiting, the clock misses most of the GPU's work.", "不等 GPU 就停表，大半时间没算进去。")
    if share < 0.9:
        return both(
            "Without waiting, the clock misses part of the GPU's work.", "不等 GPU 就停表，有一部分时间没算进去。"
        )
    return both("Waiting for the GPU hardly changes what the clock says.", "等不等 GPU，测出来的时间差不多。")


def say_fence_mps(record: Record) -> Text:
    found = {row["read"]: row["samples_ms"] for row in record.rows}
    if set(found) != {"at once", "after synchronize"} or min(map(len, found.values())) < 6:
        return NOTHING
    early, late = middle(found["at once"]), middle(found["after synchronize"])
    return both(
        f"Read at once the clock says {early} ms, after torch.mps.synchronize() {late} ms, for the same work.",
        f"同样的活，立刻读表是 {early} ms，torch.mps.synchronize() 之后读是 {late} ms。",
    )


def draw_fence_mps(record: Record, bets: dict) -> SvgPicture:
    """No bet is made on it."""
    names = {"at once": t("read at once", "立刻读表"), "after synchronize": t("after synchronize()", "等完再读")}
    times = {row["read"]: median(row["samples_ms"]) for row in record.rows}
    return bars([Bar(names[read], ms, time_words(ms / 1e3), read != "at once") for read, ms in times.items()])


@experiment(
    name="08-fence-mps",
    lesson=LESSON,
    version=1,
    needs="mps",
    seconds=5,
    title=both(
        "Apple GPU: what does a clock say without and with synchronize()?",
        "苹果 GPU：读表之前，等不等 synchronize()，读数差多少？",
    ),
)
def fence_mps(budget: Budget, size: int = 2048) -> list[dict]:
    """Ten products of 2048 x 2048, read at once and read after waiting, twenty times."""
    x = torch.randn(size, size, device=probes.DEVICE)
    x @ x
    rows: dict[str, list[float]] = {"at once": [], "after synchronize": []}
    for _ in budget.loop(range(20), desc=both("repeats", "重复"), least=6):
        probes.wait()
        start = perf_counter()
        for _ in range(10):
            x @ x
        rows["at once"].append((perf_counter() - start) * 1e3)
        probes.wait()
        rows["after synchronize"].append((perf_counter() - start) * 1e3)
    return [{"read": read, "samples_ms": times} for read, times in rows.items()]


# --- 08-fallback-mps ----------------------------------------------------------------------------------------


def headline_fallback_mps(record: Record) -> Text:
    if {row["moment"] for row in record.rows} != {"never", "before import", "after import"}:
        return TOO_NOISY
    moved = Counter(row["moment"] for row in record.rows if row["outcome"] == "on CPU")
    if moved["before import"] <= moved["never"]:
        return both("The fallback variable changed nothing here.", "在这里，设不设回退变量都一样。")
    if moved["after import"] <= moved["never"]:
        return both("The fallback works only if set before the import.", "回退变量要在 import 之前设，才有用。")
    return both("The fallback works even if set after the import.", "回退变量在 import 之后设，也还有用。")


def say_fallback_mps(record: Record) -> Text:
    outcomes: dict[str, list[str]] = {}
    for row in record.rows:
        outcomes.setdefault(row["moment"], []).append(row["outcome"])
    if len(outcomes) < 3:
        return NOTHING

    def line(moment: str, code: str) -> str:
        name = {"never": both("never set", "不设")}.get(moment) or MOMENTS[moment]
        found = outcomes[moment]
        native, cpu = found.count("native"), found.count("on CPU")
        raised = len(found) - native - cpu
        if code == "en":
            return f"{name['en']}: {native} native, {cpu} on the CPU with a warning, {raised} raised"
        return f"{name['zh']}：{native} 个原生，{cpu} 个带警告在 CPU 上算，{raised} 个报错"

    return both(
        "The fallback variable " + "; ".join(line(one, "en") for one in outcomes) + ".",
        "回退变量" + "；".join(line(one, "zh") for one in outcomes) + "。",
    )


def draw_fallback_mps(record: Record, bets: dict) -> Table:
    """What became of each operation, by the moment at which the variable was set; no bet is made on it."""
    moments = {
        "never": t("never set", "不设"),
        **{name: word(MOMENTS[name]) for name in ("before import", "after import")},
    }
    said = {"native": t("on the GPU", "在 GPU 上"), "on CPU": t("on the CPU", "在 CPU 上")}
    found = {(row["op"], row["moment"]): row["outcome"] for row in record.rows}
    lines, marks = [["", *moments.values()]], {}
    for number, op in enumerate(dict.fromkeys(row["op"] for row in record.rows)):
        outcomes = [found.get((op, moment), "") for moment in moments]
        marks |= {(number, at): "told" for at, one in enumerate(outcomes, 1) if one not in ("native", "")}
        lines.append([op, *(said.get(one, one) for one in outcomes)])
    return Table(lines, marks)


@experiment(
    name="08-fallback-mps",
    lesson=LESSON,
    version=1,
    needs="mps",
    seconds=25,
    whole=True,
    title=both(
        "Apple GPU: which operations fall back, with the variable set never, before, after import?",
        "苹果 GPU：回退变量不设、导入前设、导入后设，哪些算子会回退？",
    ),
)
def fallback_mps(budget: Budget) -> Iterator[dict]:
    """Seven operations of torch.linalg: native, on the CPU, or an error; three new processes."""
    moments = ("never", "before import", "after import")
    for moment in budget.loop(moments, desc=both("new processes", "新进程"), least=3):
        yield from ({"moment": moment, **row} for row in probes.fallback_at(moment))


# --- 08-float64-mps -----------------------------------------------------------------------------------------


def headline_float64_mps(record: Record) -> Text:
    if all(row["kind"] == "value" for row in record.rows):
        return both("Here, the Apple GPU takes float64.", "在这里，苹果 GPU 接受 float64。")
    return both("Some ways to bring numbers to the Apple GPU raise an error.", "把数送上苹果 GPU，有的写法会报错。")


def say_float64_mps(record: Record) -> Text:
    raised = [row for row in record.rows if row["kind"] != "value"]
    if not record.rows:
        return NOTHING
    if not raised:
        return both(
            "No attempt raised: this PyTorch takes float64 on the GPU.",
            "没有一次报错：这个 PyTorch 在 GPU 上接受 float64。",
        )
    first = raised[0]
    return both(
        f"{len(raised)} of {len(record.rows)} attempts raised; the first said {first['kind']}: {first['said']}.",
        f"{len(record.rows)} 次尝试中 {len(raised)} 次报错；第一条是 {first['kind']}：{first['said']}。",
    )


def draw_float64_mps(record: Record, bets: dict) -> Table:
    """Each attempt with its result or the kind of its error; no bet is made on it."""
    lines = [["", t("result", "结果")]]
    lines += [[row["code"], clip(row["said"]) if row["kind"] == "value" else row["kind"]] for row in record.rows]
    return Table(lines, {(at, 1): "told" for at, row in enumerate(record.rows) if row["kind"] != "value"})


@experiment(
    name="08-float64-mps",
    lesson=LESSON,
    version=1,
    needs="mps",
    seconds=2,
    title=both(
        "Apple GPU: which of seven ways to bring numbers there fail?", "苹果 GPU：七种把数送过去的写法，哪些会失败？"
    ),
)
def float64_mps(budget: Budget) -> list[dict]:
    """Each attempt with its result or the exact error."""
    return [{"code": code, **probes.tried(action)} for code, action in probes.float64_attempts()]


# --- 08-repeat-mps ------------------------------------------------------------------------------------------

PAIRS = {
    "product": both("x @ x, twice", "x @ x，两次"),
    "index_add": both("index_add_, twice", "index_add_，两次"),
    "dropout": both("dropout, reseeded", "dropout，重设种子"),
    "randn": both("randn with one seed, CPU and GPU", "同一种子的 randn，CPU 与 GPU"),
    "devices": both("x @ x, CPU and GPU", "x @ x，CPU 与 GPU"),
    "autocast": both("type of x @ x under autocast float16", "autocast float16 下 x @ x 的类型"),
}
EQUAL = {"yes": both("equal", "相同"), "no": both("different", "不同")}


def _outcome(row: dict) -> Text:
    return EQUAL.get(row["outcome"], row["outcome"])


def headline_repeat_mps(record: Record) -> Text:
    found = {row["pair"]: row["outcome"] for row in record.rows}
    if not set(PAIRS) <= set(found):
        return TOO_NOISY
    if not all(found[pair] == "yes" for pair in ("product", "index_add", "dropout")):
        return both(
            "On the Apple GPU, the same call gave other bits the second time.", "同样的调用，苹果 GPU 两次结果不一样。"
        )
    if all(found[pair] == "yes" for pair in ("randn", "devices")):
        return both(
            "The Apple GPU gave the same bits twice, and they equal the CPU's.",
            "苹果 GPU 两次逐位相同，和 CPU 也相同。",
        )
    return both("The Apple GPU gave the same bits twice, but not the CPU's.", "苹果 GPU 两次逐位相同，和 CPU 却不同。")


def say_repeat_mps(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    en = "; ".join(f"{pick(PAIRS[row['pair']], 'en')}: {pick(_outcome(row), 'en')}" for row in record.rows)
    zh = "；".join(f"{pick(PAIRS[row['pair']], 'zh')}：{pick(_outcome(row), 'zh')}" for row in record.rows)
    return both(
        f"Bit by bit. {en}. “Equal” is one observation, not a promise.",
        f"逐位比较。{zh}。“相同”只是这一次的观察，不是保证。",
    )


def draw_repeat_mps(record: Record, bets: dict) -> Table:
    """What was compared, and whether its bits were equal; no bet is made on it."""
    lines = [["", t("bit by bit", "逐位比较")]]
    lines += [[word(PAIRS[row["pair"]]), pick(_outcome(row))] for row in record.rows]
    return Table(lines, {(at, 1): "told" for at, row in enumerate(record.rows) if row["outcome"] == "no"})


@experiment(
    name="08-repeat-mps",
    lesson=LESSON,
    version=1,
    needs="mps",
    seconds=4,
    title=both(
        "Apple GPU: the same bits again, and the same seed on two devices?",
        "苹果 GPU：再算一次逐位相同吗？同一种子在两种设备上呢？",
    ),
)
def repeat_mps(budget: Budget) -> list[dict]:
    """Equal bits or not: product, index_add_, dropout after reseeding; randn of both devices; autocast."""
    torch.manual_seed(8)
    x, where = torch.randn(512, 512, device=probes.DEVICE), torch.randint(0, 16, (512,))
    index = where.to(probes.DEVICE)

    def dropped() -> torch.Tensor:
        torch.manual_seed(8)
        return torch.dropout(x, 0.5, True)

    def drawn(device: str) -> torch.Tensor:
        torch.manual_seed(8)
        return torch.randn(64, device=device).cpu()

    pairs = {
        "product": lambda: (x @ x, x @ x),
        "index_add": lambda: tuple(
            torch.zeros(16, 512, device=probes.DEVICE).index_add_(0, index, x) for _ in range(2)
        ),
        "dropout": lambda: (dropped(), dropped()),
        "randn": lambda: (drawn("cpu"), drawn(probes.DEVICE)),
        "devices": lambda: ((x @ x).cpu(), x.cpu() @ x.cpu()),
    }
    rows = []
    for name, make in pairs.items():
        one, other = make()
        rows.append(
            {
                "pair": name,
                "outcome": "yes" if torch.equal(one, other) else "no",
                "largest_difference": float((one - other).abs().max()),
            }
        )
    with torch.autocast(probes.DEVICE, dtype=torch.float16):
        kind = str((x @ x).dtype)
    return [*rows, {"pair": "autocast", "outcome": kind, "largest_difference": 0.0}]
