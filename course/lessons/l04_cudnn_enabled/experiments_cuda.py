"""Experiments of lesson 04 that need a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from course import flags
from course.experiment.base import Budget, experiment
from course.experiment.kernels import differing_parts
from course.experiment.words import NOTHING, TOO_NOISY, word
from course.figures.kinds import Bar, Bet, bars, fold
from course.figures.svg import SvgPicture
from course.i18n import Text, both, t
from course.lessons.l04_cudnn_enabled import probes
from course.lessons.l04_cudnn_enabled.experiments import (
    CUDNN,
    LESSON,
    OPERATIONS,
    _races,
    called,
    listed,
    race_groups,
    race_rows,
    worst,
)
from course.records import Record
from course.tables import Table, clip

WITHOUT_CUDNN = tuple(probes.OPERATIONS)


# --- 04-ops-cuda --------------------------------------------------------------------------------------------


class _Rows:
    """Some rows in the shape of a record."""

    def __init__(self, rows: list[dict]) -> None:
        self.rows = rows


TF32 = "cudnn.allow_tf32"
IN_TF32 = ("Conv2d", "LSTM", "GRU")
"""Of these cuDNN computes float32 in TF32 unless told otherwise; without cuDNN they are products, which do not."""


def _control(record: Record) -> Any:
    """The races in which both sides compute in float32."""
    return _Rows([row for row in record.rows if not row["tf32_allowed"]])


def headline_ops_cuda(record: Record) -> Text:
    said = {
        "a": both(
            "Without cuDNN even `Linear` and `MaxPool2d` get slower.", "没有 cuDNN，连 `Linear` 和 `MaxPool2d` 都变慢。"
        ),
        "b": both(
            "Without cuDNN `MaxPool2d` gets slower, `Linear` does not.",
            "没有 cuDNN，`MaxPool2d` 变慢，`Linear` 不变慢。",
        ),
        "c": both(
            "Without cuDNN `Linear` gets slower, `MaxPool2d` does not.",
            "没有 cuDNN，`Linear` 变慢，`MaxPool2d` 不变慢。",
        ),
        "d": both(
            "Without cuDNN `Linear` and `MaxPool2d` get no slower.", "没有 cuDNN，`Linear` 和 `MaxPool2d` 都不变慢。"
        ),
    }
    return said.get(settle_ops_cuda(record)["04-bet-gpu"], TOO_NOISY)


def say_ops_cuda(record: Record) -> Text:
    control = _control(record)
    if not control.rows:
        return NOTHING
    alike = listed([row["operation"] for row in control.rows if row["same_bits"]], "en")
    alike_zh = listed([row["operation"] for row in control.rows if row["same_bits"]], "zh")
    allowed = _Rows([row for row in record.rows if row["tf32_allowed"]])
    more = both("", "")
    if allowed.rows:
        more = both(
            f" With cuDNN's TF32 as it comes, which changes the precision too: {race_groups(allowed, 'en')}.",
            f"让 cuDNN 照默认用 TF32（精度也跟着变）时：{race_groups(allowed, 'zh')}。",
        )
    return both(
        f"Time without cuDNN over time with it, both in float32, {race_groups(control, 'en')}. Same bits on and off: "
        f"{alike or 'none'}.{more['en']}",
        f"没有 cuDNN 与有 cuDNN 的耗时比（两边都用 float32），{race_groups(control, 'zh')}。开关前后逐位相同的有："
        f"{alike_zh or '没有'}。{more['zh']}",
    )


def draw_ops_cuda(record: Record, bets: dict) -> SvgPicture:
    """The bet speaks of two rows, both in float32."""
    slower = {"a": (1, 1), "b": (0, 1), "c": (1, 0), "d": (0, 0)}.get(bets.get("04-bet-gpu", ""))
    bet = None
    if slower:
        mine = dict(zip(("Linear", "MaxPool2d"), slower, strict=True))
        asked = [row["operation"] if not row["tf32_allowed"] else "" for row in record.rows]
        sides = {at: ("middle", "right")[mine[name]] for at, name in enumerate(asked) if name in mine}
        first = sides[min(sides)] == "right" if sides else False
        bet = Bet(t("slower", "变慢") if first else t("no slower", "不变慢"), rows=sides) if sides else None
    return race_rows(record.rows, bet)


def settle_ops_cuda(record: Record) -> dict[str, str | None]:
    """Whether Linear and MaxPool2d get slower; open while one of the two is undecided."""
    seen = {row["operation"]: row["verdict"] for row in _control(record).rows}
    pair = (seen.get("Linear"), seen.get("MaxPool2d"))
    if None in pair or "undecided" in pair:
        return {"04-bet-gpu": None}
    answers = {(True, True): "a", (False, True): "b", (True, False): "c", (False, False): "d"}
    return {"04-bet-gpu": answers[pair[0] == "slower", pair[1] == "slower"]}


@experiment(
    name="04-ops-cuda",
    lesson=LESSON,
    version=2,
    needs="cuda",
    seconds=60,
    title=both("On a GPU: which operations change when cuDNN goes off?", "在 GPU 上：关掉 cuDNN，哪些算子会变？"),
)
def ops_cuda(budget: Budget, larger: int = probes.LARGER["cuda"]) -> Iterator[dict]:
    """Ten operations, cudnn.enabled on and off, float32 on both sides; three of them with cuDNN's TF32 as well."""
    half = Budget(budget.left() * len(WITHOUT_CUDNN) / (len(WITHOUT_CUDNN) + len(IN_TF32)))
    with probes.sized(larger):
        for allowed, names, own in ((0, WITHOUT_CUDNN, half), (1, IN_TF32, budget)):
            with flags.using({TF32: bool(allowed)}):
                for row in _races(own, names, CUDNN, probes.gpu()):
                    yield {"tf32_allowed": allowed, **row}
    budget.complete = budget.complete and half.complete


