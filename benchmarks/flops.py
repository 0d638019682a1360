"""Counters of work side by side: how often exact, how often silently zero, what they cost, what they leave
behind.

    python -m benchmarks.flops                 every tool, each in a process of its own, some minutes
    python -m benchmarks.flops --tool thop     one tool, as JSON

Truth: the hand-derived MACs of benchmarks/zoo.py. Cost: time of one count over time of one forward under
no_grad, median of alternating rounds in the same process; meaningful on a quiet machine only.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import logging
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.zoo import ZOO
from benchmarks.zoo_parts import Entry
from course import models
from course.flops.peers import torch_as_it_was

Answer = tuple[int, bool]
"""MACs, and whether the tool itself says that something is missing."""


def _ours(model: nn.Module, inputs: tuple[Any, ...]) -> Answer:
    from course.flops import count

    counted = count(model, *inputs)
    return counted.macs, not counted.exact


def _thop(model: nn.Module, inputs: tuple[Any, ...]) -> Answer:
    from thop import profile

    return int(profile(model, inputs, verbose=False)[0]), False


class Named(nn.Module):
    """A model whose inputs have names: ptflops passes either one input or keywords."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, a: Any, b: Any, c: Any = None) -> Any:
        return self.model(*(value for value in (a, b, c) if value is not None))


def _ptflops(backend: str) -> Callable[[nn.Module, tuple[Any, ...]], Answer]:
    def run(model: nn.Module, inputs: tuple[Any, ...]) -> Answer:
        from ptflops import get_model_complexity_info

        whole = inputs[0] if len(inputs) == 1 else dict(zip("abc", inputs, strict=False))
        model = model if len(inputs) == 1 else Named(model)

        macs, _ = get_model_complexity_info(
            model,
            (1,),
            as_strings=False,
            print_per_layer_stat=False,
            backend=backend,
            input_constructor=lambda _: whole,
        )
        if macs is None:
            raise RuntimeError("no result")
        return int(macs), False

    return run


def _fvcore(model: nn.Module, inputs: tuple[Any, ...]) -> Answer:
    from fvcore.nn import FlopCountAnalysis

    analysis = FlopCountAnalysis(model, inputs)
    analysis.unsupported_ops_warnings(False).uncalled_modules_warnings(False)
    return int(analysis.total()), False


def _calflops(model: nn.Module, inputs: tuple[Any, ...]) -> Answer:
    from calflops import calculate_flops

    return int(
        calculate_flops(model, args=list(inputs), print_results=False, output_as_string=False)[1]
    ), False


def _torchinfo(model: nn.Module, inputs: tuple[Any, ...]) -> Answer:
    from torchinfo import summary

    return int(summary(model, input_data=list(inputs), verbose=0).total_mult_adds), False


def _counter_mode(model: nn.Module, inputs: tuple[Any, ...]) -> Answer:
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        model(*inputs)
    return counter.get_total_flops() // 2, False


def _counter_mode_meta(model: nn.Module, inputs: tuple[Any, ...]) -> Answer:
    import copy

    there = [value.to("meta") if isinstance(value, Tensor) else value for value in inputs]
    return _counter_mode(copy.deepcopy(model).to("meta"), tuple(there))


TOOLS: dict[str, Callable[[nn.Module, tuple[Any, ...]], Answer]] = {
    "course.flops": _ours,
    "thop": _thop,
    "ptflops pytorch": _ptflops("pytorch"),
    "ptflops aten": _ptflops("aten"),
    "fvcore": _fvcore,
    "calflops": _calflops,
    "torchinfo": _torchinfo,
    "FlopCounterMode": _counter_mode,
    "FlopCounterMode meta": _counter_mode_meta,
}


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


def _verdict(tool: str, entry: Entry) -> str:
    model, inputs = entry.make()
    try:
        with torch_as_it_was(), torch.no_grad():
            macs, flagged = TOOLS[tool](model, inputs)
    except ImportError:
        raise
    except Exception:
        return "crash"
    if macs == entry.macs:
        return "exact"
    if flagged:
        return "flagged"
    return "zero" if macs == 0 else "wrong"


def _cost(tool: str, model: nn.Module, rounds: int) -> float:
    """Median over rounds of (time of one count) / (time of one forward), after one of each."""
    model.eval()
    x, ratios = torch.randn(1, 3, 224, 224), []
    for _ in range(rounds + 1):
        with torch_as_it_was(), torch.no_grad():
            start = time.perf_counter()
            model(x)
            middle = time.perf_counter()
            TOOLS[tool](model, (x,))
            ratios.append((time.perf_counter() - middle) / (middle - start))
    return median(ratios[1:])


