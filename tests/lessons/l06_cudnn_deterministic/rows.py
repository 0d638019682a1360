"""Lesson 06: invented rows that settle each bet on each of its options, and show the rest. Nothing was measured."""

from __future__ import annotations

from course.lessons.l06_cudnn_deterministic import probes as repro_probes
from course.lessons.l06_cudnn_deterministic.experiments import PAIRS


def cures(alone, lines, mode):
    counts = {"seeds alone": alone, "two lines": lines, "one thread": 1, "algorithms": mode}
    return [
        {"cure": cure, "runs": 20, "different": kinds, "each": [21 - kinds] + [1] * (kinds - 1), "threads": 4}
        for cure, kinds in counts.items()
    ]


def company(change):
    return [
        {
            "batch": b,
            "same_bits": int(not change),
            "repeats": 1,
            "numbers": 512,
            "numbers_changed": 400 * bool(change),
            "largest_change": change,
        }
        for b in (1, 2)
    ] + [{"batch": 64, "same_bits": 1, "repeats": 1, "numbers": 512, "numbers_changed": 0, "largest_change": 0.0}]


def seeds(here, workers):
    return [
        {"setting": setting, "source": source, "here": here, "workers": workers}
        for setting in repro_probes.SETTINGS
        for source in ("random", "numpy", "torch")
    ]


def drift(far, control=0.0):
    return [
        {"story": story, "step": step, "loss": 2.0, "difference": size}
        for story, size in (("gan", far), ("line", 1e-7), ("control", control))
        for step in (1, 2)
    ]


def costs(*verdicts):
    return [
        {"operation": name, "ratio": 1.5, "low": 1.2, "high": 1.8, "verdict": verdict, "threads": 2}
        for name, verdict in zip(("10 places", "100000 places", "torch.empty"), verdicts, strict=True)
    ]


def table(first_alone, first_both, bits_both=1, kernels_both=("made_up",) * 3):
    """kernels_both: of each process with both switches on; another set gives other bits."""
    rows = []
    for benchmark, deterministic in PAIRS:
        first = {(0, 0): 9.0, (0, 1): 9.0, (1, 0): first_alone, (1, 1): first_both}[benchmark, deterministic]
        rows += [
            {
                "benchmark": benchmark,
                "deterministic": deterministic,
                "process": process,
                "first_ms": first,
                "later_ms": 1.0,
                "different_bits": bits_both if benchmark and deterministic else 1,
                "bits": kernels,
                "kernels": kernels,
            }
            for process, kernels in enumerate(kernels_both if benchmark and deterministic else ("made_up",) * 3)
        ]
    return rows


def trainings(kinds):
    return [
        {"run": run, "threads": 4, "bits": f"made up {run % kinds}", "first_entry": 1.0 + 1e-6 * (run % kinds)}
        for run in range(1, 11)
    ]


FURTHER = {
    "06-bet-agree": [(trainings(1), "a"), (trainings(3), "b"), (trainings(10), "c")],
    "06-bet-cure": [
        (cures(9, 1, 9), "a"),
        (cures(9, 9, 1), "b"),
        (cures(9, 1, 1), "c"),
        (cures(9, 9, 9), "d"),
        (cures(1, 1, 1), None),
    ],
    "06-bet-company": [(company(0.0), "a"), (company(1e-7), "b"), (company(0.1), "c")],
    "06-bet-workers": [(seeds(0, 0), "a"), (seeds(0, 1), "b"), (seeds(1, 0), "c"), (seeds(1, 1), "d")],
    "06-bet-ulp": [
        (drift(1e-6), "a"),
        (drift(0.01), "b"),
        (drift(1.5), "c"),
        (drift(0.0), None),
        (drift(1.5, 0.1), None),
    ],
    "06-bet-cost": [
        (costs("slower", "slower", "slower"), "a"),
        (costs("faster", "same", "slower"), "b"),
        (costs("faster", "same", "same"), "c"),
        (costs("faster", "undecided", "slower"), "b"),  # only this option is left
        (costs("slower", "undecided", "slower"), None),
        (costs("same", "undecided", "same"), None),
    ],
    "06-bet-both": [
        (table(400.0, 9.0), "a"),
        (table(400.0, 300.0, 5), "b"),
        (table(400.0, 9.0, kernels_both=("other", "made_up", "other")), "c"),  # kernels need no clock
        (table(400.0, 300.0), "c"),
        (table(10.0, 10.0), None),
        (table(400.0, 20.0), None),
    ],
}


ROWS = {bet: {option: rows for rows, option in outcomes if option} for bet, outcomes in FURTHER.items()}
SHOWN = {}


FEW = [{**row, "low": None, "high": None, "rounds": 4} for row in costs("undecided", "undecided", "undecided")]
BRANCHES = {
    "06-cures": [],
    "06-cost": [costs("same", "same", "slower"), costs("same", "same", "same")],
    "06-one-ulp": [],
    "06-truth-table-cuda": [],
}
"""Further outcomes that have words of their own: experiment -> rows of each."""

RECORDED = {
    "06-truth-table-cuda": (
        "`deterministic` is not enough across processes: with the search on, results differ.",
        {"06-bet-both": "c"},
    )
}
"""What the recordings made on a GPU say, derived by hand from their rows: experiment -> headline, bets."""