# --- 04-kernels-cuda ----------------------------------------------------------------------------------------


def _longest(record: Record) -> dict[str, dict[int, str]]:
    """Operation -> {1: longest kernel with cuDNN, 0: without}."""
    found: dict[str, dict[int, str]] = {}
    for row in record.rows:
        if row["place"] == 1:
            found.setdefault(row["operation"], {})[row["cudnn"]] = row["kernel"]
    return {name: pair for name, pair in found.items() if set(pair) == {0, 1}}


def headline_kernels_cuda(record: Record) -> Text:
    moved = [pair[0] != pair[1] for pair in _longest(record).values()]
    if not moved:
        return TOO_NOISY
    if all(moved):
        return both("Without cuDNN every operation runs another kernel.", "没有 cuDNN，每个算子都换了 kernel。")
    if any(moved):
        return both(
            "Without cuDNN some operations run another kernel, others keep their longest one.",
            "没有 cuDNN，有的算子换了 kernel，有的最长的没换。",
        )
    return both("With cuDNN or without, the longest kernels are the same.", "有没有 cuDNN，最长的 kernel 都一样。")


def say_kernels_cuda(record: Record) -> Text:
    found = _longest(record)
    if not found:
        return NOTHING
    moved = [name for name, pair in found.items() if pair[0] != pair[1]]
    kept = [name for name in found if name not in moved]
    none = both("none", "没有")
    return both(
        f"Another longest kernel when cuDNN is off: {listed(moved, 'en') or none['en']}. The same kernel: "
        f"{listed(kept, 'en') or none['en']}.",
        f"关掉 cuDNN 后，最长的 kernel 变了的：{listed(moved, 'zh') or none['zh']}；没变的："
        f"{listed(kept, 'zh') or none['zh']}。",
    )


def draw_kernels_cuda(record: Record, bets: dict) -> Table:
    lines, marks = [["", t("cuDNN on", "cuDNN 开"), t("cuDNN off", "cuDNN 关")]], {}
    for y, (name, pair) in enumerate(_longest(record).items()):
        short = differing_parts((pair[1], pair[0]), 34)
        lines.append([word(called(name)), short[pair[1]], short[pair[0]]])
        marks |= {(y, 2): "told"} if pair[0] != pair[1] else {}
    return Table(lines, marks)


