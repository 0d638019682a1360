"""Sentences, pictures and settled bets of lesson 07 on what rounding does: pure functions on a record."""

from __future__ import annotations

from typing import Any

from course.i18n import Text, both, t
from course.lessons.l05_cudnn_benchmark.findings import NOTHING
from course.timing.stats import median, median_interval

NAMES = {"float32": both("float32", "float32"), "tf32": both("TF32 inputs", "输入舍入到 TF32"),
         "float16": both("float16", "float16"), "bfloat16": both("bfloat16 inputs", "输入舍入到 bfloat16"),
         "tf32, mean removed": both("TF32 inputs, mean removed first", "先减去均值，再舍入到 TF32")}


def sci(value: float) -> str:
    """A number in two digits: 0.00029 -> 2.9e-04, 12.3 -> 12, 2234 -> 2,200."""
    if abs(value) >= 100:
        return f"{float(f'{value:.2g}'):,.0f}"
    return f"{value:.2g}" if abs(value) >= 0.01 else f"{value:.1e}"


def spread(values: list[float]) -> str:
    """Median and 95 % interval of it: 2.9e-04 [2.8e-04, 3.0e-04]."""
    interval = median_interval(values)
    return f"{sci(median(values))} [{sci(interval.low)}, {sci(interval.high)}]"


def pick_rows(record: Any, value: str, **wanted: Any) -> list[float]:
    """The column ``value`` of the rows that carry all wanted values."""
    return [row[value] for row in record.rows if all(row.get(key) == one for key, one in wanted.items())]


def curves(record: Any, value: str, x: str, series: str, names: dict[str, Text]) -> tuple[list, dict]:
    """x values and one list of medians per series, named in the language of the figure."""
    xs = sorted({row[x] for row in record.rows})
    found = [name for name in names if any(row[series] == name for row in record.rows)]
    return xs, {t(names[name]["en"], names[name]["zh"]): [
        median(pick_rows(record, value, **{x: one, series: name}) or [float("nan")]) for one in xs]
        for name in found}


# --- 07-neighbours ----------------------------------------------------------------------------------------

def neighbours(record: Any) -> Text:
    if len(record.rows) < 28:
        return NOTHING
    offset = 100

    def share(story: str, at: int) -> str:
        return f"{100 * median(pick_rows(record, 'share', story=story, offset=at)):.0f}"

    near, near_tf32 = share("float32", 0), share("tf32", 0)
    far, far_tf32, cured = share("float32", offset), share("tf32", offset), share("tf32, mean removed", offset)
    return both(
        f"Nearest neighbours found, points around 0: float32 {near} %, TF32 {near_tf32} %. Around {offset}: float32 "
        f"{far} %, TF32 {far_tf32} %; with the mean removed first, TF32 {cured} % (medians of the clouds).",
        f"找对最近邻的比例，点在 0 附近时：float32 {near}%，TF32 {near_tf32}%。挪到 {offset} 附近：float32 {far}%，"
        f"TF32 {far_tf32}%；先减去均值，TF32 {cured}%（各点云的中位数）。")


def draw_neighbours(record: Any, ax: Any) -> None:
    from course.figures import lines

    names = {name: NAMES[name] for name in ("float32", "tf32", "bfloat16", "tf32, mean removed")}
    xs, series = curves(record, "share", "offset", "story", names)
    lines(ax, list(range(len(xs))), series, xlabel=t("offset of all points (their spread is 1)",
                                                     "所有点的偏移量（点云本身的尺度为 1）"),
          ylabel=t("share of right neighbours", "找对邻居的比例"))
    ax.set_xticks(range(len(xs)), [f"{x:g}" for x in xs])
    ax.set_ylim(-0.04, 1.04)


# --- 07-error-vs-k ----------------------------------------------------------------------------------------

def _growth(record: Any, value: str, name: str) -> float | None:
    """Median at the longest sum over that at the shortest; None without both."""
    ks = sorted({row["k"] for row in record.rows})
    if len(ks) < 2:
        return None
    first, last = (median(pick_rows(record, value, k=k, format=name)) for k in (ks[0], ks[-1]))
    return last / first if first else None


def error_vs_k(record: Any) -> Text:
    if _growth(record, "relative", "tf32") is None:
        return NOTHING
    ks = sorted({row["k"] for row in record.rows})
    typical, relative = _growth(record, "typical", "tf32"), _growth(record, "relative", "tf32")
    start, end = (spread(pick_rows(record, "relative", k=k, format="tf32")) for k in (ks[0], ks[-1]))
    plain = _growth(record, "relative", "float32")
    return both(
        f"From sums of {ks[0]} to sums of {ks[-1]}, the typical error of an entry with TF32 inputs grew {typical:.2g} "
        f"times; relative to the result it went from {start} to {end}, a factor of {relative:.3g}. Plain float32: a "
        f"factor of {plain:.2g} in the relative error.",
        f"求和长度从 {ks[0]} 到 {ks[-1]}，TF32 输入时单个结果的典型误差变为 {typical:.2g} 倍；相对于结果，则从 {start} "
        f"变到 {end}，即 {relative:.3g} 倍。普通 float32 的相对误差变为 {plain:.2g} 倍。")


