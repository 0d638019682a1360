"""Sentences and pictures of the records of lesson 08 that only an Apple GPU can make."""

from __future__ import annotations

from typing import Any

from course.i18n import Text, both, pick, t
from course.lessons.l05_cudnn_benchmark.findings import middle, tiles, word
from course.lessons.l08_mps.findings import MOMENTS, NOTHING, grid
from course.timing.stats import median, median_interval

WORDS = {"faster": both("GPU faster", "GPU 更快"), "slower": both("CPU faster", "CPU 更快"),
         "same": both("no difference", "没差别"), "undecided": both("undecided", "未定")}


# --- 08-speed-mps -----------------------------------------------------------------------------------------

def speed(record: Any) -> Text:
    if not record.rows:
        return NOTHING

    def line(row: dict, code: str) -> str:
        colon, comma = (" ", " ") if code == "en" else ("：", "，")
        return (f"{row['op']} {row['size']}²{colon}{row['ratio']:.3g} [{row['low']:.3g}, {row['high']:.3g}]{comma}"
                f"{WORDS[row['verdict']][code]}")

    return both("Time on the GPU over time on the CPU, data already there: "
                + "; ".join(line(row, "en") for row in record.rows) + ".",
                "GPU 耗时 ÷ CPU 耗时，数据都已就位。" + "；".join(line(row, "zh") for row in record.rows) + "。")


def draw_speed(record: Any, ax: Any) -> None:
    from course.figures import intervals

    rows = record.rows
    intervals(ax, [f"{row['op']} {row['size']}²" for row in rows], [row["ratio"] for row in rows],
              [row["low"] for row in rows], [row["high"] for row in rows], "", reference=1.0, log=True,
              what=t("time on the GPU / on the CPU (left of 1: the GPU wins)",
                     "GPU 耗时 / CPU 耗时（1 的左边：GPU 赢）"))


# --- 08-transfer-mps --------------------------------------------------------------------------------------

WAYS = {"to mps": both("to the GPU", "去 GPU"), "to cpu": both("back", "回来")}


def transfer(record: Any) -> Text:
    if not record.rows:
        return NOTHING
    sizes = [row["kib"] for row in record.rows]
    ends = [row for row in record.rows if row["kib"] in (min(sizes), max(sizes))]
    en = "; ".join(f"{row['kib']:,} KiB {WAYS[row['way']]['en']} {middle(row['samples_ms'])} ms" for row in ends)
    zh = "；".join(f"{row['kib']:,} KiB {WAYS[row['way']]['zh']} {middle(row['samples_ms'])} ms" for row in ends)
    return both(f"Time of one copy, fenced: {en}.", f"一次拷贝的耗时（等它做完）：{zh}。")


def draw_transfer(record: Any, ax: Any) -> None:
    from course.figures import grouped

    sizes = list(dict.fromkeys(row["kib"] for row in record.rows))
    series = {}
    for way, name in WAYS.items():
        found = {row["kib"]: row["samples_ms"] for row in record.rows if row["way"] == way}
        spans = [(found[size], median_interval(found[size])) for size in sizes if size in found]
        series[word(name)] = [(median(times), span.low, span.high) for times, span in spans]
    grouped(ax, [f"{size:,} KiB" for size in sizes], series, "ms", log=True, what=t("time of a copy", "一次拷贝的耗时"))


# --- 08-fence-mps -----------------------------------------------------------------------------------------

def fence(record: Any) -> Text:
    found = {row["read"]: row["samples_ms"] for row in record.rows}
    if set(found) != {"at once", "after synchronize"} or min(map(len, found.values())) < 6:
        return NOTHING
    early, late = middle(found["at once"]), middle(found["after synchronize"])
    return both(f"Read at once the clock says {early} ms, after torch.mps.synchronize() {late} ms, for the same work.",
                f"同样的活，立刻读表是 {early} ms，torch.mps.synchronize() 之后读是 {late} ms。")


def draw_fence(record: Any, ax: Any) -> None:
    from course.figures import samples

    names = {"at once": t("read at once", "立刻读表"), "after synchronize": t("after synchronize()", "等完再读")}
    samples(ax, {names[row["read"]]: row["samples_ms"] for row in record.rows}, "ms", log=True,
            what=t("time", "耗时"))


# --- 08-fallback-mps --------------------------------------------------------------------------------------

def fallback(record: Any) -> Text:
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

    return both("The fallback variable " + "; ".join(line(one, "en") for one in outcomes) + ".",
                "回退变量" + "；".join(line(one, "zh") for one in outcomes) + "。")


def draw_fallback(record: Any, ax: Any) -> None:
    moments = {"never": t("never set", "不设"), **{name: word(MOMENTS[name]) for name in
                                                ("before import", "after import")}}
    found = {(row["op"], row["moment"]): row["outcome"] for row in record.rows}
    shades = {"native": 0, "on CPU": 2, "": 2}
    grid(ax, list(moments.values()), [
        (op, [(found.get((op, moment), ""), shades.get(found.get((op, moment), ""), 1)) for moment in moments])
        for op in dict.fromkeys(row["op"] for row in record.rows)])


# --- 08-float64-mps ---------------------------------------------------------------------------------------

def float64(record: Any) -> Text:
    raised = [row for row in record.rows if row["kind"] != "value"]
    if not record.rows:
        return NOTHING
    if not raised:
        return both("No attempt raised: this PyTorch takes float64 on the GPU.",
                    "没有一次报错：这个 PyTorch 在 GPU 上接受 float64。")
    first = raised[0]
    return both(f"{len(raised)} of {len(record.rows)} attempts raised; the first said {first['kind']}: {first['said']}.",
                f"{len(record.rows)} 次尝试中 {len(raised)} 次报错；第一条是 {first['kind']}：{first['said']}。")


def draw_float64(record: Any, ax: Any) -> None:
    tiles(ax, [(row["code"], row["said"][:30] if row["kind"] == "value" else row["kind"], row["kind"] == "value")
               for row in record.rows])


# --- 08-repeat-mps ----------------------------------------------------------------------------------------

PAIRS = {"product": both("x @ x, twice", "x @ x，两次"),
         "index_add": both("index_add_, twice", "index_add_，两次"),
         "dropout": both("dropout, reseeded", "dropout，重设种子"),
         "randn": both("randn with one seed, CPU and GPU", "同一种子的 randn，CPU 与 GPU"),
         "devices": both("x @ x, CPU and GPU", "x @ x，CPU 与 GPU"),
         "autocast": both("type of x @ x under autocast float16", "autocast float16 下 x @ x 的类型")}
EQUAL = {"yes": both("equal", "相同"), "no": both("different", "不同")}


def _outcome(row: dict) -> Text:
    return EQUAL.get(row["outcome"], row["outcome"])


def repeat(record: Any) -> Text:
    if not record.rows:
        return NOTHING
    en = "; ".join(f"{pick(PAIRS[row['pair']], 'en')}: {pick(_outcome(row), 'en')}" for row in record.rows)
    zh = "；".join(f"{pick(PAIRS[row['pair']], 'zh')}：{pick(_outcome(row), 'zh')}" for row in record.rows)
    return both(f"Bit by bit. {en}. “Equal” is one observation, not a promise.",
                f"逐位比较。{zh}。“相同”只是这一次的观察，不是保证。")


def draw_repeat(record: Any, ax: Any) -> None:
    tiles(ax, [(word(PAIRS[row["pair"]]), pick(_outcome(row)), row["outcome"] != "no") for row in record.rows])