@experiment(
    name="04-kernels-cuda",
    lesson=LESSON,
    version=1,
    needs="cuda",
    seconds=60,
    whole=True,
    title=both(
        "On a GPU: which kernels run with cuDNN and without?", "在 GPU 上：有 cuDNN 和没有 cuDNN，跑的是哪些 kernel？"
    ),
)
def kernels_cuda(budget: Budget, larger: int = probes.LARGER["cuda"]) -> Iterator[dict]:
    """The longest kernels of the same operations, cudnn.enabled on and off, by the profiler."""
    for name in budget.loop(WITHOUT_CUDNN, desc=OPERATIONS):
        with probes.sized(larger):
            call = probes.OPERATIONS[name](probes.gpu())
        for setting in (True, False):
            with flags.using({CUDNN: setting}):
                found = probes.longest_kernels(call)
            yield from [
                {"operation": name, "cudnn": int(setting), "place": place, "kernel": kernel}
                for place, kernel in enumerate(found, start=1)
            ]


# --- 04-bits-cuda -------------------------------------------------------------------------------------------


def _by_case(record: Record) -> dict[tuple[str, int], list[dict]]:
    found: dict[tuple[str, int], list[dict]] = {}
    for row in record.rows:
        found.setdefault((row["operation"], row["tf32_allowed"]), []).append(row)
    return found


def _tf32(allowed: int) -> Text:
    return both("TF32 allowed", "允许 TF32") if allowed else both("TF32 off", "关闭 TF32")


COMPARED = ("Conv2d", "LSTM")


def _worse(record: Record, allowed: int) -> bool | None:
    """Whether cuDNN's largest error is over four times that without it, for any operation; None while one has no rows."""
    cases = [_Rows(rows) for (_, tf32), rows in _by_case(record).items() if tf32 == allowed]
    if len(cases) < len(COMPARED):
        return None
    return any(worst(rows, "on_error") > 4 * worst(rows, "off_error") for rows in cases)


def headline_bits_cuda(record: Record) -> Text:
    with_tf32, without = _worse(record, 1), _worse(record, 0)
    if with_tf32 is None or without is None:
        return TOO_NOISY
    if without:
        return both("Even without TF32, cuDNN is less accurate here.", "就算不用 TF32，这里 cuDNN 的误差也更大。")
    if with_tf32:
        return both("TF32 costs accuracy; cuDNN itself does not.", "掉精度的是 TF32，不是 cuDNN 本身。")
    return both("Here cuDNN is no less accurate, with TF32 or without.", "在这里，用不用 TF32，cuDNN 的误差都没变大。")


def say_bits_cuda(record: Record) -> Text:
    cases = _by_case(record)
    if not cases:
        return NOTHING

    def line(key: tuple[str, int], code: str) -> str:
        rows = _Rows(cases[key])
        on, off = worst(rows, "on_error"), worst(rows, "off_error")
        name, tf32 = called(key[0])[code], _tf32(key[1])[code]
        return (
            f"{name}, {tf32}: {on:.1e} with cuDNN, {off:.1e} without"
            if code == "en"
            else f"{name}（{tf32}）：有 cuDNN {on:.1e}，没有 {off:.1e}"
        )

    return both(
        "Largest error against float64, as part of the largest value: "
        + "; ".join(line(key, "en") for key in cases)
        + ".",
        "与 float64 的最大误差（相对最大值）：" + "；".join(line(key, "zh") for key in cases) + "。",
    )


def draw_bits_cuda(record: Record, bets: dict) -> Table:
    """The largest error of each case, as part of the largest value."""

    def part(error: float) -> str:
        if not error:
            return t("exact", "无误差")
        many = f"{float(f'{1 / error:.2g}'):,.0f}"
        return t(f"1 part in {many}", f"{many} 分之一")

    lines = [["", t("off by, with cuDNN", "误差，有 cuDNN"), t("without", "没有 cuDNN")]]
    for (name, tf32), found in _by_case(record).items():
        errors = (worst(_Rows(found), key) for key in ("on_error", "off_error"))
        lines.append([f"{word(called(name))}{t(', ', '，')}{word(_tf32(tf32))}", *map(part, errors)])
    return Table(lines)


