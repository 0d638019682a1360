"""Experiments of lesson 14 with an ONNX file: equal bits, a tolerance that separates, and exporting twice."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import nn

from course.experiment.base import Budget, experiment
from course.experiment.plots import bet_box
from course.experiment.words import NOTHING, TOO_NOISY, sci, word
from course.figures.kinds import Bar, Bet, bars
from course.figures.svg import SvgPicture
from course.i18n import Text, both, t
from course.lessons.l14_export import ways_out
from course.lessons.l14_export.experiments import EXPORTING, LESSON
from course.records import Record
from course.tables import Table

# --- 14-same-bits ---------------------------------------------------------------------------------------------

LAYERS = {
    "ReLU": both("ReLU", "ReLU"),
    "MaxPool2d": both("MaxPool2d", "MaxPool2d"),
    "Linear": both("Linear, 4096 terms a sum", "Linear（求和 4096 项）"),
    "Linear, whole numbers": both("the same, whole numbers", "同上，换成整数"),
    "Linear, short": both("Linear, 64 terms a sum", "Linear（求和 64 项）"),
    "Conv2d": both("Conv2d, 289 terms a sum", "Conv2d（求和 289 项）"),
    "Sigmoid": both("Sigmoid", "Sigmoid"),
    "SmallNet": both("the small network", "小网络"),
}


def _rows_by_layer(record: Record) -> dict[str, dict]:
    return {row["layer"]: row for row in record.rows}


def headline_same_bits(record: Record) -> Text:
    found = _rows_by_layer(record)
    if not {"Linear", "Linear, whole numbers"} <= set(found):
        return TOO_NOISY
    return {
        (False, False): both(
            "A long sum: the same bits in torch and onnxruntime.", "很长的求和，torch 和 onnxruntime 逐位一致。"
        ),
        (True, False): both(
            "One layer, two libraries: other bits, except with whole numbers.",
            "同一层换个库，结果不再逐位一致，换成整数才一致。",
        ),
        (True, True): both(
            "One layer, two libraries: other bits, even with whole numbers.", "同一层换个库，连整数的结果都不逐位一致。"
        ),
        (False, True): both(
            "Only the whole numbers gave other bits: look for a fault.", "只有整数的结果不一致：多半有错。"
        ),
    }[found["Linear"]["differ_share"] > 0, found["Linear, whole numbers"]["differ_share"] > 0]


def say_same_bits(record: Record) -> Text:
    found = _rows_by_layer(record)
    if len(found) < len(LAYERS):
        return NOTHING
    linear, whole, net = found["Linear"], found["Linear, whole numbers"], found["SmallNet"]
    return both(
        f"torch and onnxruntime differ in some bit in {linear['differ_share']:.0%} of the results of a Linear layer, "
        f"and in {whole['differ_share']:.0%} where all numbers are whole. "
        f"The whole network: {net['differ_share']:.0%}, by at most {net['largest']:.0e} of the largest score. "
        f"Against float64, torch is off by {net['torch_error']:.0e} and onnxruntime by {net['other_error']:.0e}.",
        f"Linear 层的结果里，torch 与 onnxruntime 有 {linear['differ_share']:.0%} 逐位不一致；全换成整数后是 {whole['differ_share']:.0%}。"
        f"整个网络：{net['differ_share']:.0%}，最多差最大分数的 {net['largest']:.0e}。"
        f"和 float64 相比，torch 的误差是 {net['torch_error']:.0e}，onnxruntime 的是 {net['other_error']:.0e}。",
    )


def draw_same_bits(record: Record, bets: dict) -> SvgPicture:
    def said(share: float) -> str:
        if not share:
            return t("same bits", "逐位一致")
        return (
            t(f"{share:.0%} differ", f"{share:.0%} 不一致")
            if share >= 0.01
            else t("under 1 % differ", "不到 1% 不一致")
        )

    names = [row["layer"] for row in record.rows]
    chance, whole = ([names.index(one)] if one in names else [] for one in ("Linear", "Linear, whole numbers"))
    same, other = t("same bits", "逐位一致"), t("other bits", "不一致")
    words, places = {
        "a": (same, chance + whole),
        "b": (t("same bits here alone", "只有这里一致"), whole),
        "c": (other, chance + whole),
    }.get(bets.get("14-bet-bits", ""), ("", []))
    rows = [Bar(word(LAYERS[row["layer"]]), row["differ_share"], said(row["differ_share"])) for row in record.rows]
    return bars(rows, Bet(words, rows=places) if places else None)


def settle_same_bits(record: Record) -> dict[str, str | None]:
    found = _rows_by_layer(record)
    if not {"Linear", "Linear, whole numbers"} <= set(found):
        return {"14-bet-bits": None}
    chance, whole = (found[name]["differ_share"] > 0 for name in ("Linear", "Linear, whole numbers"))
    return {"14-bet-bits": {(False, False): "a", (True, False): "b", (True, True): "c"}.get((chance, whole))}


def _whole(*shape: int) -> torch.Tensor:
    return torch.randint(-4, 5, shape).float()


def _layers() -> dict[str, tuple[nn.Module, torch.Tensor]]:
    """name -> the layer of that line and its input; the whole numbers are small enough that every sum is exact."""
    image, rows, whole = torch.randn(4, 32, 12, 12), torch.randn(32, 4096), nn.Linear(4096, 32, bias=False)
    whole.weight.data = _whole(*whole.weight.shape)
    return {
        "ReLU": (nn.ReLU(), image),
        "MaxPool2d": (nn.MaxPool2d(2), image),
        "Linear": (nn.Linear(4096, 32, bias=False), rows),
        "Linear, whole numbers": (whole, _whole(*rows.shape)),
        "Linear, short": (nn.Linear(64, 32, bias=False), rows[:, :64].contiguous()),
        "Conv2d": (nn.Conv2d(32, 64, 3), image),
        "Sigmoid": (nn.Sigmoid(), image),
        "SmallNet": (ways_out.small_net(), ways_out.images(16)),
    }


def beside(model: nn.Module, *inputs: torch.Tensor) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """The results of a module that gives back a tuple: in torch, and from its ONNX file in onnxruntime."""
    file = ways_out.to_onnx(model, inputs).model_proto.SerializeToString()
    with torch.inference_mode():
        ours = list(model(*inputs))
    return ours, ways_out.run_onnx(file, *inputs)


def apart(one: torch.Tensor, other: torch.Tensor, scale: float) -> float:
    """The largest difference of two results, as a part of `scale`."""
    return float((one.double() - other.double()).abs().max()) / scale


@experiment(
    name="14-same-bits",
    lesson=LESSON,
    version=1,
    needs="onnx",
    seconds=15,
    title=both(
        "torch beside onnxruntime, layer by layer: the same bits?", "torch 和 onnxruntime 逐层对比：逐位一致吗？"
    ),
)
def same_bits(budget: Budget) -> Iterator[dict]:
    """Layers and a network, each computed by both: share of results that differ, and differences over the largest result."""
    torch.manual_seed(0)
    layers = _layers()
    model = ways_out.SideBySide([layer for layer, _ in layers.values()]).eval()
    inputs = [x for _, x in layers.values()]
    ours, theirs = beside(model, *inputs)
    with torch.inference_mode():
        exact = model.double()(*(x.double() for x in inputs))
    for name, mine, other, right in zip(layers, ours, theirs, exact, strict=True):
        scale = float(right.abs().max())
        yield {
            "layer": name,
            "differ_share": float((mine != other).float().mean()),
            "largest": apart(other, mine, scale),
            "torch_error": apart(mine, right, scale),
            "other_error": apart(other, right, scale),
        }


# --- 14-tolerance ---------------------------------------------------------------------------------------------

SENT = {
    "as it should be": both("exported as it should be", "正确导出"),
    "bfloat16 weights": both("weights rounded to bfloat16", "权重舍入到 bfloat16"),
    "other eps": both("batch norm with eps 1e-3", "BatchNorm 的 eps 写成 1e-3"),
    "swapped colours": both("red and blue swapped", "红蓝通道颠倒"),
    "older weights": both("weights of a step earlier, 0.1 % off", "早一步的权重，差 0.1%"),
}
"""What is sent: one right file, and faults of the kind that people ship."""
RIGHT = "as it should be"


def _gap(record: Record) -> float | None:
    """Smallest difference made by a fault over the difference of the right file; None where that is unknown."""
    found = {row["sent"]: row["largest"] for row in record.rows}
    if set(found) != set(SENT):
        return None
    return min(value for name, value in found.items() if name != RIGHT) / max(found[RIGHT], 2**-24)


def headline_tolerance(record: Record) -> Text:
    said = {
        "a": both("The smallest fault hides in the rounding.", "最小的错误藏在舍入误差里。"),
        "b": both(
            "The smallest fault is less than a hundred times the rounding.", "最小的错误，不到舍入误差的一百倍。"
        ),
        "c": both(
            "Every fault stands far above the rounding: a tolerance tells them apart.",
            "每种错误都远大于舍入误差，定个容差就能分开。",
        ),
    }
    return said.get(settle_tolerance(record)["14-bet-faults"], TOO_NOISY)


def say_tolerance(record: Record) -> Text:
    gap = _gap(record)
    if gap is None:
        return NOTHING
    found = {row["sent"]: row["largest"] for row in record.rows}
    least = min((name for name in found if name != RIGHT), key=found.get)
    missed = sum(value <= 1e-3 for name, value in found.items() if name != RIGHT)
    return both(
        f"The right file differs by {found[RIGHT]:.0e} of the largest score, "
        f"the smallest fault ({SENT[least]['en']}) by {found[least]:.0e}: {sci(gap)} times as much. "
        f"A tolerance between the two tells them apart; the popular 1e-3 would let {missed} of {len(SENT) - 1} faults pass.",
        f"正确的文件，差最大分数的 {found[RIGHT]:.0e}；最小的错误（{SENT[least]['zh']}）差 {found[least]:.0e}，是前者的 {sci(gap)} 倍。"
        f"把容差定在两者之间，就能分清；常见的 1e-3 会放过 {len(SENT) - 1} 个错误里的 {missed} 个。",
    )


def draw_tolerance(record: Record, ax: Any, bets: dict) -> None:
    """How many times the rounding of the right file each file is off, on a scale of powers of ten."""
    from course.figures.style import colors, guide

    found = {row["sent"]: row["largest"] for row in record.rows[::-1]}
    rounding = max(found.get(RIGHT, 0.0), 2**-24)
    faults = [name for name in found if name != RIGHT]
    ax.figure.set_figheight(0.55 * len(found) + 1.2)
    for height, (name, value) in enumerate(found.items()):
        times_ = max(value / rounding, 0.3)
        mark, colour = ("o", guide()) if name == RIGHT else ("D", colors()[0])
        ax.plot(times_, height, mark, color=colour, markersize=8)
        said = t("the rounding", "舍入误差") if name == RIGHT else t(f"{sci(times_)}×", f"{sci(times_)} 倍")
        ax.annotate(said, (times_, height), xytext=(9, 0), textcoords="offset points", va="center")
    ax.set_xscale("log")
    ax.set_xlim(0.2, 3e8)
    ax.set_ylim(-0.8, len(found) - 0.2)
    ticks = (1, 100, 10_000, 1_000_000)
    ax.set_xticks(ticks, [t(f"{one:,}×", f"{one:,} 倍") for one in ticks])
    ax.minorticks_off()
    ax.axvline(1e-3 / rounding, color=guide(), linestyle=":", linewidth=1)
    ax.text(1e-3 / rounding, -0.75, t(" a tolerance of 1e-3", " 容差 1e-3"), fontsize=9, color=guide(), va="bottom")
    ax.set_yticks(range(len(found)), [word(SENT[name]) for name in found])
    ax.set_xlabel(t("difference from torch, as a multiple of the rounding", "与 torch 之差，是舍入误差的多少倍"))
    least, most, words = {
        "a": (0.3, 3, t("less than 3 times", "不到 3 倍")),
        "b": (3, 100, t("3 to 100 times", "3 到 100 倍")),
        "c": (100, 1e8, t("more than 100 times", "100 倍以上")),
    }.get(bets.get("14-bet-faults", ""), (0, 0, ""))
    if words and faults:
        place = list(found).index(min(faults, key=found.__getitem__))
        bet_box(ax, words, (least, most), (place - 0.35, place + 0.35))


def settle_tolerance(record: Record) -> dict[str, str | None]:
    gap = _gap(record)
    if gap is None:
        return {"14-bet-faults": None}
    return {"14-bet-faults": "a" if gap < 3 else "b" if gap < 100 else "c"}


def _sent(name: str) -> nn.Module:
    """The network as somebody exports it: right, or with one fault."""
    model, rng = ways_out.small_net(), torch.Generator().manual_seed(2)
    with torch.no_grad():
        for weight in model.parameters():
            if name == "bfloat16 weights":
                weight.copy_(weight.bfloat16())
            if name == "older weights":
                weight.mul_(1 + 1e-3 * torch.randn(weight.shape, generator=rng))
        if name == "swapped colours":
            model.conv1.weight.copy_(model.conv1.weight.flip(1))
    if name == "other eps":
        model.norm.eps = 1e-3
    return model


@experiment(
    name="14-tolerance",
    lesson=LESSON,
    version=1,
    needs="onnx",
    seconds=15,
    title=both("Rounding beside real faults: how far apart are they?", "舍入误差和真正的错误，差多远？"),
)
def tolerance(budget: Budget) -> list[dict]:
    """The largest difference between the scores of torch and those of a file that was sent right or with a fault."""
    x = ways_out.images(16)
    ours, theirs = beside(ways_out.SideBySide([_sent(name) for name in SENT]), *[x] * len(SENT))
    right = ours[list(SENT).index(RIGHT)]
    scale = float(right.abs().max())
    return [{"sent": name, "largest": apart(other, right, scale)} for name, other in zip(SENT, theirs, strict=True)]


# --- 14-twice -------------------------------------------------------------------------------------------------

AGAIN = {
    "again": both("once more, here", "在这里再导一次"),
    "elsewhere": both("the script in another folder", "脚本换个文件夹"),
}
PARTS = {"file": both("whole file", "整个文件"), "graph": both("graph", "图"), "weights": both("weights", "权重")}
SCRIPT = """from course.lessons.l14_export import ways_out


