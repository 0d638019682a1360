"""Experiments of lesson 04 that need a GPU."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from course import flags
from course.core.tables import clip
from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading
from course.lessons.l04_cudnn_enabled import probes
from course.lessons.l04_cudnn_enabled.experiments import CUDNN, LESSON, first_line, races

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