@experiment(
    name="04-bits-cuda",
    lesson=LESSON,
    version=1,
    needs="cuda",
    seconds=20,
    title=both(
        "On a GPU: how near to float64 are the results with cuDNN and without?",
        "在 GPU 上：有 cuDNN 和没有 cuDNN，结果离 float64 有多近？",
    ),
)
def bits_cuda(budget: Budget) -> Iterator[dict]:
    """A convolution and an LSTM, ten times each, with cuDNN's TF32 as it comes and switched off."""
    makers = {
        "Conv2d": lambda: (torch.nn.Conv2d(32, 32, 3, padding=1), torch.randn(4, 32, 32, 32)),
        "LSTM": lambda: (torch.nn.LSTM(64, 64), torch.randn(16, 8, 64)),
    }
    cases = [(name, tf32, number) for number in range(10) for name in makers for tf32 in (True, False)]
    for name, tf32, number in budget.loop(cases, desc=OPERATIONS, least=len(makers) * 2):
        with flags.using({TF32: tf32}):
            layer, x = makers[name]()
            layer, x = layer.to(probes.gpu()).eval(), x.to(probes.gpu())
            found = probes.against_float64(layer, x, CUDNN)
            yield {"operation": name, "tf32_allowed": int(tf32), "input": number, **found}


# --- 04-memory-cuda -----------------------------------------------------------------------------------------


def _peaks(record: Record) -> dict[int, tuple[float, float]]:
    """Size -> peak with cuDNN and without, in MiB."""
    peaks = {(row["size"], row["cudnn"]): row["peak_mib"] for row in record.rows}
    return {size: (peaks[size, 1], peaks[size, 0]) for size, on in peaks if on and (size, 0) in peaks}


def headline_memory_cuda(record: Record) -> Text:
    peaks = _peaks(record)
    if not peaks:
        return TOO_NOISY
    on, off = peaks[max(peaks)]
    if off > 1.2 * on:
        return fold(off / on, "Without cuDNN one convolution needs {} the memory.", "没有 cuDNN，一个卷积要{}的显存。")
    if on > 1.2 * off:
        return fold(on / off, "With cuDNN one convolution needs {} the memory.", "有 cuDNN，一个卷积反而要{}的显存。")
    return both(
        "With cuDNN or without, one convolution needs about the same memory.", "有没有 cuDNN，一个卷积要的显存差不多。"
    )


def say_memory_cuda(record: Record) -> Text:
    sizes = list(dict.fromkeys(row["size"] for row in record.rows))
    peaks = {(row["size"], row["cudnn"]): row["peak_mib"] for row in record.rows}
    sizes = [size for size in sizes if (size, 0) in peaks and (size, 1) in peaks]
    if not sizes:
        return NOTHING
    en = "; ".join(f"{s}×{s}: {peaks[s, 1]:.0f} MiB with cuDNN, {peaks[s, 0]:.0f} MiB without" for s in sizes)
    zh = "；".join(f"{s}×{s}：有 cuDNN {peaks[s, 1]:.0f} MiB，没有 {peaks[s, 0]:.0f} MiB" for s in sizes)
    return both(
        f"Peak of one forward pass above what was in use: {en}.", f"一次前向计算的显存峰值（不算之前已占用的）：{zh}。"
    )


def draw_memory_cuda(record: Record, bets: dict) -> SvgPicture:
    rows = []
    for size, (on, off) in _peaks(record).items():
        rows.append(Bar(f"{size}×{size}", on, t(f"{on:.0f} MiB with cuDNN", f"有 cuDNN：{on:.0f} MiB"), quiet=True))
        rows.append(Bar("", off, t(f"{off:.0f} MiB without", f"没有：{off:.0f} MiB")))
    return bars(rows)


