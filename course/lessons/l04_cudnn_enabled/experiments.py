"""Experiments of lesson 04: time and bits with a library switched off, who asks which switch, and a GPU without cuDNN.

oneDNN's switch is a stand-in for cuDNN's on a CPU, with the same anatomy: a fast library, a plain path behind it.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from course import flags
from course.core.i18n import both
from course.core.tables import clip
from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading, kind_of, race_row
from course.lessons.l04_cudnn_enabled import probes

LESSON = "04_cudnn_enabled"
SLIGHT = 0.05  # a difference below 5 % is called none
CUDNN, ONEDNN = "cudnn.enabled", "mkldnn.enabled"
OPERATIONS = both("operations", "算子")


def first_line(error: Exception) -> str:
    """What went wrong, for a row."""
    return str(error).strip().split("\n")[0][:200]


def races(
    budget: Budget, names: tuple[str, ...], switch: str, device: str = "cpu", told: tuple[type[Exception], ...] = ()
) -> Iterator[dict]:
    """One row an operation: time with the switch off over time with it on, and whether the bits agree.

    told: errors that become a row of the operation's name and the error, so that the other operations stay.
    """
    for place, name in enumerate(budget.loop(names, desc=OPERATIONS)):
        try:
            call = probes.OPERATIONS[name](device)
            on, off = probes.on_and_off(call, switch)
            seconds = max(0.2, budget.share(len(names) - place))
            race = probes.switch_race(call, switch, max_time=seconds, device=device)
        except told as error:
            yield {"operation": name, "error": first_line(error)}
            continue
        yield {
            "operation": name,
            **race_row(race),
            "verdict": kind_of(race_row(race), SLIGHT),
            "on_ms": race.medians_ms["on"],
            "off_ms": race.medians_ms["off"],
            "rounds": race.rounds,
            "same_bits": int(torch.equal(on, off)),
        }


# --- 04-cpu-enabled -----------------------------------------------------------------------------------------

ON_CPU = ("Conv2d", "LSTM", "BatchNorm2d")


@experiment(name="04-cpu-enabled", lesson=LESSON, needs="cpu", seconds=6, whole=True, clockless=True)
def cpu_enabled(budget: Budget) -> Iterator[dict]:
    """Three layers on the CPU, cudnn.enabled on and off: time and bits. One thread."""
    return races(budget, ON_CPU, CUDNN)


def read_cpu_enabled(rows: list[dict]) -> Reading:
    """b when every interval lies within 5 % of 1; a or c when one is off to one side. Equal bits need no clock."""
    verdicts, alike = {row["verdict"] for row in rows}, all(row["same_bits"] for row in rows)
    drawn = [{**row, "bits": "same bits" if row["same_bits"] else "other bits"} for row in rows]
    if verdicts == {"same"}:
        return Reading("b", drawn=drawn)
    off = verdicts & {"slower", "faster"}
    if len(off) == 1:
        option = "a" if off == {"slower"} else "c"
        return Reading("moved", {"off": min(off)}, drawn, {"04-bet-cpu": option})
    return Reading("same bits" if alike and not off else None, drawn=drawn, bets={"04-bet-cpu": None})


# --- 04-onednn-ops ------------------------------------------------------------------------------------------

WITHOUT_ONEDNN = ("Conv2d", "Conv2d, depthwise", "LSTM", "GRU", "Linear", "MaxPool2d")


@experiment(name="04-onednn-ops", lesson=LESSON, needs="mkldnn", seconds=11)
def onednn_ops(budget: Budget) -> Iterator[dict]:
    """Six layers on the CPU, mkldnn.enabled on and off: time and bits. One thread."""
    return races(budget, WITHOUT_ONEDNN, ONEDNN)


def read_onednn_ops(rows: list[dict]) -> Reading:
    """a all slower, b some slower and some not, c none slower; open while what is undecided or missing could matter."""
    verdicts = [row["verdict"] for row in rows]
    slower, settled = verdicts.count("slower"), verdicts.count("same") + verdicts.count("faster")
    if slower and settled:
        worst = max((row for row in rows if row["verdict"] == "slower"), key=lambda row: row["ratio"])
        return Reading("b", {"layer": worst["operation"], "ratio": worst["ratio"]})
    return Reading({slower: "a", settled: "c"}.get(len(WITHOUT_ONEDNN)))


# --- 04-bits ------------------------------------------------------------------------------------------------


@experiment(name="04-bits", lesson=LESSON, needs="mkldnn", seconds=6)
def bits(budget: Budget) -> Iterator[dict]:
    """Twelve convolutions with new weights and inputs, on and off, each compared with float64."""
    for number in budget.loop(range(12), desc=both("inputs", "输入")):
        layer = torch.nn.Conv2d(32, 32, 3, padding=1).eval()
        yield {"input": number, **probes.against_float64(layer, torch.randn(2, 32, 24, 24), ONEDNN)}


def read_bits(rows: list[dict]) -> Reading:
    """By the part of the values where oneDNN is nearer, of those where one side is: over 95 % a, under 5 % b, between c."""
    sums = {key: sum(row[key] for row in rows) for key in ("values", "differ", "on_nearer", "off_nearer")}
    counts = {"on": sums["on_nearer"], "off": sums["off_nearer"], "same": sums["values"] - sums["differ"]}
    if near := sums["differ"] - sums["on_nearer"] - sums["off_nearer"]:
        counts["near"] = near
    drawn = [{"who": who, "percent": 100 * count / sums["values"]} for who, count in counts.items()]
    decided = counts["on"] + counts["off"]
    if not decided:
        return Reading("d", drawn=drawn)
    share = counts["on"] / decided
    return Reading("a" if share > 0.95 else "b" if share < 0.05 else "c", {"share": share}, drawn)


# --- 04-gates -----------------------------------------------------------------------------------------------

GATES = {"layers": CUDNN, "attention": "cuda.enable_cudnn_sdp", "products": "", "rest": ""}
"""Operations -> the switch that they ask before cuDNN."""


@experiment(name="04-gates", lesson=LESSON, needs="cpu", seconds=1)
def gates(budget: Budget) -> list[dict]:
    """The switches that stand before cuDNN, as they are now; 1 is open, -1 means that there is none."""
    now = flags.read()
    return [
        {"group": group, "switch": switch, "open": int(now[switch] is True) if switch else -1}
        for group, switch in GATES.items()
    ]


def read_gates(rows: list[dict]) -> Reading:
    """The table is from PyTorch's source; of a switch the side that holds as it stands now is marked."""
    sides = {1: ["on"], 0: ["off"], -1: ["on", "off"]}
    drawn = [
        {"group": row["group"], "switch": row["switch"] or "none", "on": row["group"], "off": row["group"]}
        | {"told": sides[row["open"]]}
        for row in rows
    ]
    return Reading("told" if any(row["group"] == "layers" for row in rows) else None, drawn=drawn)


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
