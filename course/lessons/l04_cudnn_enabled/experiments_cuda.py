"""Experiments of lesson 04 that need a GPU."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from course import flags
from course.experiment.base import Budget, experiment
from course.experiment.kernels import differing_parts
from course.experiment.reading import Reading
from course.i18n import both
from course.lessons.l04_cudnn_enabled import probes
from course.lessons.l04_cudnn_enabled.experiments import CUDNN, LESSON, OPERATIONS, first_line, races, worst
from course.tables import clip

WITHOUT_CUDNN = tuple(probes.OPERATIONS)

# --- 04-ops-cuda --------------------------------------------------------------------------------------------

TF32 = "cudnn.allow_tf32"
IN_TF32 = ("Conv2d", "LSTM", "GRU")
"""Of these cuDNN computes float32 in TF32 unless told otherwise; without cuDNN they are products, which do not."""


@experiment(name="04-ops-cuda", lesson=LESSON, version=3, needs="cuda", seconds=20)
def ops_cuda(budget: Budget, larger: int = probes.LARGER["cuda"]) -> Iterator[dict]:
    """Ten operations, cudnn.enabled on and off, float32 on both sides; three of them with cuDNN's TF32 as well."""
    half = Budget(budget.left() * len(WITHOUT_CUDNN) / (len(WITHOUT_CUDNN) + len(IN_TF32)))
    with probes.sized(larger):
        for allowed, names, own in ((0, WITHOUT_CUDNN, half), (1, IN_TF32, budget)):
            with flags.using({TF32: bool(allowed)}):
                for row in races(own, names, CUDNN, probes.gpu(), told=(RuntimeError,)):
                    yield {"tf32_allowed": allowed, "error": "", **row}
    budget.complete = budget.complete and half.complete


def read_ops_cuda(rows: list[dict]) -> Reading:
    """Whether Linear and MaxPool2d get slower, both sides in float32; open while one of the two is undecided or failed."""
    drawn = [
        {
            **row,
            "case": f"{row['operation']}{' in TF32' * row['tf32_allowed']}",
            "precision": "with TF32" if row["tf32_allowed"] else "",
        }
        for row in rows
        if not row.get("error")
    ]
    seen = {row["case"]: row["verdict"] for row in drawn}
    pair = (seen.get("Linear"), seen.get("MaxPool2d"))
    if None in pair or "undecided" in pair:
        return Reading(drawn=drawn)
    answers = {(True, True): "a", (False, True): "b", (True, False): "c", (False, False): "d"}
    return Reading(answers[pair[0] == "slower", pair[1] == "slower"], drawn=drawn)


# --- 04-kernels-cuda ----------------------------------------------------------------------------------------


@experiment(name="04-kernels-cuda", lesson=LESSON, version=2, needs="cuda", seconds=20, whole=True)
def kernels_cuda(budget: Budget, larger: int = probes.LARGER["cuda"]) -> Iterator[dict]:
    """The longest kernels of the same operations, cudnn.enabled on and off, by the profiler; a refused one says why."""
    for name in budget.loop(WITHOUT_CUDNN, desc=OPERATIONS):
        with probes.sized(larger):
            call = probes.OPERATIONS[name](probes.gpu())
        for setting in (True, False):
            row = {"operation": name, "cudnn": int(setting)}
            try:
                with flags.using({CUDNN: setting}):
                    found = probes.longest_kernels(call)
            except RuntimeError as error:
                yield {**row, "place": 0, "kernel": "", "error": first_line(error)}
                continue
            yield from [
                {**row, "place": place, "kernel": kernel, "error": ""} for place, kernel in enumerate(found, start=1)
            ]


def read_kernels_cuda(rows: list[dict]) -> Reading | None:
    """Of each operation the longest kernel with cuDNN and without, by whole names."""
    longest: dict[str, dict[int, str]] = {}
    for row in rows:
        if row["place"] == 1:
            longest.setdefault(row["operation"], {})[row["cudnn"]] = row["kernel"]
    drawn = []
    for name, kernel in longest.items():
        if set(kernel) == {0, 1}:
            short = differing_parts((kernel[1], kernel[0]), 34)
            told = ["off"] * (kernel[0] != kernel[1])
            drawn.append({"operation": name, "on": short[kernel[1]], "off": short[kernel[0]], "told": told})
    moved = sum(bool(row["told"]) for row in drawn)
    if not drawn:
        return None
    outcome = "all" if moved == len(drawn) else "some" if moved else "none"
    return Reading(outcome, {"moved": moved, "all": len(drawn)}, drawn)


