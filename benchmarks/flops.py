"""Counters of work side by side: how often exact, how often silently zero, what they cost, what they leave
behind.

    python -m benchmarks.flops                 every tool, each in a process of its own, some minutes; stopped, it goes on
                                               where it was (--fresh starts anew)
    python -m benchmarks.flops --out FILE      the same, and the tables as Markdown with machine and versions
    python -m benchmarks.flops --tool thop     one tool, as JSON

Truth: the MACs derived by hand in benchmarks/zoo.py (forwards) and benchmarks/zoo_steps.py (training steps). Cost:
time of one count over time of one forward under no_grad, median of alternating rounds in the same process;
meaningful on a quiet machine only.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import logging
import sys
import time
import warnings
from collections.abc import Iterator
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import nn

from benchmarks.flops_tools import PACKAGES, STEPS, TOOLS, Tool
from benchmarks.flops_traces import traces
from benchmarks.running import Rows, busy_words, run_limited, stoppable
from benchmarks.zoo import ZOO
from benchmarks.zoo_parts import Entry
from benchmarks.zoo_steps import STEPS as STEP_ZOO
from course import machine, models
from course.crosscheck.peers import torch_as_it_was

LIMIT_S = 300
"""Seconds of CPU time after which a tool's process is ended: the same on a busy machine."""
ROWS = Path("build/benchmarks/flops.jsonl")


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
    if macs == entry.macs:
        return "exact"
    if flagged:
        return "flagged"
    return "zero" if macs == 0 else "wrong"


def _cost(run: Tool, model: nn.Module, rounds: int) -> float:
    """Median over rounds of (time of one count) / (time of one forward), after one of each."""
    model.eval()
    x, ratios = torch.randn(1, 3, 224, 224), []
    for _ in range(rounds + 1):
        with torch_as_it_was(), torch.no_grad():
            start = time.perf_counter()
            model(x)
            middle = time.perf_counter()
            run(model, (x,))
            ratios.append((time.perf_counter() - middle) / (middle - start))
    return median(ratios[1:])


def _small(run: Tool, rounds: int) -> float:
    """Milliseconds of a count of a small layer, the median over rounds, after one."""
    model, x, times = nn.Linear(8, 8), torch.randn(2, 8), []
    for _ in range(4 * rounds + 1):
        with torch_as_it_was(), torch.no_grad():
            start = time.perf_counter()
            run(model, (x,))
            times.append((time.perf_counter() - start) * 1e3)
    return median(times[1:])


def measure(tool: str, rounds: int) -> dict[str, Any]:
    """All columns of one tool."""
    with _quiet():
        run, step = TOOLS[tool], STEPS.get(tool)
        return {
            "tool": tool,
            "forward": {entry.name: _verdict(run, entry, False) for entry in ZOO},
            "step": {entry.name: _verdict(step, entry, True) for entry in STEP_ZOO} if step else None,
            "small": _small(run, rounds),
            "vgg16": _cost(run, models.vgg16(), rounds),
            "vit": _cost(run, models.vit_b_16(), rounds),
            "left": traces(run, stop=False),
            "left_after_exception": traces(run, stop=True),
        }


HEADER = ("tool", "exact", "silently 0", "wrong", "flagged", "crash", "small, ms", "VGG16", "ViT-B/16")
STEP_HEADER = ("tool", "exact", "silently 0", "wrong", "flagged", "crash")


def _shares(verdicts: dict[str, str]) -> list[str]:
    seen = list(verdicts.values())
    numbers = [str(seen.count(what)) for what in ("zero", "wrong", "flagged", "crash")]
    return [f"{seen.count('exact') / len(seen):.0%}", *numbers]


def _forward_cells(result: dict[str, Any]) -> list[str]:
    return [
        result["tool"],
        *_shares(result["forward"]),
        f"{result['small']:.1f}",
        f"{result['vgg16']:.3f}",
        f"{result['vit']:.3f}",
    ]


def _step_cells(result: dict[str, Any]) -> list[str]:
    if result["step"] is None:
        return [result["tool"], "cannot: it counts forwards only", "", "", "", ""]
    return [result["tool"], *_shares(result["step"])]


def _left(result: dict[str, Any]) -> str:
    left = ", ".join(result["left"]) or "nothing"
    after = [what for what in result["left_after_exception"] if what not in result["left"]]
    return left + ("; after an exception also " + ", ".join(after) if after else "")


