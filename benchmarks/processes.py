"""What holds from process to process: equal code called equal, a fifth more work found, intervals that cover a repetition.

    python -m benchmarks.processes                  40 comparisons each, 20 runs of measure: about 17 minutes
    python -m benchmarks.processes --look           one of each: about a minute
    python -m benchmarks.processes --jobs benchmarks.process_jobs_plain      functions without torch, whose import fills
                                                    most of the 10 s beside busy neighbours

compare(..., fresh_process=True) gets 10 s a comparison, starting the processes (each imports torch) included.
one pair: the same comparisons, had they stopped after the first pair of processes and believed a ratio beyond the gate.
measure(..., processes=5): how often the median of one run lies in the interval of another, all pairs of runs; beside it
the same for intervals of measure in a single process.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from benchmarks.timing import heading, markdown
from course.timing import Comparison, Measurement, compare, measure

OUT = Path("build/benchmarks/processes.md")
JOBS = "benchmarks.process_jobs"
BUDGET_S = 10.0
GATE = 0.02
ENOUGH = 4


def comparison(jobs: str, other: str) -> Comparison:
    """One comparison over processes."""
    return compare(
        {"one": f"{jobs}:one", "other": f"{jobs}:{other}"}, max_time=BUDGET_S, gate=GATE, same=False, fresh_process=True
    )


def alone(jobs: str) -> Measurement:
    """One run of measure as a script makes it: in a process that does nothing else."""
    code = (
        f"import json; from dataclasses import asdict; from {jobs} import one; from course.timing import measure; "
        "print(json.dumps(asdict(measure(one, max_time=1.0, device='cpu'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True)
    return Measurement.from_plain(json.loads(done.stdout))


def comparison_lines(equal: Sequence[Comparison], planted: Sequence[Comparison]) -> list[list[str]]:
    """The table of verdicts."""
    lines = []
    for name, found in (("equal code", equal), ("20 % more work", planted)):
        enough = sum(c.processes >= ENOUGH for c in found)
        verdicts = [f"{sum(c.verdict == v for c in found)}" for v in ("faster", "slower", "same", "undecided")]
        pair = sum(abs(c.ratios[0] - 1) > GATE for c in found)
        ratios = sorted(c.ratio for c in found)
        width = sorted(c.high - c.low for c in found)[len(found) // 2] if found else 0.0
        reach = f"{ratios[0]:.3f} – {ratios[-1]:.3f}" if ratios else "-"
        processes = f"{min(c.processes for c in found)} – {max(c.processes for c in found)}" if found else "-"
        longest = f"{max(c.seconds for c in found):.1f}" if found else "-"
        lines.append(
            [name, str(len(found)), *verdicts, f"{pair}", reach, f"{width:.3f}", processes, f"{enough}", longest]
        )
    return lines


def covered(runs: Sequence[Measurement]) -> tuple[int, int]:
    """Ordered pairs of runs in which the median of the second lies in the interval of the first, of how many."""
    pairs = list(itertools.permutations(runs, 2))
    return sum(a.low_ms <= b.median_ms <= a.high_ms for a, b in pairs), len(pairs)


def coverage_lines(several: Sequence[Measurement], alone: Sequence[Measurement]) -> list[list[str]]:
    """The table of repetitions."""
    lines = []
    for name, runs in (("measure(processes=5)", several), ("measure in one process", alone)):
        inside, count = covered(runs)
        medians = sorted(m.median_ms for m in runs)
        spread = f"{medians[-1] / medians[0] - 1:.1%}" if medians else "-"
        lines.append([name, str(len(runs)), f"{inside} of {count}", spread])
    return lines


def study(jobs: str, repeats: int, runs: int, results: dict[str, list[Any]]) -> None:
    """Fill `results`, the kinds taking turns, so that all meet the same moods of the machine."""
    kinds: dict[str, tuple[int, Callable[[], Any]]] = {
        "equal": (repeats, lambda: comparison(jobs, "other")),
        "planted": (repeats, lambda: comparison(jobs, "longer")),
        "several": (runs, lambda: measure(f"{jobs}:one", processes=5)),
        "alone": (runs, lambda: alone(jobs)),
    }
    order = sorted(((at + 0.5) / count, kind) for kind, (count, _) in kinds.items() for at in range(count))
    for _, kind in tqdm(order, leave=False):
        results[kind].append(kinds[kind][1]())


def main() -> None:
    """Measure, print the tables and write them; an interrupt writes what there is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=40, help="comparisons each (default 40)")
    parser.add_argument("--runs", type=int, default=20, help="runs of measure (default 20)")
    parser.add_argument("--jobs", default=JOBS, metavar="MODULE", help=f"the functions (default {JOBS})")
    parser.add_argument("--look", action="store_true", help="one comparison each and two runs")
    parser.add_argument("--out", type=Path, default=OUT, help=f"the Markdown file (default {OUT})")
    options = parser.parse_args()
    repeats, runs = (1, 2) if options.look else (options.repeats, options.runs)
    results: dict[str, list[Any]] = {"equal": [], "planted": [], "several": [], "alone": []}
    interrupted = False
    lines = [*heading(f"{repeats} comparisons a cell, {BUDGET_S:g} s each, new processes")]
    try:
        study(options.jobs, repeats, runs, results)
    except KeyboardInterrupt:
        interrupted = True
    head = [
        "",
        "tries",
        "faster",
        "slower",
        "same",
        "undecided",
        "one pair beyond the gate",
        "ratios",
        "median width",
        "processes each",
        f"with {ENOUGH} or more",
        "longest (s)",
    ]
    lines += [
        "",
        *markdown(head, comparison_lines(results["equal"], results["planted"])),
        "",
        *markdown(
            ["", "runs", "median in the interval of another run", "medians spread over"],
            coverage_lines(results["several"], results["alone"]),
        ),
    ]
    print("\n".join(lines))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = {kind: [row for result in found for row in result.rows()] for kind, found in results.items()}
    options.out.with_suffix(".json").write_text(json.dumps(rows), encoding="utf-8")
    if interrupted:
        sys.exit(130)


if __name__ == "__main__":
    main()
