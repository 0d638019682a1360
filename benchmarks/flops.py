"""Counters of work side by side: how often exact, how often silently zero, what they cost, what they leave
behind.

    python -m benchmarks.flops                 every tool, each in a process of its own, some minutes; stopped, it goes on
                                               where it was (--fresh starts anew)
    python -m benchmarks.flops --out FILE      where the tables go (default build/benchmarks/flops.md)
    python -m benchmarks.flops --tool thop     one tool, as JSON

Truth: the MACs derived by hand in benchmarks/zoo.py (forwards) and benchmarks/zoo_steps.py (training steps). Cost:
time of one count over time of one forward under no_grad, median of alternating rounds in the same process;
meaningful on a quiet machine only.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import nn

from benchmarks.flops_tools import PACKAGES, STEPS, TOOLS, Tool
from benchmarks.flops_traces import traces
from benchmarks.running import Rows, heading, markdown, options, publish, run_limited, stoppable, versions
from benchmarks.zoo import ZOO
from benchmarks.zoo_parts import Entry
from benchmarks.zoo_steps import STEPS as STEP_ZOO
from course import models
from course.core import machine
from course.lessons.l03_flops.peers import torch_as_it_was

LIMIT_S = 300
"""Seconds of CPU time after which a tool's process is ended: the same on a busy machine."""
ROWS = Path("build/benchmarks/flops.jsonl")
VERDICTS = {"zero": "silently 0", "wrong": "wrong", "flagged": "flagged", "crash": "crash"}
NOTES = (
    "silently 0: nothing reported for real work, without a word; wrong: another number, without a word; "
    "flagged: the tool says that something is missing.",
    "small: time of one count of nn.Linear(8, 8), median, after a first one.",
    "VGG16, ViT-B/16: time of one count in forwards (batch 1, 224 x 224, no_grad), median.",
    "The convention is that of course.flops: a tool that counts biases, norms or pooling on purpose is wrong by it.",
    "Training step: forward and backward; calflops multiplies its forward by three.",
)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        yield


def _verdict(run: Tool, entry: Entry, gradients: bool) -> str:
    try:
        with torch_as_it_was(), torch.set_grad_enabled(gradients):
            macs, flagged = run(*entry.make())
    except ImportError:
        raise
    except Exception:
        return "crash"
    if flagged:
        return "flagged"
    if macs == entry.macs:
        return "exact"
    return "zero" if macs == 0 else "wrong"


def _cost(run: Tool, model: nn.Module, x: torch.Tensor, rounds: int) -> tuple[float, float]:
    """Medians over rounds, after one of each: seconds of a count, and that time in forwards."""
    times = []
    for _ in range(rounds + 1):
        with torch_as_it_was(), torch.no_grad():
            start = time.perf_counter()
            model(x)
            middle = time.perf_counter()
            run(model, (x,))
            times.append((time.perf_counter() - middle, middle - start))
    return median(count for count, _ in times[1:]), median(count / forward for count, forward in times[1:])


def measure(tool: str, rounds: int) -> dict[str, Any]:
    """All columns of one tool."""
    with _quiet():
        run, step, image = TOOLS[tool], STEPS.get(tool), torch.randn(1, 3, 224, 224)
        return {
            "tool": tool,
            "forward": {entry.name: _verdict(run, entry, False) for entry in ZOO},
            "step": {entry.name: _verdict(step, entry, True) for entry in STEP_ZOO} if step else None,
            "small": _cost(run, nn.Linear(8, 8), torch.randn(2, 8), 4 * rounds)[0] * 1e3,
            "vgg16": _cost(run, models.vgg16().eval(), image, rounds)[1],
            "vit": _cost(run, models.vit_b_16().eval(), image, rounds)[1],
            "left": traces(run, stop=False),
            "left_after_exception": traces(run, stop=True),
        }


def _shares(verdicts: dict[str, str] | None) -> list[str]:
    if verdicts is None:
        return ["cannot: it counts forwards only", *[""] * len(VERDICTS)]
    seen = list(verdicts.values())
    return [f"{seen.count('exact') / len(seen):.0%}", *(str(seen.count(what)) for what in VERDICTS)]