class Sent(ways_out.SmallNet):
    def forward(self, x):
        return super().forward(x)
"""


def headline_twice(record: Record) -> Text:
    said = {
        "a": both("Exported from another folder: the very same file.", "脚本换个文件夹再导出，文件一模一样。"),
        "b": both(
            "Exported from another folder: same computation, another file.",
            "脚本换个文件夹再导出：计算一样，文件不同。",
        ),
        "c": both("Exported from another folder: graph or weights differ.", "脚本换个文件夹再导出，图或权重竟然不同。"),
    }
    return said.get(settle_twice(record)["14-bet-twice"], TOO_NOISY)


def say_twice(record: Record) -> Text:
    found = {row["again"]: row for row in record.rows}
    if set(found) != set(AGAIN):
        return NOTHING

    def told(name: str, code: str) -> str:
        same = [PARTS[part][code] for part in PARTS if found[name][part]]
        if code == "en":
            return f"{AGAIN[name]['en']}: same {', '.join(same) or 'nothing'}"
        return f"{AGAIN[name]['zh']}，相同的有：{'、'.join(same) or '无'}"

    named = any(row["path"] for row in record.rows)
    return both(
        "; ".join(told(name, "en") for name in AGAIN)
        + (". The file names the folder the script was in." if named else ". No folder is named in the file."),
        "；".join(told(name, "zh") for name in AGAIN)
        + ("。文件里写着脚本所在的文件夹。" if named else "。文件里没有写文件夹的名字。"),
    )


def draw_twice(record: Record, bets: dict) -> Table:
    same, differs = t("same bytes", "字节相同"), t("differs", "不同")
    lines = [["", *map(word, PARTS.values())]]
    lines += [[word(AGAIN[row["again"]]), *(same if row[part] else differs for part in PARTS)] for row in record.rows]
    marks = {
        (at, column): "told"
        for at, row in enumerate(record.rows)
        for column, part in enumerate(PARTS, 1)
        if not row[part]
    }
    mine = {
        "a": (same, same, same),
        "b": (differs, same, same),
        "c": (differs, t("one of these two differs", "这两样之一不同"), ""),
    }.get(bets.get("14-bet-twice", ""))
    place = next((at for at, row in enumerate(record.rows) if row["again"] == "elsewhere"), None)
    return Table(lines, marks).bet_on(place, mine) if mine else Table(lines, marks)


def settle_twice(record: Record) -> dict[str, str | None]:
    row = next((one for one in record.rows if one["again"] == "elsewhere"), None)
    if row is None:
        return {"14-bet-twice": None}
    if row["file"]:
        return {"14-bet-twice": "a"}
    return {"14-bet-twice": "b" if row["graph"] and row["weights"] else "c"}


def _script_in(folder: str) -> ModuleType:
    """The script written into this folder and imported from there, each time under the same name."""
    path = Path(folder) / "sent.py"
    path.write_text(SCRIPT, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("sent", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["sent"] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules["sent"]
    return module


def parts_in(folder: str) -> dict[str, str | bool]:
    """Export the script's network and return SHA-256 sums: of the file, its graph, its weights; and whether it names `folder`."""
    model = _script_in(folder).Sent()
    model.load_state_dict(ways_out.small_net().state_dict())
    program = ways_out.to_onnx(model.eval(), (ways_out.images(),))
    file = program.model_proto.SerializeToString(deterministic=True)
    graph, weights = ways_out.graph_and_weights(ways_out.without_notes(program))
    sums = {"file": file, "graph": graph, "weights": weights}
    return {**{part: hashlib.sha256(text).hexdigest() for part, text in sums.items()}, "path": folder.encode() in file}


@experiment(
    name="14-twice",
    lesson=LESSON,
    version=1,
    needs="onnx",
    seconds=15,
    title=both("Export twice, compare the bytes", "导出两次，比一比字节"),
)
def twice(budget: Budget) -> Iterator[dict]:
    """The same network exported again: at once, and from a script in another folder."""
    with tempfile.TemporaryDirectory() as here, tempfile.TemporaryDirectory() as other:
        first = parts_in(here)
        for name in budget.loop(AGAIN, desc=EXPORTING, least=len(AGAIN)):
            found = parts_in(here if name == "again" else other)
            yield {
                "again": name,
                **{part: int(found[part] == first[part]) for part in PARTS},
                "path": int(found["path"]),
            }
