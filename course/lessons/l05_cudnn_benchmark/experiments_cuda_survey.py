"""Experiments of lesson 05 that need a GPU: does the search pay on this card, over many layers and in whole networks?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from course.experiment.base import Budget, experiment
from course.experiment.new_process import call_in_new_process
from course.experiment.reading import Reading
from course.experiment.rows import groups
from course.figures.svg import SvgPicture
from course.i18n import both
from course.lessons.l05_cudnn_benchmark.experiments import FRESH, LESSON
from course.lessons.l05_cudnn_benchmark.survey import Pair, counted, scatter
from course.records import Record
from course.timing.stats import median

PROBES = "course.lessons.l05_cudnn_benchmark.probes_survey"
WAYS = ("off", "on")


# --- 05-survey-cuda -----------------------------------------------------------------------------------------


def _layers() -> list[dict[str, Any]]:
    """Twenty convolutions as networks have them, each in float32 and in float16 with channels_last."""
    plain = {"batch": 16, "stride": 1, "groups": 1, "dilation": 1}
    resnet = [
        (3, 64, 7, 224, 2), (64, 64, 1, 56, 1), (64, 64, 3, 56, 1), (64, 256, 1, 56, 1), (128, 128, 3, 56, 2),
        (128, 512, 1, 28, 1), (256, 256, 3, 14, 1), (1024, 256, 1, 14, 1), (512, 512, 3, 7, 1), (512, 2048, 1, 7, 1),
    ]  # fmt: skip
    layers = [plain | dict(zip(("inside", "outside", "kernel", "image", "stride"), one, strict=True)) for one in resnet]
    layers += [
        plain | {"inside": width, "outside": width, "kernel": kernel, "image": image, "groups": width}
        for width, kernel, image in ((32, 3, 112), (96, 3, 56), (192, 5, 28), (384, 7, 14))
    ]
    layers += [
        plain | {"inside": 64, "outside": 64, "kernel": 3, "image": 56, "dilation": dilation} for dilation in (2, 4)
    ]
    layers += [
        plain | {"inside": inside, "outside": outside, "kernel": kernel, "image": image}
        for inside, outside, kernel, image in ((17, 33, 3, 57), (3, 16, 11, 128), (1, 8, 51, 96), (100, 100, 5, 31))
    ]
    return [
        {**layer, "dtype": dtype, "channels_last": last}
        for dtype, last in (("float32", False), ("float16", True))
        for layer in layers
    ]


@experiment(name="05-survey-cuda", lesson=LESSON, needs="cuda", seconds=60, whole=True)
def survey_cuda(budget: Budget, layers: int = 40, repeats: int = 2) -> Iterator[dict]:
    """Forward of 40 convolutions, search off and on, two new processes each: first call, and the kernels of a later one."""
    convolutions = _layers()[:layers]
    left = len(WAYS) * repeats
    for process in budget.loop(range(repeats), desc=FRESH, least=2):
        for benchmark, way in enumerate(WAYS):
            seen, _ = call_in_new_process(
                PROBES, "convolution_times", benchmark, convolutions, budget.share(left), timeout_s=180
            )
            left -= 1
            budget.complete = budget.complete and len(seen) == len(convolutions)
            for number, (about, one) in enumerate(zip(convolutions, seen, strict=False)):
                yield {"search": way, "process": process, "layer": number, **about, **one}


def pairs(rows: list[dict]) -> list[Pair]:
    """The kernel times of each convolution, off and on; one that a process refused or did not reach is left out."""
    found = []
    for layer in groups([row for row in rows if not row["error"]], "layer").values():
        ways = groups(layer, "search")
        if all(len(ways.get(way, ())) >= 2 for way in WAYS):
            first = layer[0]
            name = f"{first['inside']}→{first['outside']}, {first['kernel']}×{first['kernel']}, {first['image']}, {first['dtype']}"
            found.append(Pair(name, *([row["us"] for row in ways[way]] for way in WAYS)))
    return found


def read_survey_cuda(rows: list[dict]) -> Reading | None:
    """Faster, slower or neither, layer by layer; told where the layers that differ lean."""
    found = pairs(rows)
    if len(found) < 10:
        return None
    count = counted(found)
    outcome = "no difference"
    if count["slower"] + count["faster"] > 0.05 * count["all"]:
        outcome = "mixed"
        if count["slower"] >= 2 * count["faster"]:
            outcome = "more slower"
        elif count["faster"] >= 2 * count["slower"]:
            outcome = "more faster"
    return Reading(outcome, count)


def draw_survey_cuda(record: Record, bets: dict) -> SvgPicture:
    return scatter(pairs(record.rows))


# --- 05-networks-cuda ---------------------------------------------------------------------------------------

NETWORKS = ("resnet50", "mobilenet_v2", "vgg16")
PRECISIONS = ("float32", "AMP, channels_last")


@experiment(name="05-networks-cuda", lesson=LESSON, needs="cuda", seconds=60, whole=True)
def networks_cuda(
    budget: Budget, networks: tuple[str, ...] = NETWORKS, steps: int = 25, batch: int = 16, size: int = 224
) -> Iterator[dict]:
    """Training steps of three networks in two precisions, search off and on, two new processes each."""
    cases = [
        (process, network, half, benchmark)
        for process in range(2)
        for network in networks
        for half in range(2)
        for benchmark in range(2)
    ]
    for place, (process, network, half, benchmark) in enumerate(budget.loop(cases, desc=both("trainings", "训练"))):
        seen, _ = call_in_new_process(
            PROBES, "training_steps", benchmark, network, half, steps, batch, size, budget.share(len(cases) - place),
            timeout_s=180,
        )  # fmt: skip
        yield {"network": network, "precision": PRECISIONS[half], "search": WAYS[benchmark], "process": process, **seen}


def read_networks_cuda(rows: list[dict]) -> Reading | None:
    """A later step with the search over one without, by network and precision; a gain or a loss is 3 % in every pair of processes."""
    drawn = []
    for (network, precision), mine in _by_case(rows).items():
        ways = groups(mine, "search")
        if all(len(ways.get(way, ())) >= 2 for way in WAYS):
            off, on = ([row["step_ms"] for row in ways[way]] for way in WAYS)
            extra = median([row["first_ms"] for row in ways["on"]]) - median([row["first_ms"] for row in ways["off"]])
            drawn.append(
                {
                    "case": f"{network}, {precision}",
                    "ratio": median(on) / median(off),
                    "low": min(on) / max(off),
                    "high": max(on) / min(off),
                    "extra_ms": max(0.0, extra),
                }
            )
    if not drawn:
        return None
    gains, losses = (sum(row["high"] < 0.97 for row in drawn), sum(row["low"] > 1.03 for row in drawn))
    numbers = {"all": len(drawn), "gains": gains, "losses": losses}
    numbers["extra_ms"] = max(row["extra_ms"] for row in drawn)
    outcome = "gains" if gains and not losses else "losses" if losses and not gains else "both" if gains else "neither"
    return Reading(outcome, numbers, drawn)


def _by_case(rows: list[dict]) -> dict[tuple[str, str], list[dict]]:
    found: dict[tuple[str, str], list[dict]] = {}
    for row in rows:
        found.setdefault((row["network"], row["precision"]), []).append(row)
    return found