def draw_error_vs_k(record: Any, ax: Any) -> None:
    from course.figures import lines

    names = {name: NAMES[name] for name in ("bfloat16", "tf32", "float32")}
    xs, series = curves(record, "relative", "k", "format", names)
    _, typical = curves(record, "typical", "k", "format", {"tf32": both("TF32 inputs: error of an entry, absolute",
                                                                         "TF32 输入：单个结果的绝对误差")})
    lines(ax, xs, {**series, **typical}, log_x=True, log_y=True, xlabel=t("terms in each sum (k)", "每个求和的项数 k"),
          ylabel=t("error / result, and error", "误差 / 结果，以及误差"))
    decades(ax.yaxis)
    ax.legend(loc="center", bbox_to_anchor=(0.5, 0.4))


def decades(axis: Any) -> None:
    """Powers of ten as ticks of a logarithmic axis."""
    from matplotlib.ticker import LogFormatterSciNotation, LogLocator

    axis.set_major_locator(LogLocator(numticks=9))
    axis.set_major_formatter(LogFormatterSciNotation())


def settle_error_vs_k(record: Any) -> dict[str, str | None]:
    growth, answer = _growth(record, "relative", "tf32"), None
    if growth is not None:
        answer = "b" if 0.5 < growth < 2 else "c" if 10 < growth < 100 else "a" if growth > 300 else None
    return {"07-bet-k": answer}


# --- 07-counter -------------------------------------------------------------------------------------------

def _last(record: Any) -> dict[str, tuple[int, float]]:
    """format -> (additions, what the counter shows) at the end."""
    return {row["format"]: (row["added"], row["shown"]) for row in record.rows}


def counter(record: Any) -> Text:
    last = _last(record)
    if not last:
        return NOTHING
    added = max(n for n, _ in last.values())
    words = {"float32": "float32", "tf32": "10-bit mantissa", "float16": "float16", "bfloat16": "bfloat16"}
    zh = {**words, "tf32": "10 位尾数"}
    return both(f"After {added} additions of 1 the counter shows: "
                + ", ".join(f"{words[name]} {shown:g}" for name, (_, shown) in last.items()) + ".",
                f"加了 {added} 次 1 之后，计数器显示：" + "，".join(f"{zh[name]} {shown:g}"
                                                       for name, (_, shown) in last.items()) + "。")


def draw_counter(record: Any, ax: Any) -> None:
    from course.figures import lines

    names = {"float32": both("float32", "float32"), "float16": both("float16", "float16"),
             "tf32": both("10-bit mantissa (TF32's)", "10 位尾数（同 TF32）"), "bfloat16": both("bfloat16", "bfloat16")}
    xs, series = curves(record, "shown", "added", "format", names)
    lines(ax, xs, series, xlabel=t("additions of 1", "加 1 的次数"), ylabel=t("the sum shown", "显示的和"))
    for line in ax.lines:
        line.set_markevery(7)


def settle_counter(record: Any) -> dict[str, str | None]:
    added, shown = _last(record).get("bfloat16", (0, 0.0))
    if added < 1000:
        return {"07-bet-counter": None}
    return {"07-bet-counter": "a" if shown == added else "c" if shown < 0.5 * added else "b"}


# --- 07-solve ---------------------------------------------------------------------------------------------

STORIES = {"all float32": both("all float32", "全用 float32"), "all TF32": both("all TF32", "全用 TF32"),
           "step TF32, residual float32": both("step TF32, residual float32", "修正量 TF32，残差 float32")}


def _final(record: Any) -> dict[str, list[float]]:
    turns = {row["turn"] for row in record.rows}
    return {story: pick_rows(record, "relative", story=story, turn=max(turns)) for story in STORIES} if turns else {}


def solve(record: Any) -> Text:
    final = _final(record)
    if not final or not all(final.values()):
        return NOTHING
    en = "; ".join(f"{STORIES[story]['en']} {spread(final[story])}" for story in STORIES)
    zh = "；".join(f"{STORIES[story]['zh']} {spread(final[story])}" for story in STORIES)
    return both(f"Relative error of the solution after the last turn: {en}.", f"最后一轮之后，解的相对误差：{zh}。")


def draw_solve(record: Any, ax: Any) -> None:
    from course.figures import lines

    xs, series = curves(record, "relative", "turn", "story", STORIES)
    lines(ax, xs, series, log_y=True, xlabel=t("turn", "轮次"), ylabel=t("relative error of x", "x 的相对误差"))
    decades(ax.yaxis)


def settle_solve(record: Any) -> dict[str, str | None]:
    final = {story: median(values) for story, values in _final(record).items() if values}
    if len(final) < 3:
        return {"07-bet-solve": None}
    plain, low, mixed = final["all float32"], final["all TF32"], final["step TF32, residual float32"]
    if low < 10 * plain:
        return {"07-bet-solve": None}  # nothing lies between the two
    answer = "b" if mixed < 5 * plain else "a" if 0.3 * low < mixed < 3 * low else "c" if mixed > 3 * low else None
    return {"07-bet-solve": answer}


