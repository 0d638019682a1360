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
from course.experiment.reading import Reading
from course.experiment.words import sci, word
from course.i18n import both, t
from course.lessons.l14_export import ways_out
from course.lessons.l14_export.experiments import EXPORTING, LESSON
from course.records import Record

# --- 14-same-bits ---------------------------------------------------------------------------------------------


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


@experiment(name="14-same-bits", lesson=LESSON, version=1, needs="onnx", seconds=15)
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


def read_same_bits(rows: list[dict]) -> Reading:
    """Whether a long sum has the same bits in both, and the same sum of whole numbers, which is exact in any order."""
    shares = {row["layer"]: row["differ_share"] for row in rows}
    drawn = [
        {**row, "said": "same" if not row["differ_share"] else "few" if row["differ_share"] < 0.01 else "many"}
        for row in rows
    ]
    if not {"Linear", "Linear, whole numbers"} <= set(shares):
        return Reading(drawn=drawn)
    chance, whole = (shares[name] > 0 for name in ("Linear", "Linear, whole numbers"))
    if whole and not chance:
        return Reading("whole numbers alone", drawn=drawn, bets={"14-bet-bits": None})
    return Reading({(False, False): "a", (True, False): "b", (True, True): "c"}[chance, whole], drawn=drawn)


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


@experiment(name="14-tolerance", lesson=LESSON, version=1, needs="onnx", seconds=15)
def tolerance(budget: Budget) -> list[dict]:
    """The largest difference between the scores of torch and those of a file that was sent right or with a fault."""
    x = ways_out.images(16)
    ours, theirs = beside(ways_out.SideBySide([_sent(name) for name in SENT]), *[x] * len(SENT))
    right = ours[list(SENT).index(RIGHT)]
    scale = float(right.abs().max())
    return [{"sent": name, "largest": apart(other, right, scale)} for name, other in zip(SENT, theirs, strict=True)]


def read_tolerance(rows: list[dict]) -> Reading | None:
    """The smallest difference made by a fault, over the difference of the right file."""
    found = {row["sent"]: row["largest"] for row in rows}
    if set(found) != set(SENT):
        return None
    rounding, faults = max(found[RIGHT], 2**-24), [value for name, value in found.items() if name != RIGHT]
    gap = min(faults) / rounding
    passing = sum(value <= 1e-3 for value in faults)
    return Reading("a" if gap < 3 else "b" if gap < 100 else "c", {"passing": passing, "faults": len(faults)})


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


# --- 14-twice -------------------------------------------------------------------------------------------------

AGAIN = ("again", "elsewhere")
PARTS = ("file", "graph", "weights")
SCRIPT = """from course.lessons.l14_export import ways_out


class Sent(ways_out.SmallNet):
    def forward(self, x):
        return super().forward(x)
"""


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


@experiment(name="14-twice", lesson=LESSON, version=1, needs="onnx", seconds=15)
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


def read_twice(rows: list[dict]) -> Reading:
    """What is the same byte for byte after an export from another folder."""
    drawn = [{**row, "told": [part for part in PARTS if not row[part]]} for row in rows]
    row = next((row for row in rows if row["again"] == "elsewhere"), None)
    if row is None:
        return Reading(drawn=drawn)
    return Reading("a" if row["file"] else "b" if row["graph"] and row["weights"] else "c", drawn=drawn)
