"""Experiments of lesson 07 that need a GPU."""

from __future__ import annotations

from course.experiment.base import Budget, experiment
from course.experiment.kernels import differing_parts
from course.experiment.new_process import rows_of
from course.experiment.words import NOTHING, TOO_NOISY, VERDICTS, sci, with_interval, word
from course.figures.kinds import Bar, Bet, Ratio, bars, one_in, ratio_rows
from course.figures.svg import SvgPicture
from course.i18n import Text, both, t
from course.lessons.l07_precision.experiments import LESSON, pick_rows
from course.records import Record
from course.tables import Table
from course.timing.stats import median

CUDA_PROBES = "course.lessons.l07_precision.probes_cuda"


def _in_time(budget: Budget, rows: list[dict], whole: int) -> list[dict]:
    """The rows; the record is marked incomplete where the new process had to stop early."""
    budget.complete = budget.complete and len(rows) == whole
    return rows


# --- 07-who-cuda --------------------------------------------------------------------------------------------

LOW = 1e-5
"""A relative error above this, from inputs of spread 1, is more than float32 arithmetic makes here."""


def _who(record: Record) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for row in record.rows:
        found.setdefault(row["setting"], {})[row["operation"]] = row["relative"]
    return found


def headline_who_cuda(record: Record) -> Text:
    start = _who(record).get("as it comes")
    if not start:
        return TOO_NOISY
    coarse = {name for name, error in start.items() if error > LOW}
    if not coarse:
        return both(
            "By default, this GPU computes as exactly as float32.", "默认设置下，这块 GPU 算得和 float32 一样精确。"
        )
    if coarse == set(start):
        return both(
            "By default, every operation here is coarser than float32.", "默认设置下，每种运算都不如 float32 准。"
        )
    if "conv" in coarse and "matmul" not in coarse:
        return both(
            "By default, convolutions are coarser than float32 here, matrix products are not.",
            "默认设置下，卷积不如 float32 准，矩阵乘一样准。",
        )
    return both("By default, some operations here are coarser than float32.", "默认设置下，部分运算不如 float32 准。")


def say_who_cuda(record: Record) -> Text:
    seen = _who(record)
    if "as it comes" not in seen:
        return NOTHING
    start = seen["as it comes"]
    errors = [f"{name} {sci(error)}" for name, error in start.items()]
    coarse = [name for name, error in start.items() if error > LOW]
    under = [setting for setting, one in seen.items() if one.get("matmul", 0.0) > LOW]
    return both(
        f"As it comes, relative errors: {', '.join(errors)}; coarser than float32: {', '.join(coarse) or 'none'}. "
        f"Matmul was coarser under: {'; '.join(under) or 'no setting'}.",
        f"默认设置下的相对误差：{'、'.join(errors)}；不如 float32 准的：{'、'.join(coarse) or '没有'}。让 matmul 不那么准的设置："
        f"{'；'.join(under) or '没有'}。",
    )


def draw_who_cuda(record: Record, bets: dict) -> Table:
    """The relative error of each operation under each setting; no bet is made on it."""
    seen = _who(record)
    operations = list(next(iter(seen.values())))
    names = {"as it comes": t("nothing set", "什么都不设")}
    lines = [["", *operations]]
    lines += [
        [names.get(setting, setting), *(one_in(one[name]) for name in operations)] for setting, one in seen.items()
    ]
    coarse = {
        (row, at): "told"
        for row, one in enumerate(seen.values())
        for at, name in enumerate(operations, 1)
        if one[name] > LOW
    }
    return Table(lines, coarse)


@experiment(
    name="07-who-cuda",
    lesson=LESSON,
    version=1,
    needs="cuda",
    seconds=60,
    whole=True,
    title=both(
        "On the GPU: who computes in TF32, by every way to set it?", "GPU 上：用各种方式设置，谁在用 TF32 计算？"
    ),
)
def who_cuda(budget: Budget) -> list[dict]:
    """Relative error against float64 of matmul, convolution and LSTM under seven settings."""
    return _in_time(budget, rows_of(CUDA_PROBES, "who", budget.left(), timeout_s=180), 21)