@experiment(
    name="04-memory-cuda",
    lesson=LESSON,
    version=1,
    needs="cuda",
    seconds=20,
    title=both(
        "On a GPU: what does one convolution need beside its input?", "在 GPU 上：一个卷积除了输入还要多少显存？"
    ),
)
def memory_cuda(budget: Budget, sizes: tuple[int, ...] = (56, 112, 224)) -> Iterator[dict]:
    """Peak of allocated memory of one forward pass above what was in use, three sizes, on and off."""
    for size in budget.loop(sizes, desc=both("sizes", "尺寸")):
        layer = torch.nn.Conv2d(64, 64, 3, padding=1).to(probes.gpu())
        x = torch.randn(8, 64, size, size, device=probes.gpu())
        for setting in (True, False):
            with flags.using({CUDNN: setting}):
                yield {
                    "size": size,
                    "cudnn": int(setting),
                    "result_mib": x.nbytes / probes.MIB,
                    "peak_mib": probes.peak_mib(lambda layer=layer, x=x: layer(x)),
                }


# --- 04-attention-cuda --------------------------------------------------------------------------------------


def headline_attention_cuda(record: Record) -> Text:
    ran = {row["cudnn"]: row["ran"] for row in record.rows}
    if set(ran) != {0, 1}:
        return TOO_NOISY
    if not ran[1] and not ran[0]:
        return both(
            "cuDNN's attention does not run here, whatever `cudnn.enabled` says.",
            "不管 `cudnn.enabled` 开不开，这里都跑不了 cuDNN 注意力。",
        )
    if not ran[0]:
        return both(
            "With `cudnn.enabled` off, cuDNN's attention does not run here.",
            "关了 `cudnn.enabled`，cuDNN 注意力在这里没跑起来。",
        )
    return both(
        "Attention does not ask `cudnn.enabled`: switched off, it still runs.",
        "注意力不看 `cudnn.enabled`，关了照样跑。",
    )


def say_attention_cuda(record: Record) -> Text:
    rows = {row["cudnn"]: row for row in record.rows}
    if set(rows) != {0, 1}:
        return NOTHING
    off = rows[0]
    if not off["ran"] and rows[1]["ran"]:
        return both(
            f"With cudnn.enabled off, cuDNN's attention was refused: {off['error'] or '-'}",
            f"cudnn.enabled 关着，cuDNN 注意力被拒绝：{off['error'] or '-'}",
        )
    if not off["ran"]:
        return both(
            f"This machine offers no cuDNN attention, so the question stays open: {off['error'] or '-'}",
            f"这台机器不提供 cuDNN 注意力，问题仍然悬着：{off['error'] or '-'}",
        )
    return both(
        f"With cudnn.enabled off, attention still ran: {off['kernel']}.",
        f"cudnn.enabled 关着，注意力照样跑：{off['kernel']}。",
    )


def draw_attention_cuda(record: Record, bets: dict) -> Table:
    names = (t("cudnn.enabled off", "cudnn.enabled 关"), t("cudnn.enabled on", "cudnn.enabled 开"))
    lines = [["", t("cuDNN's attention", "cuDNN 注意力")]]
    lines += [
        [names[row["cudnn"]], clip(row["kernel"], 60) or t("not offered here", "此处不提供")] for row in record.rows
    ]
    return Table(lines, {(y, 1): "told" for y, row in enumerate(record.rows) if row["ran"]})


@experiment(
    name="04-attention-cuda",
    lesson=LESSON,
    version=1,
    needs="cuda",
    seconds=15,
    title=both(
        "On a GPU: cudnn.enabled is off; does attention still get cuDNN?",
        "在 GPU 上：cudnn.enabled 已关，注意力还能用上 cuDNN 吗？",
    ),
)
def attention_cuda(budget: Budget) -> Iterator[dict]:
    """Half-precision attention told to use its cuDNN kernel, with cudnn.enabled on and off."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention as attend

    q, k, v = (torch.randn(2, 8, 256, 64, device=probes.gpu(), dtype=torch.float16) for _ in range(3))
    for setting in (True, False):
        row = {"cudnn": int(setting), "ran": 0, "kernel": "", "error": ""}
        try:
            with flags.using({CUDNN: setting}), sdpa_kernel([SDPBackend.CUDNN_ATTENTION]):
                row.update(ran=1, kernel=" + ".join(probes.longest_kernels(lambda: attend(q, k, v), 1)))
        except RuntimeError as error:  # this GPU or build offers no such kernel
            row["error"] = str(error).strip().split("\n")[0][:200]
        yield row
