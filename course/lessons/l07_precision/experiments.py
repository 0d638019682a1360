"""Experiments of lesson 07: what oneDNN does with a permission, the tree of switches, what becomes of rounded products, TF32's speed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from course import flags
from course.core.i18n import both
from course.core.tables import SAME
from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.reading import FEW, Reading, groups
from course.models.rounding import product, relative_error, round_bits
from course.timing.stats import median, median_interval

LESSON = "07_precision"
PROBES = "course.lessons.l07_precision.probes"
NAMES = ("float32", "tf32", "bfloat16")


def pick_rows(rows: list[dict], value: str, **wanted: Any) -> list[float]:
    """The column ``value`` of the rows that carry all wanted values."""
    return [row[value] for row in rows if all(row.get(key) == one for key, one in wanted.items())]


# --- 07-onednn ----------------------------------------------------------------------------------------------


def _bf16_units() -> str:
    """Whether torch reports instructions for bf16 here: yes, no or unknown."""
    tests = [getattr(torch.cpu, name, None) for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported")]
    known = [test() for test in tests if callable(test)]
    return "unknown" if not known else "yes" if any(known) else "no"


@experiment(name="07-onednn", lesson=LESSON, version=1, needs="mkldnn", seconds=15)
def onednn(budget: Budget) -> Iterator[dict]:
    """Error of matmul, convolution and LSTM under each permission, and what rounded inputs would give."""
    torch.manual_seed(0)
    a, b = torch.randn(64, 2048), torch.randn(2048, 64)
    x, w = torch.randn(4, 32, 32, 32), torch.randn(32, 32, 3, 3)
    lstm, steps = torch.nn.LSTM(64, 64), torch.randn(8, 4, 64)
    calls = {
        "matmul": lambda a=a, b=b: a @ b,
        "conv": lambda: torch.nn.functional.conv2d(x, w),
        "rnn": lambda: lstm(steps)[0],
    }
    with torch.no_grad():
        exact = {
            "matmul": a.double() @ b.double(),
            "rnn": lstm.double()(steps.double())[0],
            "conv": torch.nn.functional.conv2d(x.double(), w.double()),
        }
        lstm.float()
        for name, call in budget.loop(calls.items(), desc=both("operations", "运算")):
            plain = call()
            for permission in ("none", "ieee", "tf32", "bf16"):
                with flags.using({f"mkldnn.{name}.fp32_precision": permission}):
                    result = call()
                yield {
                    "operation": name,
                    "permission": permission,
                    "relative": relative_error(result, exact[name]),
                    "same_bits": int(torch.equal(result, plain)),
                    "bf16_units": _bf16_units(),
                }
    for permission, bits in (("tf32", 10), ("bf16", 7)):
        error = relative_error(round_bits(a, bits) @ round_bits(b, bits), exact["matmul"])
        yield {"operation": "simulated", "permission": permission, "relative": error}


def read_onednn(rows: list[dict]) -> Reading | None:
    """Whether a product with bf16 allowed errs like float32, or like inputs that are really rounded."""
    errors = {(row["operation"], row["permission"]): row["relative"] for row in rows}
    cases = {"plain": ("matmul", "ieee"), "allowed": ("matmul", "bf16"), "rounded": ("simulated", "bf16")}
    if not set(cases.values()) <= set(errors):
        return None
    found = {name: errors[case] for name, case in cases.items()}
    drawn = [{"what": name, "error": error} for name, error in found.items()]
    if found["allowed"] > 0.3 * found["rounded"]:
        return Reading("a", found, drawn)
    if found["allowed"] < 10 * found["plain"]:
        return Reading("b", found, drawn)
    return Reading("in between", found, drawn, {"07-bet-onednn": None})


# --- 07-tree ------------------------------------------------------------------------------------------------


@experiment(name="07-tree", lesson=LESSON, version=1, needs="cpu", seconds=15)
def tree(budget: Budget) -> list[dict]:
    """Every node before and after one node was set, in a new process."""
    return rows_of(PROBES, "tree")


def read_tree(rows: list[dict]) -> Reading | None:
    """What each node reads after one was set. The bet speaks of the first line, in which nothing was set."""
    lines = {label: {row["node"]: row["after"] for row in mine} for label, mine in groups(rows, "set").items()}
    if not (start := lines.pop("nothing", None)):
        return None
    drawn = [{"set": "nothing", **start, "told": [node for node, value in start.items() if value != "none"]}]
    for label, after in lines.items():
        changed = [node for node, value in after.items() if value != start[node]]
        drawn.append(
            {"set": label, **dict.fromkeys(after, SAME), **{node: after[node] for node in changed}, "told": changed}
        )
    conv, rnn, matmul = (start.get(leaf) == "tf32" for leaf in ("cudnn.conv", "cudnn.rnn", "cuda.matmul"))
    allowed = [name for name, on in (("cuDNN conv", conv), ("cuDNN RNN", rnn), ("matmul", matmul)) if on]
    option = None if conv != rnn else {(0, 0): "a", (1, 0): "b", (0, 1): "c", (1, 1): "d"}[conv, matmul]
    outcome = option if option in ("a", "b") else "others"
    return Reading(outcome, {"allowed": allowed}, drawn, {"07-bet-default": option})


# --- 07-mixing ----------------------------------------------------------------------------------------------


@experiment(name="07-mixing", lesson=LESSON, version=1, needs="cpu", seconds=15)
def mixing(budget: Budget) -> list[dict]:
    """Values or errors of the three older readings after seven ways to write, in a new process."""
    return rows_of(PROBES, "mixing")


def read_mixing(rows: list[dict]) -> Reading:
    """What each reading gives after each writing. The bet speaks of the old flag after TF32 was set at the root."""
    drawn = []
    for wrote, mine in groups(rows, "wrote").items():
        outcomes = {row["read"]: row["outcome"] for row in mine}
        told = [read for read, outcome in outcomes.items() if outcome == "raises"]
        drawn.append({"wrote": wrote, **outcomes, "told": told})
    asked = next((line for line in drawn if line["wrote"] == "fp32_precision = tf32"), {}).get("cuda.matmul.allow_tf32")
    option = {"True": "a", "False": "b", "raises": "c"}.get(asked)
    outcome = asked and ("c" if option == "c" else "told")
    return Reading(outcome, {"asked": asked}, drawn, {"07-bet-mixing": option})


# --- 07-neighbours ------------------------------------------------------------------------------------------


def _squared_distances(x: Tensor, name: str) -> Tensor:
    """All squared distances by one matrix product, whose inputs are rounded to the format ``name``."""
    square = (x * x).sum(1)
    return square[:, None] + square[None] - 2 * product(x, x.T, name)


@experiment(name="07-neighbours", lesson=LESSON, version=1, needs="cpu", seconds=15)
def neighbours(budget: Budget) -> Iterator[dict]:
    """Share of right nearest neighbours among 300 points; distances by |x|² + |y|² - 2 x·y, offset growing."""
    for seed in budget.loop(range(5), desc=both("clouds of points", "点云")):
        points = torch.randn(300, 16, generator=torch.Generator().manual_seed(seed))
        for offset in (0, 1, 3, 10, 30, 100, 300):
            moved = points + offset
            truth = (
                torch.cdist(moved.double(), moved.double(), compute_mode="donot_use_mm_for_euclid_dist")
                .fill_diagonal_(torch.inf)
                .argmin(1)
            )
            stories = {name: (moved, name) for name in NAMES}
            stories["tf32, mean removed"] = (moved - moved.mean(0), "tf32")
            for story, (x, name) in stories.items():
                found = _squared_distances(x, name).fill_diagonal_(torch.inf).argmin(1)
                yield {"seed": seed, "offset": offset, "story": story, "share": (found == truth).double().mean().item()}


def read_neighbours(rows: list[dict]) -> Reading:
    """Whether TF32 finds the nearest neighbours at 100 away from zero, and whether removing the mean cures it."""
    offsets, stories = sorted({row["offset"] for row in rows}), groups(rows, "story")
    drawn = []
    for place, offset in enumerate(offsets):
        shares = {story: pick_rows(mine, "share", offset=offset) for story, mine in stories.items()}
        drawn.append(
            {"place": place, "offset": offset} | {s: 100 * median(one) if one else None for s, one in shares.items()}
        )
    seen = next((row for row in drawn if row["offset"] == 100), {})
    if any(seen.get(story) is None for story in ("float32", "tf32", "tf32, mean removed")):
        return Reading(drawn=drawn)
    plain, low, cured = seen["float32"], seen["tf32"], seen["tf32, mean removed"]
    if plain - low < 10:
        return Reading("finds them", drawn=drawn)
    return Reading("loses some" if plain - cured >= 10 else "loses some, cured", drawn=drawn)


# --- 07-solve -----------------------------------------------------------------------------------------------


@experiment(name="07-solve", lesson=LESSON, version=1, needs="cpu", seconds=15)
def solve(budget: Budget) -> Iterator[dict]:
    """x ← x + M (b - A x), M an inverse of A; residual and step each computed in a format of their own."""
    stories = {
        "all float32": ("float32", "float32"),
        "all TF32": ("tf32", "tf32"),
        "step TF32, residual float32": ("float32", "tf32"),
    }
    for seed in budget.loop(range(7), desc=both("systems", "方程组")):
        random = torch.Generator().manual_seed(seed)
        a = torch.eye(128) * 12 + torch.randn(128, 128, generator=random) / 2
        b = torch.randn(128, 1, generator=random)
        exact, inverse = torch.linalg.solve(a.double(), b.double()), torch.linalg.inv(a)
        for story, (residual, step) in stories.items():
            x = torch.zeros(128, 1)
            for turn in range(1, 9):
                x = x + product(inverse, b - product(a, x, residual), step)
                yield {"seed": seed, "story": story, "turn": turn, "relative": relative_error(x, exact)}


def read_solve(rows: list[dict]) -> Reading | None:
    """The error after the last turn, in each format and in the mixture of both."""
    turn = max(row["turn"] for row in rows)
    final = {story: median(pick_rows(mine, "relative", turn=turn)) for story, mine in groups(rows, "story").items()}
    if len(final) < 3:
        return None
    drawn = [{"story": story, "error": error} for story, error in final.items()]
    plain, low, mixed = (final[story] for story in ("all float32", "all TF32", "step TF32, residual float32"))
    option = "b" if mixed < 5 * plain else "a" if 0.3 * low < mixed < 3 * low else "c" if mixed > 3 * low else None
    if low < 10 * plain:  # nothing lies between the two
        option = None
    outcome = "nothing to cure" if low < 10 * plain else option or "helps"
    return Reading(outcome, {"plain": plain, "low": low}, drawn, {"07-bet-solve": option})


# --- 07-noise -----------------------------------------------------------------------------------------------


def _gradient(x: Tensor, y: Tensor, first: Tensor, second: Tensor, name: str) -> Tensor:
    """Gradient of the mean squared error of tanh(x first) second, every product rounded; one flat vector."""
    hidden = torch.tanh(product(x, first, name))
    wrong = 2 * (product(hidden, second, name) - y) / len(x)
    back = product(wrong, second.T, name) * (1 - hidden * hidden)
    return torch.cat([product(x.T, back, name).flatten(), product(hidden.T, wrong, name).flatten()])


@experiment(name="07-noise", lesson=LESSON, version=1, needs="cpu", seconds=15)
def noise(budget: Budget) -> Iterator[dict]:
    """A small network: distance of a batch's gradient from that of all data, and what rounding adds to it."""
    random = torch.Generator().manual_seed(0)
    x, teacher = torch.randn(4096, 32, generator=random), torch.randn(32, 1, generator=random)
    y = torch.tanh(x @ teacher) + 0.1 * torch.randn(4096, 1, generator=random)
    first = torch.randn(32, 64, generator=random) / 6
    second = torch.randn(64, 1, generator=random) / 8
    whole = _gradient(x, y, first, second, "float32")
    for draw in budget.loop(range(31), desc=both("batches", "batch")):
        chosen = torch.randperm(4096, generator=random)[:64]
        batch = _gradient(x[chosen], y[chosen], first, second, "float32")
        row: dict[str, Any] = {"draw": draw, "batch": relative_error(batch, whole)}
        for name in ("tf32", "bfloat16"):
            row[name] = relative_error(_gradient(x[chosen], y[chosen], first, second, name), batch)
        yield row


