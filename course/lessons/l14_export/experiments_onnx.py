"""Experiments of lesson 14 with an ONNX file: equal bits, and a tolerance that separates."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import nn

from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading
from course.lessons.l14_export import ways_out
from course.lessons.l14_export.experiments import LESSON

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

SENT = ("as it should be", "bfloat16 weights", "other eps", "swapped colours", "older weights")
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
    """The smallest difference made by a fault, over the difference of the right file. Drawn: every file, the smallest first."""
    found = {row["sent"]: row["largest"] for row in rows}
    if set(found) != set(SENT):
        return None
    rounding = max(found[RIGHT], 2**-24)
    passes = {name: int(value <= 1e-3) for name, value in found.items()}

    def drawn(place: int | str, name: str) -> dict:
        told = ["passes"] * (passes[name] and name != RIGHT)
        return {"place": place, "sent": name, "times": found[name] / rounding, "passes": passes[name], "told": told}

    faults = [drawn(place, name) for place, name in enumerate(sorted(set(SENT) - {RIGHT}, key=found.__getitem__))]
    gap, passing = faults[0]["times"], sum(row["passes"] for row in faults)
    outcome = "a" if gap < 3 else "b" if gap < 100 else "c"
    return Reading(outcome, {"passing": passing, "faults": len(faults)}, [drawn("right", RIGHT), *faults])