NOTES = (
    "silently 0: nothing reported for real work, without a word; wrong: another number, without a word; "
    "flagged: the tool says that something is missing.",
    "small: time of one count of nn.Linear(8, 8), median, after a first one.",
    "VGG16, ViT-B/16: time of one count in forwards (batch 1, 224 x 224, no_grad), median.",
    "The convention is that of course.flops: a tool that counts biases, norms or pooling on purpose is wrong by it.",
    "Training step: forward and backward; calflops multiplies its forward by three.",
)


def _passport() -> list[str]:
    about, versions = machine.passport(), []
    for name in PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            versions.append(f"{name} {version(name)}")
    return [
        f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC",
        f"{about['cpu']}, {about['cores']} cores, {about['threads']} threads, {about['os']}, Python {about['python']}",
        f"torch {about['torch']}, oneDNN {about['onednn']}, course {about['course']}",
        ", ".join(versions),
    ]


def _markdown(header: tuple[str, ...], lines: list[list[str]]) -> list[str]:
    rows = [list(header), ["---"] + ["---:"] * (len(header) - 1), *lines]
    return ["| " + " | ".join(row) + " |" for row in rows]


def as_markdown(results: list[dict[str, Any]], failures: list[str]) -> str:
    """Machine, versions, date, and the three tables."""
    lines = [
        "# Counters of work beside their peers",
        "",
        *(f"- {line}" for line in _passport()),
        "",
        f"## A forward: {len(ZOO)} modules with hand-derived MACs",
        "",
        *_markdown(HEADER, [_forward_cells(result) for result in results]),
        "",
        f"## A training step: {len(STEP_ZOO)} modules with hand-derived MACs",
        "",
        *_markdown(STEP_HEADER, [_step_cells(result) for result in results]),
        "",
        "## Left behind in the model or in torch after one count",
        "",
        *_markdown(("tool", "left"), [[result["tool"], _left(result)] for result in results]),
        "",
        *(f"- {line}" for line in (*NOTES, *failures)),
    ]
    return "\n".join(lines) + "\n"


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


def _print(result: dict[str, Any], detail: bool) -> None:
    forward, step = _forward_cells(result), _step_cells(result)
    print(f"{forward[0]:<21}" + "".join(f"{cell:>11}" for cell in forward[1:]) + f"  {_left(result)}", flush=True)
    print(f"{'  training step':<21}" + "".join(f"{cell:>11}" for cell in step[1:]).rstrip(), flush=True)
    for kind in ("forward", "step") if detail else ():
        for name, verdict in (result[kind] or {}).items():
            if verdict != "exact":
                print(f"    {kind:<8} {verdict:<8} {name}")


def main() -> None:
    """Print the tables and write them where asked, or print one tool's JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", choices=TOOLS)
    parser.add_argument("--rounds", type=int, default=5, help="rounds of the cost measurement")
    parser.add_argument("--detail", action="store_true", help="name the modules each tool gets wrong")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the tables as Markdown")
    parser.add_argument("--fresh", action="store_true", help="forget the tools that were measured before")
    options = parser.parse_args()
    if options.tool:
        print(json.dumps(measure(options.tool, options.rounds)))
        return
    print("\n".join(filter(None, (*_passport(), busy_words()))))
    setting = {"rounds": options.rounds, "forwards": len(ZOO), "steps": len(STEP_ZOO), "about": _passport()[1:]}
    setting["columns"] = list(HEADER)  # rows with other columns are no use
    rows = Rows(ROWS, setting, options.fresh)
    print(f"{len(ZOO)} forwards, {len(STEP_ZOO)} training steps with hand-derived MACs")
    print(f"{HEADER[0]:<21}" + "".join(f"{name:>11}" for name in HEADER[1:]) + "  left behind")
    results, failures = [], []
    for tool in TOOLS:
        kept = next((row for row in rows.rows if row["tool"] == tool), None)
        found = kept or _one(tool, options.rounds)
        if not kept and not isinstance(found, str):
            rows.add(**found)
        if isinstance(found, str):
            failures.append(found)
            print(found, flush=True)
        else:
            results.append(found)
            _print(found, options.detail)
    print("\n".join(NOTES))
    if options.out:
        options.out.write_text(as_markdown(results, failures), encoding="utf-8")


if __name__ == "__main__":
    stoppable(main)