# --- 07-noise ---------------------------------------------------------------------------------------------

SOURCES = {"batch": both("which 64 samples were drawn", "抽到哪 64 个样本"), "tf32": both("TF32 inputs", "输入舍入到 TF32"),
           "bfloat16": both("bfloat16 inputs", "输入舍入到 bfloat16")}


def noise(record: Any) -> Text:
    if len(record.rows) < 6:
        return NOTHING
    seen = {name: [row[name] for row in record.rows] for name in SOURCES}
    ratios = [row["batch"] / row["tf32"] for row in record.rows if row["tf32"]]
    return both(
        f"Drawing another batch moved the gradient by {spread(seen['batch'])} of its length, TF32 inputs by "
        f"{spread(seen['tf32'])}: the draw weighs {spread(ratios)} times as much.",
        f"换一个 batch，梯度偏移了自身长度的 {spread(seen['batch'])}；TF32 输入只让它偏移 {spread(seen['tf32'])}："
        f"前者是后者的 {spread(ratios)} 倍。")


def draw_noise(record: Any, ax: Any) -> None:
    from course.figures import samples

    samples(ax, {t(text["en"], text["zh"]): [row[name] for row in record.rows] for name, text in SOURCES.items()},
            "", log=True, what=t("distance moved / length of the gradient", "偏移量 / 梯度长度"))
    decades(ax.xaxis)


def settle_noise(record: Any) -> dict[str, str | None]:
    if len(record.rows) < 6:
        return {"07-bet-noise": None}
    interval = median_interval([row["batch"] / row["tf32"] for row in record.rows])
    low, high = interval.low, interval.high
    return {"07-bet-noise": "c" if low > 10 else "a" if high < 0.5 else "b" if low > 0.5 and high < 10 else None}


# --- 07-onednn --------------------------------------------------------------------------------------------

def _errors(record: Any, operation: str) -> dict[str, float]:
    return {row["permission"]: row["relative"] for row in record.rows if row["operation"] == operation}


def onednn(record: Any) -> Text:
    matmul, model = _errors(record, "matmul"), _errors(record, "simulated")
    if len(matmul) < 4 or "bf16" not in model:
        return NOTHING
    units = next((row["bf16_units"] for row in record.rows if "bf16_units" in row), "unknown")
    moved = [f"{row['operation']} ({row['permission']})" for row in record.rows if row.get("same_bits") == 0]
    words = {"yes": both("This CPU reports bf16 instructions", "这块 CPU 报告有 bf16 指令"),
             "no": both("This CPU reports no bf16 instructions", "这块 CPU 报告没有 bf16 指令"),
             "unknown": both("Whether this CPU has bf16 instructions is unknown", "不清楚这块 CPU 有没有 bf16 指令")}[units]
    changed = both("no result changed a bit", "没有任何结果变动一个比特") if not moved else both(
        "other bits than without permission: " + ", ".join(moved), "与没有许可时相比，比特有变动的：" + "、".join(moved))
    return both(
        f"{words['en']}. Matmul, relative error: ieee {sci(matmul['ieee'])}, bf16 allowed {sci(matmul['bf16'])}; "
        f"inputs really rounded to bf16 would give {sci(model['bf16'])}. And {changed['en']}.",
        f"{words['zh']}。matmul 的相对误差：ieee {sci(matmul['ieee'])}，允许 bf16 {sci(matmul['bf16'])}；"
        f"如果真把输入舍入到 bf16，应是 {sci(model['bf16'])}。另外，{changed['zh']}。")


def draw_onednn(record: Any, ax: Any) -> None:
    from course.figures import grouped

    operations = [name for name in ("matmul", "conv", "rnn") if _errors(record, name)]
    series = {f"{permission}": [(_errors(record, name)[permission],) * 3 for name in operations]
              for permission in ("ieee", "tf32", "bf16")}
    grouped(ax, operations, series, "", what=t("relative error against float64", "对 float64 的相对误差"), log=True)
    for permission, dash in (("tf32", ":"), ("bf16", "--")):
        level = _errors(record, "simulated").get(permission)
        if level:
            ax.axvline(level, linestyle=dash, color="#8A8A8A")
            ax.text(level, -0.5, f" {permission}", va="top", ha="left", fontsize=9)
    ax.set_xlim(2e-8, 3e-2)
    ax.legend(loc="lower right")
    decades(ax.xaxis)


def settle_onednn(record: Any) -> dict[str, str | None]:
    matmul, model = _errors(record, "matmul"), _errors(record, "simulated")
    if len(matmul) < 4 or "bf16" not in model:
        return {"07-bet-onednn": None}
    error, plain = matmul["bf16"], matmul["ieee"]
    answer = "a" if error > 0.3 * model["bf16"] else "b" if error < 10 * plain else None
    return {"07-bet-onednn": answer}