# --- 07-depth-cuda ------------------------------------------------------------------------------------------

DEPTH = {
    "tf32": both("TF32 allowed", "允许 TF32"),
    "simulated": both("our simulation", "我们的模拟"),
    "ieee": both("TF32 forbidden", "禁止 TF32"),
}


def headline_depth_cuda(record: Record) -> Text:
    last = max(row["k"] for row in record.rows)
    seen = {name: pick_rows(record, "relative", k=last, setting=name) for name in DEPTH}
    if not all(seen.values()):
        return TOO_NOISY
    real, plain, simulated = (median(seen[name]) for name in ("tf32", "ieee", "simulated"))
    if real < 3 * plain:
        return both("TF32 was allowed, and the error stays float32's.", "允许了 TF32，误差却还是 float32 的水平。")
    if 0.8 < real / simulated < 1.25:
        return both("Our simulated TF32 errs as much as the real one.", "我们模拟的 TF32，误差和真的一样大。")
    if real > simulated:
        return both("The real TF32 errs more than our simulation.", "真的 TF32 比我们模拟的误差更大。")
    return both("The real TF32 errs less than our simulation.", "真的 TF32 比我们模拟的误差更小。")


def say_depth_cuda(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    last = max(row["k"] for row in record.rows)
    seen = {name: median(pick_rows(record, "relative", k=last, setting=name)) for name in DEPTH}
    return both(
        f"At {last} terms the relative error is {sci(seen['tf32'])} with TF32 allowed, "
        f"{sci(seen['ieee'])} with it forbidden; our simulation says {sci(seen['simulated'])}.",
        f"求和 {last} 项时，允许 TF32 的相对误差是 {sci(seen['tf32'])}，禁止时是 {sci(seen['ieee'])}；"
        f"我们的模拟给出 {sci(seen['simulated'])}。",
    )


def draw_depth_cuda(record: Record, bets: dict) -> SvgPicture:
    """The relative error in the longest sums; no bet is made on it."""
    last = max(row["k"] for row in record.rows)
    errors = {name: median(pick_rows(record, "relative", k=last, setting=name)) for name in DEPTH}
    return bars([Bar(word(DEPTH[name]), error, one_in(error), name == "ieee") for name, error in errors.items()])


@experiment(
    name="07-depth-cuda",
    lesson=LESSON,
    version=1,
    needs="cuda",
    seconds=60,
    whole=True,
    title=both(
        "On the GPU: how close is our simulated TF32 to the real one?", "GPU 上：我们模拟的 TF32 与真的差多少？"
    ),
)
def depth_cuda(budget: Budget) -> list[dict]:
    """Error of a product by inner length: TF32 forbidden, allowed, simulated."""
    return _in_time(budget, rows_of(CUDA_PROBES, "depth", budget.left(), timeout_s=180), 45)


# --- 07-speed-cuda ------------------------------------------------------------------------------------------


def headline_speed_cuda(record: Record) -> Text:
    return {
        "a": both("TF32 is faster here, in every case.", "在这里，每种情况下 TF32 都更快。"),
        "b": both("TF32 is faster in some cases, not in all.", "TF32 只在有些情况下更快。"),
        "c": both("TF32 saves no time on this GPU.", "在这块 GPU 上，TF32 不省时间。"),
    }.get(settle_speed_cuda(record)["07-bet-speed"] or "", TOO_NOISY)


def say_speed_cuda(record: Record) -> Text:
    if not record.rows:
        return NOTHING

    def line(row: dict, code: str) -> str:
        colon, comma = (": ", ", ") if code == "en" else ("：", "，")
        return (
            f"{row['operation']} {row['size']}{colon}{with_interval(row, code)}{comma}{VERDICTS[row['verdict']][code]}"
        )

    doubt = both("", "")
    if any(row["verdict"] == "undecided" for row in record.rows):
        doubt = both(" What is undecided needs a quieter machine or another run.", "无法判定的，请在机器空闲时再运行。")
    return both(
        "Time with TF32 allowed over time without: "
        + "; ".join(line(row, "en") for row in record.rows)
        + "."
        + doubt["en"],
        "允许 TF32 的耗时除以禁止时的耗时。" + "；".join(line(row, "zh") for row in record.rows) + "。" + doubt["zh"],
    )


def draw_speed_cuda(record: Record, bets: dict) -> SvgPicture:
    """A bet on "some" is drawn as the largest size on the left and the smallest in the middle."""
    rows = [
        Ratio(f"{row['operation']} {row['size']}", row["ratio"], row["low"], row["high"], rounds=row.get("rounds", 0))
        for row in record.rows
    ]
    sizes, bet, mine = [row["size"] for row in record.rows], None, bets.get("07-bet-speed")
    some = {
        at: "left" if size == max(sizes) else "middle"
        for at, size in enumerate(sizes)
        if size in (min(sizes), max(sizes))
    }
    if mine:
        words, sides = {
            "a": (t("faster", "更快"), dict.fromkeys(range(len(rows)), "left")),
            "b": (t("only some", "只有一部分"), some),
            "c": (t("the same", "一样"), dict.fromkeys(range(len(rows)), "middle")),
        }[mine]
        bet = Bet(words, rows=sides)
    return ratio_rows(rows, (t("TF32 is faster", "TF32 更快"), t("TF32 is slower", "TF32 更慢")), bet)


def settle_speed_cuda(record: Record) -> dict[str, str | None]:
    """Faster everywhere: a. Faster for some, with the same elsewhere: b. Nowhere: c."""
    verdicts = [row["verdict"] for row in record.rows]
    if not verdicts or "undecided" in verdicts:
        return {"07-bet-speed": None}
    return {"07-bet-speed": "a" if set(verdicts) == {"faster"} else "b" if "faster" in verdicts else "c"}


@experiment(
    name="07-speed-cuda",
    lesson=LESSON,
    version=1,
    needs="cuda",
    seconds=90,
    whole=True,
    title=both("On the GPU: how much time does TF32 save?", "GPU 上：TF32 省多少时间？"),
)
def speed_cuda(budget: Budget, sizes: tuple[int, ...] = (256, 1024, 4096)) -> list[dict]:
    """time(TF32 allowed) / time(forbidden) of matmul and convolution at three sizes, taking turns."""
    return _in_time(budget, rows_of(CUDA_PROBES, "speed", list(sizes), budget.left(), timeout_s=180), 2 * len(sizes))


# --- 07-kernels-cuda ----------------------------------------------------------------------------------------


def _first(record: Record) -> dict[tuple[str, str], dict]:
    return {(row["operation"], row["setting"]): row for row in record.rows if row["place"] == 1}


def headline_kernels_cuda(record: Record) -> Text:
    found = _first(record)
    if len(found) < 4:
        return TOO_NOISY
    changed = sum(found[name, "ieee"]["kernel"] != found[name, "tf32"]["kernel"] for name in ("matmul", "conv"))
    return (
        both("The longest kernels stay the same, TF32 allowed or not.", "允不允许 TF32，最长的 kernel 都一样。"),
        both("Allow TF32, and one of two operations runs another kernel.", "允许 TF32，两种运算里有一种换了 kernel。"),
        both("Allow TF32, and other kernels run.", "一允许 TF32，跑的 kernel 就换了。"),
    )[changed]


def say_kernels_cuda(record: Record) -> Text:
    found = _first(record)
    if len(found) < 4:
        return NOTHING
    changed = [name for name in ("matmul", "conv") if found[name, "ieee"]["kernel"] != found[name, "tf32"]["kernel"]]

    def pair(name: str, code: str) -> str:
        names = [found[name, setting]["kernel"] for setting in ("ieee", "tf32")]
        short = differing_parts(names)
        return (
            f"{name} ({short[names[0]]} → {short[names[1]]})"
            if code == "en"
            else f"{name}（{short[names[0]]} → {short[names[1]]}）"
        )

    return both(
        "Another longest kernel once TF32 was allowed: "
        + (", ".join(pair(name, "en") for name in changed) or "none")
        + ".",
        "允许 TF32 之后，最耗时的 kernel 换了的：" + ("、".join(pair(name, "zh") for name in changed) or "没有") + "。",
    )


def draw_kernels_cuda(record: Record, bets: dict) -> Table:
    """The longest kernel of each operation under both settings; no bet is made on it."""
    found = _first(record)
    names = differing_parts(row["kernel"] for row in found.values())
    lines = [["", t("TF32 forbidden", "禁止 TF32"), t("TF32 allowed", "允许 TF32")]]
    for name in dict.fromkeys(operation for operation, _ in found):
        lines.append([name, *(names[found[name, setting]["kernel"]] for setting in ("ieee", "tf32"))])
    return Table(lines, {(row, 2): "told" for row, line in enumerate(lines[1:]) if line[1] != line[2]})


@experiment(
    name="07-kernels-cuda",
    lesson=LESSON,
    version=1,
    needs="cuda",
    seconds=60,
    title=both(
        "On the GPU: which kernels run, TF32 forbidden and allowed?", "GPU 上：禁止与允许 TF32 时，各跑哪些 kernel？"
    ),
)
def kernels_cuda(budget: Budget, size: int = 2048) -> list[dict]:
    """The longest kernels of one matmul and one convolution under both settings, by the profiler."""
    return rows_of(CUDA_PROBES, "kernels", size, timeout_s=180)


# --- 07-reduction-cuda --------------------------------------------------------------------------------------


def _pairs(record: Record) -> dict[tuple[str, int], dict[int, float]]:
    found: dict[tuple[str, int], dict[int, float]] = {}
    for row in record.rows:
        found.setdefault((row["dtype"], row["k"]), {})[row["allowed"]] = row["relative"]
    return {key: one for key, one in found.items() if len(one) == 2}


def headline_reduction_cuda(record: Record) -> Text:
    pairs = _pairs(record)
    if not pairs:
        return TOO_NOISY
    worse = sum(one[1] > 1.1 * one[0] for one in pairs.values())
    if not worse:
        return both("Reduced-precision sums cost no accuracy here.", "在这里，降低归约精度，结果没变差。")
    if worse < len(pairs):
        return both("Reduced-precision sums make some products less exact.", "降低归约精度，有些矩阵乘就不那么准。")
    return both(
        "Reduced-precision sums make every product here less exact.", "降低归约精度，这里的矩阵乘全都没那么准。"
    )


def say_reduction_cuda(record: Record) -> Text:
    pairs = _pairs(record)
    if not pairs:
        return NOTHING
    en = "; ".join(
        f"{dtype}, {k} terms: {sci(one[1])} allowed, {sci(one[0])} forbidden" for (dtype, k), one in pairs.items()
    )
    zh = "；".join(f"{dtype}，{k} 项：允许 {sci(one[1])}，禁止 {sci(one[0])}" for (dtype, k), one in pairs.items())
    return both(f"Relative error with reduced-precision reductions {en}.", f"降低归约精度时的相对误差：{zh}。")


def draw_reduction_cuda(record: Record, bets: dict) -> Table:
    """The relative error of each product with the switch off and on; no bet is made on it."""
    pairs = _pairs(record)
    lines = [["", t("forbidden", "禁止"), t("allowed", "允许")]]
    lines += [[f"{dtype}, k = {k}", one_in(one[0]), one_in(one[1])] for (dtype, k), one in pairs.items()]
    return Table(lines, {(row, 2): "told" for row, one in enumerate(pairs.values()) if one[1] > 1.1 * one[0]})


@experiment(
    name="07-reduction-cuda",
    lesson=LESSON,
    version=1,
    needs="cuda",
    seconds=60,
    title=both(
        "On the GPU: what do reduced-precision reductions cost bf16 and fp16 products?",
        "GPU 上：降低归约精度，会让 bf16 和 fp16 矩阵乘损失多少精度？",
    ),
)
def reduction_cuda(budget: Budget) -> list[dict]:
    """Error of half-precision products, short and long, with the switch on (the default) and off."""
    return rows_of(CUDA_PROBES, "reduction", timeout_s=180)