def read_noise(rows: list[dict]) -> Reading:
    """By how much of its length the gradient moved; which of batch and TF32 moves it more, by the interval of their ratio."""
    sources = ("batch", "tf32", "bfloat16")
    drawn = [{"source": name, "percent": 100 * median([row[name] for row in rows])} for name in sources]
    if len(rows) < FEW:
        return Reading(drawn=drawn)
    span = median_interval([row["batch"] / row["tf32"] for row in rows])
    sure = {"c": span.low > 10, "a": span.high < 0.5, "b": span.low > 0.5 and span.high < 10}
    return Reading(next((option for option, holds in sure.items() if holds), None), drawn=drawn)


def _in_time(budget: Budget, rows: list[dict], whole: int) -> list[dict]:
    """The rows; the record is marked incomplete where the new process had to stop early."""
    budget.complete = budget.complete and len(rows) == whole
    return rows


# --- 07-speed-cuda ------------------------------------------------------------------------------------------


@experiment(name="07-speed-cuda", lesson=LESSON, version=1, needs="cuda", seconds=90, whole=True)
def speed_cuda(budget: Budget, sizes: tuple[int, ...] = (256, 1024, 4096)) -> list[dict]:
    """time(TF32 allowed) / time(forbidden) of matmul and convolution at three sizes, taking turns."""
    return _in_time(budget, rows_of(PROBES, "speed", list(sizes), budget.left(), timeout_s=180), 2 * len(sizes))


def read_speed_cuda(rows: list[dict]) -> Reading:
    """Faster everywhere, somewhere or nowhere. Faster here and not there is "somewhere", whatever is undecided."""
    verdicts = [row["verdict"] for row in rows]
    faster, others = "faster" in verdicts, {"same", "slower"} & set(verdicts)
    drawn = [{**row, "case": f"{row['operation']} {row['size']}"} for row in rows]
    if "undecided" in verdicts and not (faster and others):
        return Reading(drawn=drawn)
    outcome = ("b" if others else "a") if faster else "c"
    most = max((1 / row["ratio"] for row in rows if row["verdict"] == "faster"), default=1)
    return Reading(outcome, {"most": most}, drawn)
