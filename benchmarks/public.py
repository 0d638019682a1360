"""Public models of torchvision and timm by name, counted by course.flops and, the well-known ones, by the other tools.

    python -m benchmarks.public --out benchmarks/results/public.json     half an hour; stopped, it goes on where it was
    python -m benchmarks.public resnet50 swin_t                          these alone, printed

It needs `pip install --no-deps torchvision timm` (the torchvision that fits the torch here). The names are those of
benchmarks/results/public_h100.csv. `python -m grader author reference` makes docs/counts.md from both files.
"""

from __future__ import annotations

import argparse
import copy
import csv
import gc
import json
import sys
import warnings
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.flops_tools import TOOLS
from benchmarks.running import Rows, stoppable, versions
from course import machine
from course.crosscheck import cross_check
from course.crosscheck.peers import torch_as_it_was
from course.flops import count

H100 = Path(__file__).parent / "results/public_h100.csv"
ROWS = Path("build/benchmarks/public.jsonl")
KNOWN = (
    "alexnet vgg16 googlenet inception_v3 resnet18 resnet50 resnet152 resnext50_32x4d wide_resnet50_2 densenet121 "
    "squeezenet1_1 mobilenet_v2 mobilenet_v3_large shufflenet_v2_x1_0 mnasnet1_0 efficientnet_b0 regnet_y_400mf "
    "convnext_tiny vit_b_16 vit_b_32 swin_t swin_v2_t maxvit_t"
).split()
"""Models of torchvision that every tool counts."""
OTHERS = ("fvcore", "calflops", "torchinfo")
"""Tools beside those of cross_check."""
LIMIT_S = 120.0


def libraries() -> Any:
    """The modules torchvision and timm. Of a torchvision built for another torch only the Python part is there: without the
    compiled operators of object detection."""
    try:
        import torchvision
    except RuntimeError:
        missing = torch.library.Library("torchvision", "DEF")
        missing.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        missing.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        for name in [name for name in sys.modules if name.startswith("torchvision")]:
            del sys.modules[name]
        import torchvision

        libraries.kept = missing  # type: ignore[attr-defined]
    import timm

    return torchvision, timm


def names() -> list[tuple[str, str]]:
    """(library, model) of the models counted on the H100 that torchvision and timm have."""
    with H100.open(encoding="utf-8") as lines:
        found = [tuple(row["model"].split(" ", 1)) for row in csv.DictReader(lines)]
    return [(library, model) for library, model in found if library != "transformers"]


def built(library: str, name: str) -> tuple[nn.Module, tuple[Tensor, ...], float | None]:
    """A model in evaluation mode, its inputs, and the published 10^9 MACs at this input (torchvision calls them GFLOPS)."""
    torchvision, timm = libraries()
    if library == "timm":
        model = timm.create_model(name, pretrained=False).eval()
        return model, (torch.zeros(1, *model.default_cfg["input_size"]),), None
    kind = torchvision.models.get_model_builder(name).__module__.split(".")[2]
    if kind == "detection":
        torchvision.extension._assert_has_ops()
    more = {"weights_backbone": None} if kind in ("detection", "segmentation") else {}
    model = torchvision.models.get_model(name, weights=None, **more).eval()
    if kind == "optical_flow":
        return model, (torch.zeros(1, 3, 128, 128), torch.zeros(1, 3, 128, 128)), None
    if kind == "video":
        return model, (torch.zeros(1, 3, 16, 224, 224),), None
    edge = 299 if name == "inception_v3" else 224
    weights = next(iter(torchvision.models.get_model_weights(name)))
    same = getattr(weights.transforms(), "crop_size", None) == [edge]
    return model, (torch.zeros(1, 3, edge, edge),), weights.meta["_ops"] if same else None


def counted(library: str, name: str) -> dict[str, Any]:
    """The row of one model: what course.flops counts, and for the well-known ones what the others say and why.

    Weights and inputs have shapes alone, unless other tools are to run or the model needs values.
    """
    known = library == "torchvision" and name in KNOWN
    for device in ("cpu",) if known else ("meta", "cpu"):
        try:
            with torch.device(device), torch.no_grad():
                model, inputs, published = built(library, name)
                ours = count(model, *inputs)
            break
        except Exception:
            if device == "cpu":
                raise
    row: dict[str, Any] = {"library": library, "model": name, "input": [list(x.shape) for x in inputs]}
    row |= {"params": ours.params, "macs": ours.macs, "unknown": ours.unknown, "ground": ours.ground}
    if not known:
        return row
    check = cross_check(model, inputs, max_time=LIMIT_S)
    tools = {one.tool: one.macs for one in check.tools}
    reasons = {one.tool: [[why.amount, why.text["en"], why.text["zh"]] for why in one.reasons] for one in check.tools}
    return row | {"published": published, "tools": tools | others(model, inputs), "reasons": reasons}


def others(model: nn.Module, inputs: tuple[Tensor, ...]) -> dict[str, int | None]:
    """What the tools say that cross_check does not ask, each of a copy of its own; None for one that stops."""
    found: dict[str, int | None] = {}
    for tool in OTHERS:
        try:
            with torch_as_it_was():
                found[tool] = TOOLS[tool](copy.deepcopy(model), inputs)[0]
        except Exception:  # a foreign tool may stop in any way
            found[tool] = None
    return found


def _rows(wanted: list[tuple[str, str]], rows: Rows) -> Iterator[dict[str, Any]]:
    for library, name in wanted:
        kept = rows.find(library=library, model=name)
        if kept is None:
            try:
                kept = counted(library, name)
            except Exception as error:  # a model that cannot be built or run here: a row that says so
                first = str(error).strip().split("\n")[0]
                kept = {"library": library, "model": name, "error": f"{type(error).__name__}: {first}"[:200]}
            rows.add(**kept)
            gc.collect()
        yield kept


def main() -> None:
    """Count the models named, or all, and write them where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--out", type=Path, metavar="FILE")
    parser.add_argument("--fresh", action="store_true", help="forget the models that were counted before")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    wanted = [one for one in names() if not options.models or one[1] in options.models]
    if missing := {"torchvision", "timm"} - versions("torchvision", "timm").keys():
        parser.error(f"{' and '.join(sorted(missing))} missing. Next step: pip install --no-deps torchvision timm")
    about = {"versions": versions("torch", "torchvision", "timm", "thop", "ptflops", *OTHERS)}
    found = []
    for row in _rows(wanted, Rows(ROWS, about, options.fresh)):
        said = row.get("error") or f"{row['macs']:,} {row['unknown'] or 'exact'} {row['ground']}"
        print(f"{row['library']:<12}{row['model']:<36}{said}", flush=True)
        found.append(row)
    if options.out:
        today = datetime.now(timezone.utc).strftime("%Y-%m-%d")
        lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in sorted(found, key=lambda row: row["model"]))
        head = json.dumps({"date": today, "machine": machine.passport()["cpu"], **about})
        options.out.write_text(f'{{"about": {head},\n"rows": [\n{lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    stoppable(main)
