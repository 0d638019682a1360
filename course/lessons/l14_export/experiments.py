"""Experiments of lesson 14: what a file keeps, a branch, and an ONNX file beside torch: equal bits, a tolerance that separates."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from course import flags
from course.core.i18n import both
from course.core.machine import can
from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading, groups
from course.lessons.l14_export import ways_out

LESSON = "14_export"
EXPORTING = both("exporting", "导出中")

# --- 14-what-it-keeps -----------------------------------------------------------------------------------------

AROUND = (
    "cudnn.enabled",
    "cudnn.benchmark",
    "cudnn.deterministic",
    "mkldnn.enabled",
    "deterministic algorithms",
    "threads",
    "autocast",
)
"""What stands around the model."""
MODEL = ("hook", "train", "float64")
"""What is changed of the model or its example."""
WAYS = ("trace", "export", "onnx")
CHANGED, SAME, NOT_TRIED = 1, 0, -1


@contextlib.contextmanager
def _around(setting: str) -> Iterator[None]:
    """One setting around the model, put back afterwards."""
    if setting == "autocast":
        with torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False):  # a trace cannot hold what is cached
            yield
        return
    name = {"threads": "torch.num_threads", "deterministic algorithms": "torch.deterministic_algorithms"}.get(
        setting, setting
    )
    value: Any = {"mkldnn.enabled": False, "cudnn.enabled": False}.get(setting, True)
    with flags.using({name: 1 + (torch.get_num_threads() == 1) if setting == "threads" else value}):
        yield


def _changed(setting: str) -> tuple[torch.nn.Module, torch.Tensor]:
    """Model and example with one thing of theirs changed; as they are for any other setting."""
    model, x = ways_out.small_net(), ways_out.images()
    if setting == "float64":
        return model.double(), x.double()
    if setting == "hook":
        model.conv1.register_forward_hook(lambda layer, given, result: None)
    return model.train(setting == "train"), x


def _says(way: str, model: torch.nn.Module, x: torch.Tensor) -> Any:
    """What the file says that this way makes of the model: its graph and its weights, without notes."""
    if way == "trace":
        program = ways_out.traced(model, (x,))
        return ways_out.said_by_trace(program), ways_out.weights_of(program.state_dict())
    with ways_out.quiet():
        exported = torch.export.export(model, (x,))
    if way == "export":
        return ways_out.said_by_export(exported), ways_out.weights_of(exported.state_dict)
    return ways_out.graph_and_weights(ways_out.without_notes(ways_out.to_onnx(exported, ())))


@experiment(name="14-what-it-keeps", lesson=LESSON, version=1, needs="cpu", seconds=12)
def what_it_keeps(budget: Budget) -> Iterator[dict]:
    """The same network exported in three ways, once as it is and once for each setting; did the file change?

    For ONNX, which takes a second each, the six switches are first tried all at once: a file that has not changed then
    holds none of them.
    """
    ways = [way for way in WAYS if way != "onnx" or can("onnx")]
    plain = {way: _says(way, *_changed("nothing")) for way in ways}
    switches = [setting for setting in AROUND if setting != "autocast"]
    with contextlib.ExitStack() as together:
        for setting in switches:
            together.enter_context(_around(setting))
        unseen = "onnx" in ways and _says("onnx", *_changed("nothing")) == plain["onnx"]

    def noticed(way: str, setting: str) -> int:
        if way not in ways:
            return NOT_TRIED
        if way == "onnx" and setting in switches and unseen:
            return SAME
        with _around(setting) if setting in AROUND else contextlib.nullcontext():
            return CHANGED if _says(way, *_changed(setting)) != plain[way] else SAME

    for setting in budget.loop([*AROUND, *MODEL], desc=EXPORTING, least=len(AROUND) + len(MODEL)):
        yield {"setting": setting, **{way: noticed(way, setting) for way in WAYS}}


def read_what_it_keeps(rows: list[dict]) -> Reading:
    """Which settings around the model change what torch.export writes."""
    drawn = [
        {
            **row,
            "told": [way for way in WAYS if row[way] == CHANGED],
            "quiet": [way for way in WAYS if row[way] != CHANGED],
        }
        for row in rows
    ]
    if len(rows) < len(AROUND) + len(MODEL):
        return Reading(drawn=drawn)
    kept = {row["setting"] for row in rows if row["export"] == CHANGED} & {*AROUND}
    if not kept:
        return Reading("a", drawn=drawn)
    cudnn = {name for name in AROUND if name.startswith("cudnn")}
    option = "b" if kept == {"autocast"} else "c" if kept == cudnn else "d" if kept == {*AROUND} else None
    numbers = {"kept": len(kept), "all": len(AROUND)}
    return Reading("b" if option == "b" else "some", numbers, drawn, {"14-bet-switches": option})


# --- 14-branch ------------------------------------------------------------------------------------------------

ANSWERS = {"like the example": 2.0, "the other side": -1.5}  # of `if x.sum() > 0: x * 2, else: x - 1` at 1.0 and -0.5


def gate(x: torch.Tensor) -> torch.Tensor:
    """Twice x where its sum is above 0, else x - 1: which branch runs depends on the numbers."""
    if x.sum() > 0:
        return x * 2
    return x - 1


def gate_where(x: torch.Tensor) -> torch.Tensor:
    """The same without a Python branch: both sides are computed, one is taken."""
    return torch.where(x.sum() > 0, x * 2, x - 1)


class _Holder(torch.nn.Module):
    """A function as a module: what torch.export takes."""

    def __init__(self, function: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(x)


def export_function(function: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> Callable[..., torch.Tensor]:
    """A function of one tensor after torch.export with this example, as something to call."""
    with ways_out.quiet():
        return torch.export.export(_Holder(function), (x,)).module()


@experiment(name="14-branch", lesson=LESSON, version=1, needs="cpu", seconds=7)
def branch(budget: Budget) -> Iterator[dict]:
    """A gate with a Python branch, left in four ways, asked on both sides of its branch; the example was positive."""
    example = torch.full((1,), 1.0)
    ways: dict[str, Callable[[], Callable[..., torch.Tensor]]] = {
        "python": lambda: gate,
        "trace": lambda: ways_out.traced(gate, (example,)),
        "export": lambda: export_function(gate, example),
        "where": lambda: export_function(gate_where, example),
    }
    for way in budget.loop(ways, least=len(ways)):
        for given, x in zip(ANSWERS, (example, torch.full((1,), -0.5)), strict=True):
            try:
                row = {"result": float(ways[way]()(x)), "error": ""}
            except Exception as error:  # noqa: BLE001  (which error it is, is the finding)
                row = {"result": 0.0, "error": type(error).__name__}
            yield {"way": way, "input": given, **row}


def read_branch(rows: list[dict]) -> Reading:
    """What each way says on both sides of the branch. The bet is on the trace, on the side that is not the example's."""
    drawn = []
    for way, mine in groups(rows, "way").items():
        line = {"way": way, "told": []}
        for row in mine:
            right = row["result"] == ANSWERS[row["input"]]
            line[row["input"]] = "refused" if row["error"] else "right" if right else "wrong"
            line[f"result {row['input']}"] = row["result"]
        line["told"] = ["the other side"] * (line.get("the other side") in ("refused", "wrong"))
        drawn.append(line)
    traced = next((line.get("the other side") for line in drawn if line["way"] == "trace"), None)
    return Reading({"wrong": "a", "right": "b", "refused": "c"}.get(traced), drawn=drawn)


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
