"""Experiments of lesson 04 that need a GPU."""

from __future__ import annotations

from typing import Any

import torch

from course import flags
from course.experiment.base import Budget, experiment
from course.experiment.kernels import apart
from course.experiment.plots import columns, ratios, tiles
from course.experiment.words import NOTHING, word
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
    worst,
)
from course.records import Record

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


def draw_ops_cuda(record: Record, ax: Any) -> None:
    rows = record.rows
    ratios(
        ax,
        rows,
        [word(called(row["operation"])) + t(", TF32", "，TF32") * row["tf32_allowed"] for row in rows],
        what=t("time switched off / on (right of 1: off is slower)", "关 / 开 的耗时比（1 的右边：关掉更慢）"),
    )


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
def ops_cuda(budget: Budget, larger: int = probes.LARGER["cuda"]) -> list[dict]:
    """Ten operations, cudnn.enabled on and off, float32 on both sides; three of them with cuDNN's TF32 as well."""
    half = Budget(budget.left() * len(WITHOUT_CUDNN) / (len(WITHOUT_CUDNN) + len(IN_TF32)))
    rows = []
    with probes.sized(larger):
        for allowed, names, own in ((0, WITHOUT_CUDNN, half), (1, IN_TF32, budget)):
            with flags.using({TF32: bool(allowed)}):
                rows += [{"tf32_allowed": allowed, **row} for row in _races(own, names, CUDNN, probes.gpu())]
    budget.complete = budget.complete and half.complete
    return rows


# --- 04-kernels-cuda ----------------------------------------------------------------------------------------


def _longest(record: Record) -> dict[str, dict[int, str]]:
    """Operation -> {1: longest kernel with cuDNN, 0: without}."""
    found: dict[str, dict[int, str]] = {}
    for row in record.rows:
        if row["place"] == 1:
            found.setdefault(row["operation"], {})[row["cudnn"]] = row["kernel"]
    return {name: pair for name, pair in found.items() if set(pair) == {0, 1}}


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


def draw_kernels_cuda(record: Record, ax: Any) -> None:
    lines = []
    for name, pair in _longest(record).items():
        short = apart((pair[1], pair[0]), 34)
        lines.append((word(called(name)), [short[pair[1]], short[pair[0]]]))
    columns(ax, [t("cuDNN on", "cuDNN 开"), t("cuDNN off", "cuDNN 关")], lines)


@experiment(
    name="04-kernels-cuda",
    lesson=LESSON,
    version=1,
    needs="cuda",
    seconds=60,
    title=both(
        "On a GPU: which kernels run with cuDNN and without?", "在 GPU 上：有 cuDNN 和没有 cuDNN，跑的是哪些 kernel？"
    ),
)
def kernels_cuda(budget: Budget, larger: int = probes.LARGER["cuda"]) -> list[dict]:
    """The longest kernels of the same operations, cudnn.enabled on and off, by the profiler."""
    rows = []
    for name in budget.loop(WITHOUT_CUDNN, desc=OPERATIONS):
        with probes.sized(larger):
            call = probes.OPERATIONS[name](probes.gpu())
        for setting in (True, False):
            with flags.using({CUDNN: setting}):
                found = probes.longest_kernels(call)
            rows += [
                {"operation": name, "cudnn": int(setting), "place": place, "kernel": kernel}
                for place, kernel in enumerate(found, start=1)
            ]
    return rows


# --- 04-bits-cuda -------------------------------------------------------------------------------------------


def _by_case(record: Record) -> dict[tuple[str, int], list[dict]]:
    found: dict[tuple[str, int], list[dict]] = {}
    for row in record.rows:
        found.setdefault((row["operation"], row["tf32_allowed"]), []).append(row)
    return found


def _tf32(allowed: int) -> Text:
    return both("TF32 allowed", "允许 TF32") if allowed else both("TF32 off", "关闭 TF32")


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


def draw_bits_cuda(record: Record, ax: Any) -> None:
    from course.figures import samples

    groups = {}
    for (name, tf32), rows in _by_case(record).items():
        for key, side in (("on_error", t("cuDNN", "cuDNN")), ("off_error", t("without", "没有"))):
            groups[f"{word(called(name))}, {word(_tf32(tf32))}, {side}"] = [max(row[key], 1e-12) for row in rows]
    samples(ax, groups, "", log=True, what=t("largest error / largest value", "最大误差 / 最大值"))


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
def bits_cuda(budget: Budget) -> list[dict]:
    """A convolution and an LSTM, ten times each, with cuDNN's TF32 as it comes and switched off."""
    makers = {
        "Conv2d": lambda: (torch.nn.Conv2d(32, 32, 3, padding=1), torch.randn(4, 32, 32, 32)),
        "LSTM": lambda: (torch.nn.LSTM(64, 64), torch.randn(16, 8, 64)),
    }
    cases = [(name, tf32, number) for number in range(10) for name in makers for tf32 in (True, False)]
    rows = []
    for name, tf32, number in budget.loop(cases, desc=OPERATIONS, least=len(makers) * 2):
        with flags.using({TF32: tf32}):
            layer, x = makers[name]()
            layer, x = layer.to(probes.gpu()).eval(), x.to(probes.gpu())
            found = probes.against_float64(layer, x, CUDNN)
            rows.append({"operation": name, "tf32_allowed": int(tf32), "input": number, **found})
    return rows