def _left(result: dict[str, Any]) -> str:
    left = ", ".join(result["left"]) or "nothing"
    after = [what for what in result["left_after_exception"] if what not in result["left"]]
    return left + ("; after an exception also " + ", ".join(after) if after else "")


def tables(results: list[dict[str, Any]], failures: list[str]) -> Iterator[str]:
    """The three tables, and what they mean."""
    head, costs = ["tool", "exact", *VERDICTS.values()], ["small, ms", "VGG16", "ViT-B/16"]
    forwards, steps, left = [], [], []
    for result in results:
        cost = [f"{result['small']:.1f}", f"{result['vgg16']:.3f}", f"{result['vit']:.3f}"]
        forwards.append([result["tool"], *_shares(result["forward"]), *cost])
        steps.append([result["tool"], *_shares(result["step"])])
        left.append([result["tool"], _left(result)])
    yield from ("", f"## A forward: {len(ZOO)} modules with hand-derived MACs", "", *markdown(head + costs, forwards))
    yield from ("", f"## A training step: {len(STEP_ZOO)} modules with hand-derived MACs", "", *markdown(head, steps))
    yield from ("", "## Left behind in the model or in torch after one count", "", *markdown(["tool", "left"], left))
    yield from ("", *(f"- {line}" for line in (*NOTES, *_flagged(results), *failures)))


def _flagged(results: list[dict[str, Any]]) -> Iterator[str]:
    """The modules that a tool says it does not know whole."""
    for result in results:
        seen = {**result["forward"], **{f"{name} (step)": one for name, one in (result["step"] or {}).items()}}
        if names := [name for name, verdict in seen.items() if verdict == "flagged"]:
            yield f"{result['tool']} flagged: {', '.join(names)}."


def _one(tool: str, rounds: int) -> dict[str, Any] | str:
    """The columns of a tool from a process of its own, or why there are none."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.flops", "--tool", tool, "--rounds", str(rounds)]
    status, out, errors = run_limited(command, LIMIT_S)
    if status < 0:
        return f"{tool}: not measured, ended after {LIMIT_S} s of CPU time"
    if status:
        said = errors.strip().splitlines()
        return f"{tool}: not measured: {said[-1] if said else 'no output'}"
    return json.loads(out.strip().splitlines()[-1])


def main() -> None:
    """Print the tables and write them, or print one tool's JSON."""
    parser = options(__doc__, "flops.md")
    parser.add_argument("--tool", choices=TOOLS)
    parser.add_argument("--rounds", type=int, default=5, help="rounds of the cost measurement")
    parser.add_argument("--detail", action="store_true", help="name the modules each tool gets wrong")
    given = parser.parse_args()
    if given.tool:
        print(json.dumps(measure(given.tool, given.rounds)))
        return
    lines = list(heading("Counters of work beside their peers", f"{given.rounds} rounds", *PACKAGES))
    print(lines[-1], flush=True)
    about = {"torch": torch.__version__, "course": machine.passport()["course"], **versions(*PACKAGES)}
    zoo = {"forwards": [entry.name for entry in ZOO], "steps": [entry.name for entry in STEP_ZOO]}
    rows = Rows(ROWS, {"rounds": given.rounds, "about": about, **zoo}, given.fresh)
    results, failures = [], []
    for tool in TOOLS:
        found = rows.find(tool=tool) or _one(tool, given.rounds)
        if isinstance(found, str):
            failures.append(found)
            print(found, flush=True)
            continue
        if not rows.find(tool=tool):
            rows.add(**found)
        results.append(found)
        print(f"{tool}: {', '.join(_shares(found['forward']))}", flush=True)
        for kind in ("forward", "step") if given.detail else ():
            for name, verdict in (found[kind] or {}).items():
                if verdict != "exact":
                    print(f"    {kind:<8} {verdict:<8} {name}")
    publish([*lines, *tables(results, failures)], given.out)


if __name__ == "__main__":
    stoppable(main)
