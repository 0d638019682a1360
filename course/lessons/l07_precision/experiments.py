"""Experiments of lesson 07 on sums and products: how exact they are in fewer bits, and whether oneDNN takes what it may.

TF32 is met by rounding the inputs of a product as it would (``course.rounding``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist
from typing import Any

import torch

from course import flags
from course.experiment.base import Budget, experiment
from course.experiment.words import NOTHING, TOO_NOISY, sci, spread
from course.figures.kinds import Bar, Bet, bars, fold, one_in, times
from course.figures.svg import SvgPicture
from course.i18n import Text, both, t
from course.records import Record
from course.rounding import cut_bits, product, relative_error, round_bits, rounded
from course.timing.stats import median

LESSON = "07_precision"
NAMES = ("float32", "tf32", "bfloat16")


def pick_rows(record: Record, value: str, **wanted: Any) -> list[float]:
    """The column ``value`` of the rows that carry all wanted values."""
    return [row[value] for row in record.rows if all(row.get(key) == one for key, one in wanted.items())]


# --- 07-error-vs-k ------------------------------------------------------------------------------------------


def _growth(record: Record, value: str, name: str) -> float | None:
    """Median at the longest sum over that at the shortest; None without both."""
    ks = sorted({row["k"] for row in record.rows})
    if len(ks) < 2:
        return None
    first, last = (median(pick_rows(record, value, k=k, format=name)) for k in (ks[0], ks[-1]))
    return last / first if first else None


def headline_error_vs_k(record: Record) -> Text:
    growth = _growth(record, "relative", "tf32")
    if growth is None:
        return TOO_NOISY
    if growth >= 2:
        return fold(
            growth, "In longer sums, TF32's relative error is {} as large.", "求和变长，TF32 的相对误差变成{}。"
        )
    if growth <= 0.5:
        return both("In longer sums, TF32's relative error even shrank.", "求和变长，TF32 的相对误差反而变小了。")
    return both("Longer sums do not make TF32's relative error larger.", "求和再加长，TF32 的相对误差也没变大。")


def say_error_vs_k(record: Record) -> Text:
    if _growth(record, "relative", "tf32") is None:
        return NOTHING
    ks = sorted({row["k"] for row in record.rows})
    typical, relative = _growth(record, "typical", "tf32"), _growth(record, "relative", "tf32")
    start, end = (spread(pick_rows(record, "relative", k=k, format="tf32"), sci) for k in (ks[0], ks[-1]))
    plain = _growth(record, "relative", "float32")
    return both(
        f"From sums of {ks[0]} to sums of {ks[-1]}, "
        f"the typical error of an entry with TF32 inputs grew {typical:.2g} times; "
        f"relative to the result it went from {start} to {end}, a factor of {relative:.3g}. "
        f"Plain float32: a factor of {plain:.2g} in the relative error.",
        f"求和长度从 {ks[0]} 到 {ks[-1]}，TF32 输入时单个结果的典型误差变为 {typical:.2g} 倍；相对于结果，"
        f"则从 {start} 变到 {end}，即 {relative:.3g} 倍。"
        f"普通 float32 的相对误差变为 {plain:.2g} 倍。",
    )


def draw_error_vs_k(record: Record, bets: dict) -> SvgPicture:
    """How many times larger error, result and their quotient are in the longest sums than in the shortest."""
    relative, typical = _growth(record, "relative", "tf32"), _growth(record, "typical", "tf32")
    grown = {
        t("error", "误差"): typical,
        t("result", "结果"): typical / relative,
        t("error / result", "误差 / 结果"): relative,
    }
    rows = [
        Bar(name, value, t(f"{times(value)}×", f"{times(value)} 倍"), quiet=place < 2)
        for place, (name, value) in enumerate(grown.items())
    ]
    bet, mine = None, {"a": 1000, "b": 1, "c": 32}.get(bets.get("07-bet-k", ""))
    if mine:
        bet = Bet(t("the same", "不变") if mine == 1 else t(f"{mine:,}×", f"{mine:,} 倍"), rows=[2], span=(0, mine))
    return bars(rows, bet)


def settle_error_vs_k(record: Record) -> dict[str, str | None]:
    growth, answer = _growth(record, "relative", "tf32"), None
    if growth is not None:
        answer = "b" if 0.5 < growth < 2 else "c" if 10 < growth < 100 else "a" if growth > 300 else None
    return {"07-bet-k": answer}


@experiment(
    name="07-error-vs-k",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=15,
    whole=True,
    title=both("The sums get a thousand times longer: what does the error do?", "求和长了一千倍：误差会怎样？"),
)
def error_vs_k(budget: Budget) -> Iterator[dict]:
    """Typical error of an entry of a @ b, and error relative to the result, by inner length k."""
    for k in budget.loop((16, 64, 256, 1024, 4096, 16384), desc=both("inner length", "求和长度")):
        for seed in range(7):
            random = torch.Generator().manual_seed(seed)
            a, b = torch.randn(32, k, generator=random), torch.randn(k, 32, generator=random)
            exact = a.double() @ b.double()
            for name in NAMES:
                wrong = (product(a, b, name).double() - exact).square().mean().sqrt().item()
                yield {
                    "k": k,
                    "seed": seed,
                    "format": name,
                    "typical": wrong,
                    "relative": wrong / exact.square().mean().sqrt().item(),
                }


# --- 07-counter ---------------------------------------------------------------------------------------------


def _last(record: Record) -> dict[str, tuple[int, float]]:
    """format -> (additions, what the counter shows) at the end."""
    return {row["format"]: (row["added"], row["shown"]) for row in record.rows}


def headline_counter(record: Record) -> Text:
    answer, (_, shown) = settle_counter(record)["07-bet-counter"], _last(record).get("bfloat16", (0, 0.0))
    return {
        "a": both("Counting by ones, bfloat16 made no mistake.", "一个一个加，bfloat16 一次都没数错。"),
        "b": both("Counting by ones, bfloat16 ends a little off.", "一个一个加，bfloat16 最后差了一点。"),
        "c": both(
            f"Counting by ones, bfloat16 gets no further than {shown:g}.", f"一个一个加，bfloat16 只能数到 {shown:g}。"
        ),
    }.get(answer or "", TOO_NOISY)


def say_counter(record: Record) -> Text:
    last = _last(record)
    if not last:
        return NOTHING
    added = max(n for n, _ in last.values())
    words = {"float32": "float32", "tf32": "10-bit mantissa", "float16": "float16", "bfloat16": "bfloat16"}
    zh = {**words, "tf32": "10 位尾数"}
    return both(
        f"After {added} additions of 1 the counter shows: "
        + ", ".join(f"{words[name]} {shown:g}" for name, (_, shown) in last.items())
        + ".",
        f"加了 {added} 次 1 之后，计数器显示："
        + "，".join(f"{zh[name]} {shown:g}" for name, (_, shown) in last.items())
        + "。",
    )


def draw_counter(record: Record, bets: dict) -> SvgPicture:
    """Where the counter of each format ends; the bet says how far that of bfloat16 gets."""
    last = _last(record)
    names = {"tf32": t("10-bit mantissa (TF32's)", "10 位尾数（同 TF32）")}
    rows = [Bar(names.get(name, name), shown, f"{shown:g}", name != "bfloat16") for name, (_, shown) in last.items()]
    added, bet = last["bfloat16"][0], None
    words = {
        "a": (t(f"{added}", f"{added}"), 1.0),
        "b": (t("a few per cent off", "差百分之几"), 0.97),
        "c": (t("far below", "远远不到"), 0.5),
    }
    if mine := words.get(bets.get("07-bet-counter", "")):
        bet = Bet(mine[0], rows=[list(last).index("bfloat16")], span=(0, mine[1] * added))
    return bars(rows, bet)


def settle_counter(record: Record) -> dict[str, str | None]:
    added, shown = _last(record).get("bfloat16", (0, 0.0))
    if added < 1000:
        return {"07-bet-counter": None}
    return {"07-bet-counter": "a" if shown == added else "c" if shown < 0.5 * added else "b"}


@experiment(
    name="07-counter",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=15,
    title=both("Add 1, five thousand times: where does the counter stand?", "加 1，加五千次：计数器停在哪里？"),
)
def counter(budget: Budget) -> Iterator[dict]:
    """A sum kept in each format: after every addition of 1 it is rounded back to the format."""
    one = torch.ones(())
    for name in budget.loop(("float32", "tf32", "float16", "bfloat16"), desc=both("formats", "格式")):
        total = torch.zeros(())
        for added in range(1, 5001):
            total = rounded(total + one, name)
            if added % 100 == 0:
                yield {"format": name, "added": added, "shown": total.item()}


# --- 07-onednn ----------------------------------------------------------------------------------------------


def _errors(record: Record, operation: str) -> dict[str, float]:
    return {row["permission"]: row["relative"] for row in record.rows if row["operation"] == operation}


def headline_onednn(record: Record) -> Text:
    matmul, model = _errors(record, "matmul"), _errors(record, "simulated")
    if len(matmul) < 4 or "bf16" not in model:
        return TOO_NOISY
    return {
        "a": both("Allow bf16, and oneDNN really uses it here.", "一允许 bf16，oneDNN 在这里就真用上了。"),
        "b": both(
            "bf16 was allowed, yet the matrix product stays as good as float32.",
            "允许了 bf16，矩阵乘却仍是 float32 的精度。",
        ),
    }.get(
        settle_onednn(record)["07-bet-onednn"] or "",
        both(
            "With bf16 allowed, the error lies between float32's and bf16's.",
            "允许 bf16 后，误差落在 float32 和 bf16 之间。",
        ),
    )


def say_onednn(record: Record) -> Text:
    matmul, model = _errors(record, "matmul"), _errors(record, "simulated")
    if len(matmul) < 4 or "bf16" not in model:
        return NOTHING
    units = next((row["bf16_units"] for row in record.rows if "bf16_units" in row), "unknown")
    moved = [f"{row['operation']} ({row['permission']})" for row in record.rows if row.get("same_bits") == 0]
    words = {
        "yes": both("This CPU reports bf16 instructions", "这颗 CPU 自报有 bf16 指令"),
        "no": both("This CPU reports no bf16 instructions", "这颗 CPU 自报没有 bf16 指令"),
        "unknown": both("Whether this CPU has bf16 instructions is unknown", "不清楚这颗 CPU 有没有 bf16 指令"),
    }[units]
    changed = (
        both("no result changed a bit", "各个结果逐位不变")
        if not moved
        else both(
            "other bits than without permission: " + ", ".join(moved), "与不允许时逐位不一致的：" + "、".join(moved)
        )
    )
    return both(
        f"{words['en']}. Matmul, relative error: ieee {sci(matmul['ieee'])}, bf16 allowed {sci(matmul['bf16'])}; "
        f"inputs really rounded to bf16 would give {sci(model['bf16'])}. And {changed['en']}.",
        f"{words['zh']}。matmul 的相对误差：ieee {sci(matmul['ieee'])}，允许 bf16 {sci(matmul['bf16'])}；"
        f"如果真把输入舍入到 bf16，应是 {sci(model['bf16'])}。另外，{changed['zh']}。",
    )


def draw_onednn(record: Record, bets: dict) -> SvgPicture:
    """The error of a matrix product; the bet says which of the outer rows the middle one is like."""
    matmul, model = _errors(record, "matmul"), _errors(record, "simulated")
    rows = [
        Bar(t("ieee asked for", "要求 ieee"), matmul["ieee"], one_in(matmul["ieee"]), quiet=True),
        Bar(t("bf16 allowed", "允许 bf16"), matmul["bf16"], one_in(matmul["bf16"])),
        Bar(t("inputs really in bf16", "输入真的舍入到 bf16"), model["bf16"], one_in(model["bf16"]), quiet=True),
    ]
    said = {
        "a": (t("bf16's error", "bf16 的误差"), model["bf16"]),
        "b": (t("float32's error", "float32 的误差"), matmul["ieee"]),
    }
    mine = said.get(bets.get("07-bet-onednn", ""))
    return bars(rows, Bet(mine[0], rows=[1], span=(0, mine[1])) if mine else None)


def settle_onednn(record: Record) -> dict[str, str | None]:
    matmul, model = _errors(record, "matmul"), _errors(record, "simulated")
    if len(matmul) < 4 or "bf16" not in model:
        return {"07-bet-onednn": None}
    error, plain = matmul["bf16"], matmul["ieee"]
    answer = "a" if error > 0.3 * model["bf16"] else "b" if error < 10 * plain else None
    return {"07-bet-onednn": answer}


def _bf16_units() -> str:
    """Whether torch reports instructions for bf16 here: yes, no or unknown."""
    tests = [getattr(torch.cpu, name, None) for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported")]
    known = [test() for test in tests if callable(test)]
    return "unknown" if not known else "yes" if any(known) else "no"


@experiment(
    name="07-onednn",
    lesson=LESSON,
    version=1,
    needs="mkldnn",
    seconds=15,
    title=both("You allow bf16 on the CPU: does oneDNN take it?", "你允许 CPU 用 bf16：oneDNN 用了吗？"),
)
def onednn(budget: Budget) -> Iterator[dict]:
    """Error of matmul, convolution and LSTM under each permission, and what rounded inputs would give."""
    torch.manual_seed(0)
    a, b = torch.randn(64, 2048), torch.randn(2048, 64)
    x, w = torch.randn(4, 32, 32, 32), torch.randn(32, 32, 3, 3)
    lstm, steps = torch.nn.LSTM(64, 64), torch.randn(8, 4, 64)
    calls = {
        "matmul": lambda a=a, b=b: a @ b,
        "conv": lambda: torch.nn.functional.conv2d(x, w),
        "rnn": lambda: lstm(steps)[0],
    }
    with torch.no_grad():
        exact = {
            "matmul": a.double() @ b.double(),
            "rnn": lstm.double()(steps.double())[0],
            "conv": torch.nn.functional.conv2d(x.double(), w.double()),
        }
        lstm.float()
        for name, call in budget.loop(calls.items(), desc=both("operations", "运算")):
            plain = call()
            for permission in ("none", "ieee", "tf32", "bf16"):
                with flags.using({f"mkldnn.{name}.fp32_precision": permission}):
                    result = call()
                yield {
                    "operation": name,
                    "permission": permission,
                    "relative": relative_error(result, exact[name]),
                    "same_bits": int(torch.equal(result, plain)),
                    "bf16_units": _bf16_units(),
                }
    for permission, bits in (("tf32", 10), ("bf16", 7)):
        error = relative_error(round_bits(a, bits) @ round_bits(b, bits), exact["matmul"])
        yield {"operation": "simulated", "permission": permission, "relative": error}


# --- 07-documented ------------------------------------------------------------------------------------------

SIDE, LARGEST = 10240, 0.1747
"""notes/cuda of PyTorch's documentation, "benchmark data (on A100)": randn(SIDE, SIDE) @ randn(SIDE, SIDE) with TF32
allowed; the largest error of an entry against float64."""
WAYS = {"rounded": both("rounded to the nearest", "舍入到最近"), "cut": both("cut off", "直接截断")}
NEAR, FAR = 0.1, 0.4
"""Within a tenth of the printed number a way explains it; off by more than four tenths it does not."""


def largest_of(entries: int) -> float:
    """The size, in standard deviations, that the largest of so many normal errors exceeds in one case of two."""
    return NormalDist().inv_cdf(1 - math.log(2) / (2 * entries))


def _foretold(record: Record) -> dict[str, list[float]]:
    """way -> for each draw the largest error to expect among SIDE * SIDE entries."""
    largest = largest_of(SIDE * SIDE)
    found: dict[str, list[float]] = {}
    for row in record.rows:
        found.setdefault(row["way"], []).append(largest * row["typical"])
    return found if set(found) == set(WAYS) else {}


def headline_documented(record: Record) -> Text:
    foretold = _foretold(record)
    if not foretold:
        return TOO_NOISY
    if all(abs(median(values) / LARGEST - 1) > FAR for values in foretold.values()):
        return both(
            "The documentation's TF32 error fits neither rounding nor cutting off.",
            "文档里的 TF32 误差，舍入和截断都解释不了。",
        )
    return {
        "a": both(
            "The documentation's TF32 error fits rounding, not cutting off.", "文档里的 TF32 误差符合舍入，不符合截断。"
        ),
        "b": both(
            "The documentation's TF32 error fits cutting off, not rounding.", "文档里的 TF32 误差符合截断，不符合舍入。"
        ),
        "c": both(
            "The documentation's TF32 error fits both: rounding and cutting off.",
            "文档里的 TF32 误差，两种说法都符合。",
        ),
    }.get(settle_documented(record)["07-bet-page"] or "", TOO_NOISY)


def say_documented(record: Record) -> Text:
    found = {way: f"{median(values):.2f}" for way, values in _foretold(record).items()}
    if not found:
        return NOTHING
    answer = {
        "a": both("Only rounding explains the number.", "只有舍入解释得了这个数。"),
        "b": both("Only cutting explains the number.", "只有截断解释得了这个数。"),
        "c": both("Both explain the number.", "两种都解释得了这个数。"),
    }.get(settle_documented(record)["07-bet-page"] or "", both("Neither explains it.", "两种都解释不了。"))
    return both(
        "Largest error to expect in the documentation's product: "
        f"{found['rounded']} if inputs are rounded to 10 bits, {found['cut']} if they are cut off there. "
        f"The A100 showed {LARGEST:.2f}. {answer['en']}",
        f"文档里的那个乘积，最大误差应为：输入舍入到 10 位时 {found['rounded']}，直接截断时 {found['cut']}。"
        f"A100 上是 {LARGEST:.2f}。{answer['zh']}",
    )


def draw_documented(record: Record, bets: dict) -> SvgPicture:
    """The error that the documentation prints, and the two that are foretold; the bet names those that fit."""
    rows = [Bar(t("measured on an A100", "A100 上测得"), LARGEST, f"{LARGEST:.2f}", quiet=True)]
    rows += [
        Bar(t(f"if {WAYS[way]['en']}", f"如果{WAYS[way]['zh']}"), median(values), f"{median(values):.2f}")
        for way, values in _foretold(record).items()
    ]
    mine = {"a": [1], "b": [2], "c": [1, 2]}.get(bets.get("07-bet-page", ""))
    return bars(rows, Bet(t("fits", "符合"), rows=mine) if mine else None)


def settle_documented(record: Record) -> dict[str, str | None]:
    off = {way: abs(median(values) / LARGEST - 1) for way, values in _foretold(record).items()}
    if not off:
        return {"07-bet-page": None}
    fits = {way for way, error in off.items() if error < NEAR}
    clear = all(error < NEAR or error > FAR for error in off.values())
    answer = {frozenset({"rounded"}): "a", frozenset({"cut"}): "b", frozenset(WAYS): "c"}.get(frozenset(fits))
    return {"07-bet-page": answer if clear else None}


@experiment(
    name="07-documented",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=10,
    title=both(
        "PyTorch's documentation measured an A100: do its inputs look rounded, or cut off?",
        "PyTorch 文档在 A100 上测过一次：它的输入像是舍入的，还是截断的？",
    ),
)
def documented(budget: Budget) -> Iterator[dict]:
    """Typical error of an entry of randn(., 10240) @ randn(10240, .), inputs rounded or cut to 10 bits of mantissa."""
    for seed in budget.loop(range(9), desc=both("draws", "抽样")):
        random = torch.Generator().manual_seed(seed)
        a, b = torch.randn(96, SIDE, generator=random), torch.randn(SIDE, 96, generator=random)
        exact = a.double() @ b.double()
        for way, shorten in (("rounded", round_bits), ("cut", cut_bits)):
            wrong = (shorten(a, 10) @ shorten(b, 10)).double() - exact
            yield {"seed": seed, "way": way, "typical": wrong.square().mean().sqrt().item()}
