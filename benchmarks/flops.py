"""Counters of work side by side: how often exact, how often silently zero, what a count costs.

    python -m benchmarks.flops                 every tool, each in a process of its own, some minutes
    python -m benchmarks.flops --look          one round of the cost
    python -m benchmarks.flops --out FILE      where the table goes (default build/benchmarks/flops.md)

Truth: the MACs derived by hand in benchmarks/zoo.py (forwards) and benchmarks/zoo_steps.py (training steps). Cost:
time of one count of ViT-B/16 over time of one forward under no_grad, median of alternating rounds in the same process;
meaningful on a quiet machine only.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from benchmarks.running import heading, markdown, options, publish
from benchmarks.zoo import ZOO
from benchmarks.zoo_parts import Entry
from benchmarks.zoo_steps import STEPS as STEP_ZOO
from course import models
from course.core.new_process import NewProcessError, call
from course.lessons.l03_flops.peers import torch_as_it_was

Answer = tuple[int, bool]
"""MACs, and whether the tool itself says that something is missing."""
Tool = Callable[[nn.Module, tuple[Any, ...]], Answer]


def _ours(model: nn.Module, inputs: tuple[Any, ...], training: bool = False) -> Answer:
    from course.flops import count

    counted = count(model, *inputs, training=training)
    return counted.macs, not counted.exact


def _thop(model: nn.Module, inputs: tuple[Any, ...]) -> Answer:
    from thop import profile

    return int(profile(model, inputs, verbose=False)[0]), False


def _fvcore(model: nn.Module, inputs: tuple[Any, ...]) -> Answer:
    from fvcore.nn import FlopCountAnalysis

    analysis = FlopCountAnalysis(model, inputs)
    analysis.unsupported_ops_warnings(False).uncalled_modules_warnings(False)
    return int(analysis.total()), False


def _calflops(model: nn.Module, inputs: tuple[Any, ...], training: bool = False) -> Answer:
    """A training step is its forward times three, whatever is frozen and whichever layer comes first."""
    from calflops import calculate_flops

    _, macs, _ = calculate_flops(
        model, args=list(inputs), print_results=False, output_as_string=False, include_backPropagation=training
    )
    return int(macs), False


def _torchinfo(model: nn.Module, inputs: tuple[Any, ...]) -> Answer:
    from torchinfo import summary

    return int(summary(model, input_data=list(inputs), verbose=0).total_mult_adds), False


def _counter_mode(model: nn.Module, inputs: tuple[Any, ...], training: bool = False) -> Answer:
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        result = model(*inputs)
        if training:
            outputs = [x for x in tree_leaves(result) if isinstance(x, Tensor) and x.requires_grad]
            torch.autograd.backward(outputs, [torch.ones_like(x) for x in outputs])
    return counter.get_total_flops() // 2, False


TOOLS: dict[str, Tool] = {
    "course.flops": _ours,
    "FlopCounterMode": _counter_mode,
    "fvcore": _fvcore,
    "calflops": _calflops,
    "thop": _thop,
    "torchinfo": _torchinfo,
}
STEPS: dict[str, Tool] = {
    name: partial(TOOLS[name], training=True) for name in ("course.flops", "calflops", "FlopCounterMode")
}
PACKAGES = ("thop", "fvcore", "calflops", "torchinfo", "transformers")
"""Whose versions belong to the tables."""
LIMIT_S = 1800
"""Seconds after which a tool's process is ended."""
VERDICTS = {"zero": "silently 0", "wrong": "wrong", "flagged": "flagged", "crash": "crash"}
NOTES = (
    "silently 0: nothing reported for real work, without a word; wrong: another number, without a word; "
    "flagged: the tool says that something is missing.",
    "ViT-B/16: time of one count in forwards (batch 1, 224 x 224, no_grad), median.",
    "The convention is that of course.flops: a tool that counts biases, norms or pooling on purpose is wrong by it.",
    "Training step: forward and backward; calflops multiplies its forward by three.",
)


def verdict(run: Tool, entry: Entry, gradients: bool) -> str:
    """exact, or one of VERDICTS."""
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


def cost(run: Tool, model: nn.Module, x: Tensor, rounds: int) -> float:
    """A count in forwards: the median over rounds, after one that does not count."""
    ratios = []
    for _ in range(rounds + 1):
        with torch_as_it_was(), torch.no_grad():
            start = time.perf_counter()
            model(x)
            middle = time.perf_counter()
            run(model, (x,))
            ratios.append((time.perf_counter() - middle) / (middle - start))
    return median(ratios[1:])


def measure(tool: str, rounds: int) -> dict[str, Any]:
    """What there is to say of one tool."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    run, step = TOOLS[tool], STEPS.get(tool)
    return {
        "forward": {entry.name: verdict(run, entry, False) for entry in ZOO},
        "step": {entry.name: verdict(step, entry, True) for entry in STEP_ZOO} if step else {},
        "vit": cost(run, models.vit_b_16().eval(), torch.randn(1, 3, 224, 224), rounds),
    }


def shares(verdicts: dict[str, str]) -> list[str]:
    """The part that is exact, and how many of each other kind there are."""
    seen = list(verdicts.values())
    if not seen:
        return ["cannot", *[""] * len(VERDICTS)]
    return [f"{seen.count('exact') / len(seen):.0%}", *(str(seen.count(what)) for what in VERDICTS)]


def main() -> None:
    """Print the tables and write them."""
    given = options(__doc__, "flops.md").parse_args()
    rounds = 1 if given.look else 5
    lines = list(heading("Counters of work beside their peers", f"{rounds} rounds", *PACKAGES))
    found, notes = {}, list(NOTES)
    for tool in TOOLS:
        try:
            found[tool] = call("benchmarks.flops:measure", tool, rounds, timeout_s=LIMIT_S)
        except NewProcessError as error:
            notes.append(f"{tool}: not measured: {error}")
            continue
        print(f"{tool}: {', '.join(shares(found[tool]['forward']))}", flush=True)
        verdicts = found[tool]["forward"] | found[tool]["step"]
        missing = [name for name, was in verdicts.items() if was == "flagged"]
        notes += [f"{tool} flagged: {', '.join(missing)}."] * bool(missing)
    head = ["tool", "exact", *VERDICTS.values()]
    lines += [f"## A forward: {len(ZOO)} modules with hand-derived MACs", ""]
    lines += markdown(
        [*head, "ViT-B/16"], [[tool, *shares(one["forward"]), f"{one['vit']:.3f}"] for tool, one in found.items()]
    )
    lines += ["", f"## A training step: {len(STEP_ZOO)} modules with hand-derived MACs", ""]
    lines += markdown(head, [[tool, *shares(one["step"])] for tool, one in found.items()])
    publish([*lines, "", *(f"- {note}" for note in notes)], given.out)


if __name__ == "__main__":
    main()