# --- 04-memory-cuda -----------------------------------------------------------------------------------------


def say_memory_cuda(record: Record) -> Text:
    sizes = list(dict.fromkeys(row["size"] for row in record.rows))
    peaks = {(row["size"], row["cudnn"]): row["peak_mib"] for row in record.rows}
    sizes = [size for size in sizes if (size, 0) in peaks and (size, 1) in peaks]
    if not sizes:
        return NOTHING
    en = "; ".join(f"{s}×{s}: {peaks[s, 1]:.0f} MiB with cuDNN, {peaks[s, 0]:.0f} MiB without" for s in sizes)
    zh = "；".join(f"{s}×{s}：有 cuDNN {peaks[s, 1]:.0f} MiB，没有 {peaks[s, 0]:.0f} MiB" for s in sizes)
    return both(f"Peak of one forward pass above what was in use: {en}.", f"一次前向计算在已占用之上的显存峰值：{zh}。")


def draw_memory_cuda(record: Record, ax: Any) -> None:
    sizes = list(dict.fromkeys(row["size"] for row in record.rows))
    for shift, setting, label, colour in (
        (-0.2, 1, t("cuDNN on", "cuDNN 开"), "C0"),
        (0.2, 0, t("cuDNN off", "cuDNN 关"), "C1"),
    ):
        rows = [row for row in record.rows if row["cudnn"] == setting]
        bars = ax.bar(
            [sizes.index(row["size"]) + shift for row in rows],
            [row["peak_mib"] for row in rows],
            0.38,
            label=label,
            color=colour,
        )
        ax.bar_label(bars, fmt="%.0f")
    ax.set_xticks(range(len(sizes)), [f"{size}×{size}" for size in sizes])
    ax.set_ylabel(t("peak above start (MiB)", "相对起点的峰值（MiB）"))
    ax.legend()


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
def memory_cuda(budget: Budget, sizes: tuple[int, ...] = (56, 112, 224)) -> list[dict]:
    """Peak of allocated memory of one forward pass above what was in use, three sizes, on and off."""
    rows = []
    for size in budget.loop(sizes, desc=both("sizes", "尺寸")):
        layer = torch.nn.Conv2d(64, 64, 3, padding=1).to(probes.gpu())
        x = torch.randn(8, 64, size, size, device=probes.gpu())
        for setting in (True, False):
            with flags.using({CUDNN: setting}):
                rows.append(
                    {
                        "size": size,
                        "cudnn": int(setting),
                        "result_mib": x.nbytes / probes.MIB,
                        "peak_mib": probes.peak_mib(lambda layer=layer, x=x: layer(x)),
                    }
                )
    return rows


# --- 04-attention-cuda --------------------------------------------------------------------------------------


def say_attention_cuda(record: Record) -> Text:
    off = next((row for row in record.rows if not row["cudnn"]), None)
    if off is None:
        return NOTHING
    if not off["ran"]:
        return both(
            f"This machine offers no cuDNN attention, so the question stays open: {off['error'] or '-'}",
            f"这台机器不提供 cuDNN 注意力，问题仍然悬着：{off['error'] or '-'}",
        )
    return both(
        f"With cudnn.enabled off, attention still ran: {off['kernel']}.",
        f"cudnn.enabled 关着，注意力照样跑：{off['kernel']}。",
    )


def draw_attention_cuda(record: Record, ax: Any) -> None:
    tiles(
        ax,
        [
            (
                t("cudnn.enabled on", "cudnn.enabled 开")
                if row["cudnn"]
                else t("cudnn.enabled off", "cudnn.enabled 关"),
                row["kernel"][:60] or t("not offered here", "此处不提供"),
                bool(row["ran"]),
            )
            for row in record.rows
        ],
    )


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
def attention_cuda(budget: Budget) -> list[dict]:
    """Half-precision attention told to use its cuDNN kernel, with cudnn.enabled on and off."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention as attend

    q, k, v = (torch.randn(2, 8, 256, 64, device=probes.gpu(), dtype=torch.float16) for _ in range(3))
    rows = []
    for setting in (True, False):
        row = {"cudnn": int(setting), "ran": 0, "kernel": "", "error": ""}
        try:
            with flags.using({CUDNN: setting}), sdpa_kernel([SDPBackend.CUDNN_ATTENTION]):
                row.update(ran=1, kernel=" + ".join(probes.longest_kernels(lambda: attend(q, k, v), 1)))
        except RuntimeError as error:  # this GPU or build offers no such kernel
            row["error"] = str(error).strip().split("\n")[0][:200]
        rows.append(row)
    return rows
