"""Experiments of lesson 06 on sums in another order: other threads, another batch, other pieces."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading
from course.flags import using
from course.i18n import both
from course.lessons.l06_cudnn_deterministic.experiments import LESSON
from course.lessons.l06_cudnn_deterministic.training import fingerprint

SUM_SIZES, SUM_THREADS = (1000, 32_768, 32_769, 200_000, 1_000_000), (1, 2, 3, 4, 8)
BATCHES, ROWS = (1, 2, 3, 4, 8, 16, 32, 64), 64

# --- 06-threads-sum -----------------------------------------------------------------------------------------


@experiment(name="06-threads-sum", lesson=LESSON, version=1, needs="cpu", seconds=4)
def threads_sum(budget: Budget) -> list[dict]:
    """Ten lists of each length, summed with five numbers of threads, three times each."""
    rng = torch.Generator().manual_seed(0)
    rows = []
    for size in budget.loop(SUM_SIZES, desc=both("sums", "求和中")):
        lists = [torch.randn(size, generator=rng) for _ in range(10)]
        seen = {}
        for count in SUM_THREADS:
            with using({"torch.num_threads": count}):
                seen[count] = [[values.sum().item().hex() for values in lists] for _ in range(3)]
        changed = sum(len({seen[count][0][i] for count in SUM_THREADS}) > 1 for i in range(len(lists)))
        rows.append(
            {
                "numbers": size,
                "lists": len(lists),
                "lists_changed_by_threads": changed,
                "lists_changed_by_repeating": sum(
                    len({again[i] for again in seen[count]}) > 1 for count in SUM_THREADS for i in range(len(lists))
                ),
            }
        )
    return rows


def read_threads_sum(rows: list[dict]) -> Reading:
    changed = {row["numbers"]: row["lists_changed_by_threads"] > 0 for row in rows}
    drawn = [{**row, "said": "changed" if changed[row["numbers"]] else "unchanged"} for row in rows]
    short, long = changed.get(SUM_SIZES[0]), changed.get(SUM_SIZES[-1])
    if short and long is False:
        return Reading("only short sums", drawn=drawn, bets={"06-bet-threads": None})
    return Reading({(False, False): "a", (True, True): "b", (False, True): "c"}.get((short, long)), drawn=drawn)


# --- 06-company ---------------------------------------------------------------------------------------------


@experiment(name="06-company", lesson=LESSON, version=1, needs="cpu", seconds=4, whole=True)
def company(budget: Budget) -> list[dict]:
    """The first row of a batch through a linear layer, in batches of 1 to 64; compared with the batch of 64."""
    rng = torch.Generator().manual_seed(0)
    weight, inputs = torch.randn(512, 512, generator=rng), torch.randn(ROWS, 512, generator=rng)
    rows = []
    with torch.inference_mode():
        full = F.linear(inputs, weight)[0]
        for batch in budget.loop(BATCHES, desc=both("batches", "batch")):
            mine = F.linear(inputs[:batch], weight)[0]
            again = F.linear(inputs[:batch], weight)[0]
            rows.append(
                {
                    "batch": batch,
                    "same_bits": int(torch.equal(mine, full)),
                    "repeats": int(torch.equal(mine, again)),
                    "numbers": len(mine),
                    "numbers_changed": int((mine != full).sum()),
                    "largest_change": float((mine - full).abs().max() / full.abs().max()),
                }
            )
    return rows


def read_company(rows: list[dict]) -> Reading:
    """How many outputs of the row have other bits than in the batch of 64, and whether they are a rounding apart."""
    worst = max(row["largest_change"] for row in rows)
    drawn = [
        {
            **row,
            "percent": 100 * row["numbers_changed"] / row["numbers"],
            "said": "same" if row["same_bits"] else "near" if row["largest_change"] < 1e-4 else "far",
        }
        for row in rows
        if row["batch"] != ROWS
    ]
    if len(rows) < 3 or rows[0]["batch"] != 1:
        return Reading(drawn=drawn)
    same = all(row["same_bits"] for row in rows)
    return Reading("a" if same else "b" if worst < 1e-4 else "c", drawn=drawn)


# --- 06-pieces ----------------------------------------------------------------------------------------------


@experiment(name="06-pieces", lesson=LESSON, version=1, needs="cpu", seconds=3, whole=True)
def pieces(budget: Budget) -> list[dict]:
    """A matrix product whose inner dimension is cut in pieces (split-K), against float64."""
    rng = torch.Generator().manual_seed(0)
    a, b = torch.randn(64, 4096, generator=rng), torch.randn(4096, 64, generator=rng)
    truth = a.double() @ b.double()
    rows = []
    for count in budget.loop((1, 2, 4, 8, 16, 32), desc=both("pieces", "分段")):
        total = sum(p @ q for p, q in zip(a.chunk(count, 1), b.chunk(count, 0), strict=True))
        error = (total.double() - truth).abs()
        rows.append(
            {
                "pieces": count,
                "bits": fingerprint(total),
                "largest_error": error.max().item(),
                "mean_error": error.mean().item(),
                "largest_value": truth.abs().max().item(),
            }
        )
    return rows


def read_pieces(rows: list[dict]) -> Reading | None:
    different, errors = len({row["bits"] for row in rows}), [row["largest_error"] for row in rows]
    if len(rows) < 2:
        return None
    alike = max(errors) < 2 * min(errors)
    outcome = "one result" if different == 1 else "equally accurate" if alike else "some more accurate"
    return Reading(outcome, {"different": different}, [{**row, "off": 1e6 * row["largest_error"]} for row in rows])