# --- 04-bits-cuda -------------------------------------------------------------------------------------------

COMPARED = ("Conv2d", "LSTM")


@experiment(name="04-bits-cuda", lesson=LESSON, version=2, needs="cuda", seconds=20)
def bits_cuda(budget: Budget) -> Iterator[dict]:
    """A convolution and an LSTM, ten times each, with cuDNN's TF32 as it comes and switched off.

    The convolution has 64 channels: for 32 cuDNN may choose a kernel without TF32, though it is allowed.
    """
    makers = {
        "Conv2d": lambda: (torch.nn.Conv2d(64, 64, 3, padding=1), torch.randn(4, 64, 32, 32)),
        "LSTM": lambda: (torch.nn.LSTM(64, 64), torch.randn(16, 8, 64)),
    }
    cases = [(name, tf32, number) for number in range(10) for name in makers for tf32 in (True, False)]
    for name, tf32, number in budget.loop(cases, desc=OPERATIONS, least=len(makers) * 2):
        with flags.using({TF32: tf32}):
            layer, x = makers[name]()
            layer, x = layer.to(probes.gpu()).eval(), x.to(probes.gpu())
            found = probes.against_float64(layer, x, CUDNN)
            yield {"operation": name, "tf32_allowed": int(tf32), "input": number, **found}


def read_bits_cuda(rows: list[dict]) -> Reading | None:
    """The largest error of each case. Worse: over four times that without cuDNN. The operation that loses most is named."""
    cases: dict[tuple[str, int], list[dict]] = {}
    for row in rows:
        cases.setdefault((row["operation"], row["tf32_allowed"]), []).append(row)
    drawn = [
        {
            "case": (operation, tf32),
            "operation": operation,
            "tf32": "TF32 allowed" if tf32 else "TF32 off",
            "on": worst(mine, "on_error"),
            "off": worst(mine, "off_error"),
        }
        for (operation, tf32), mine in cases.items()
    ]
    if set(cases) != {(name, tf32) for name in COMPARED for tf32 in (0, 1)}:
        return Reading(drawn=drawn)
    for outcome, tf32 in (("even without TF32", "TF32 off"), ("with TF32", "TF32 allowed")):
        worse = [row for row in drawn if row["tf32"] == tf32 and row["on"] > 4 * row["off"]]
        if worse:
            most = max(worse, key=lambda row: row["on"] / row["off"])
            return Reading(outcome, {"operation": most["operation"], "ratio": most["on"] / most["off"]}, drawn)
    return Reading("no worse", drawn=drawn)


# --- 04-memory-cuda -----------------------------------------------------------------------------------------


@experiment(name="04-memory-cuda", lesson=LESSON, needs="cuda", seconds=20, whole=True)
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


def read_memory_cuda(rows: list[dict]) -> Reading | None:
    """At the largest size that was measured both ways; a difference is told from 20 % on."""
    peaks = {(row["size"], row["cudnn"]): row["peak_mib"] for row in rows}
    sizes = [size for size, on in peaks if on and (size, 0) in peaks]
    if not sizes:
        return None
    drawn = [
        {"place": (size, on), "name": f"{size}×{size}" * on, "setting": setting, "mib": peaks[size, on]}
        for size in sizes
        for on, setting in ((1, "with cuDNN"), (0, "without"))
    ]
    on, off = (peaks[max(sizes), setting] for setting in (1, 0))
    if max(on, off) <= 1.2 * min(on, off):
        return Reading("the same", drawn=drawn)
    return Reading("more with" if on > off else "more without", {"ratio": max(on, off) / min(on, off)}, drawn)


# --- 04-attention-cuda --------------------------------------------------------------------------------------


@experiment(name="04-attention-cuda", lesson=LESSON, needs="cuda", seconds=15)
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
            row["error"] = first_line(error)
        yield row


def read_attention_cuda(rows: list[dict]) -> Reading:
    ran = {row["cudnn"]: row["ran"] for row in rows}
    drawn = [
        {
            "setting": "on" if row["cudnn"] else "off",
            "kernel": clip(row["kernel"], 60) or "not offered",
            "told": ["kernel"] * row["ran"],
        }
        for row in rows
    ]
    if set(ran) != {0, 1}:
        return Reading(drawn=drawn)
    return Reading("runs" if ran[0] else "stops" if ran[1] else "never", drawn=drawn)