class Witness(nn.Module):
    """A model in training mode on which traces show; it may stop in the middle."""

    def __init__(self, stop: bool) -> None:
        super().__init__()
        self.conv, self.norm, self.drop, self.stop = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Dropout(), stop

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.norm(self.conv(x)))
        if self.stop:
            raise RuntimeError("in the middle")
        return self.drop(x)


def _traces(tool: str, stop: bool) -> list[str]:
    """What differs in the model or in torch after one count."""
    model, x = Witness(stop).train(), torch.randn(2, 3, 8, 8)
    state = {name: value.clone() for name, value in model.state_dict().items()}
    attributes = {name: set(vars(module)) for name, module in model.named_modules()}
    hooks = [len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules()]
    generator = torch.get_rng_state()
    functions = {id(space): dict(vars(space)) for space in (torch, F)}
    with contextlib.suppress(Exception), _quiet():
        TOOLS[tool](model, (x,))
    after = model.state_dict()
    found = {
        "entries in state_dict": set(after) != set(state),
        "BatchNorm statistics": any(not torch.equal(after[k], v) for k, v in state.items() if k in after),
        "eval mode": not all(module.training for module in model.modules()),
        "attributes": any(set(vars(m)) != attributes[n] for n, m in model.named_modules()),
        "hooks": hooks != [len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules()],
        "moved RNG": not torch.equal(generator, torch.get_rng_state()),
        "patched torch functions": any(
            vars(space).get(name) is not value
            for space in (torch, F)
            for name, value in functions[id(space)].items()
            if callable(value)
        ),
    }
    return [what for what, is_so in found.items() if is_so]


def measure(tool: str, rounds: int) -> dict[str, Any]:
    """All columns of one tool."""
    verdicts = {entry.name: _verdict(tool, entry) for entry in ZOO}
    return {
        "tool": tool,
        "verdicts": verdicts,
        "vgg16": _cost(tool, models.vgg16(), rounds),
        "vit": _cost(tool, models.vit_b_16(), rounds),
        "left": _traces(tool, stop=False),
        "left_after_exception": _traces(tool, stop=True),
    }


def _row(result: dict[str, Any]) -> str:
    seen = list(result["verdicts"].values())
    share = seen.count("exact") / len(seen)
    after = [what for what in result["left_after_exception"] if what not in result["left"]]
    left = ", ".join(result["left"]) or "nothing"
    if after:
        left += "; after an exception also " + ", ".join(after)
    return (
        f"{result['tool']:<21} {share:>6.0%} {seen.count('zero'):>6} {seen.count('wrong'):>6} "
        f"{seen.count('flagged'):>8} "
        f"{seen.count('crash'):>6} {result['vgg16']:>7.3f} {result['vit']:>7.3f}  {left}"
    )


def main() -> None:
    """Print the table, or one tool's JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tool", choices=TOOLS)
    parser.add_argument("--rounds", type=int, default=5, help="rounds of the cost measurement")
    parser.add_argument("--detail", action="store_true", help="name the modules each tool gets wrong")
    options = parser.parse_args()
    if options.tool:
        print(json.dumps(measure(options.tool, options.rounds)))
        return
    print(
        f"{len(ZOO)} modules with hand-derived MACs, torch {torch.__version__}, {torch.get_num_threads()} "
        "threads"
    )
    print(
        f"{'tool':<21} {'exact':>6} {'zero':>6} {'wrong':>6} {'flagged':>8} {'crash':>6} {'VGG16':>7} "
        f"{'ViT':>7}  left behind"
    )
    for tool in TOOLS:
        command = [
            sys.executable,
            "-W",
            "ignore",
            "-m",
            "benchmarks.flops",
            "--tool",
            tool,
            "--rounds",
            str(options.rounds),
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            print(
                f"{tool:<21} not measured: "
                f"{done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'no output'}"
            )
            continue
        result = json.loads(done.stdout.strip().splitlines()[-1])
        print(_row(result), flush=True)
        if options.detail:
            for name, verdict in result["verdicts"].items():
                if verdict != "exact":
                    print(f"    {verdict:<8} {name}")
    print(
        "zero: 0 reported for real work, without a word; wrong: another number, without a word; flagged: "
        "the tool says so."
    )
    print("VGG16, ViT: time of one count in forwards (batch 1, 224 x 224).")


if __name__ == "__main__":
    main()
