"""Experiments of lesson 05 that need a GPU: does the search pay on this card, over many layers and in whole networks?"""

from __future__ import annotations

from collections.abc import Iterator

from course.core.i18n import both
from course.experiment.base import Budget, experiment
from course.experiment.new_process import call_in_new_process
from course.experiment.reading import Reading
from course.experiment.rows import groups
from course.lessons.l05_cudnn_benchmark.experiments import LESSON
from course.timing.stats import median

PROBES = "course.lessons.l05_cudnn_benchmark.probes_survey"
WAYS = ("off", "on")


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
