"""The step in new processes, for settings of which a process keeps what it once chose, or that torch cannot take back."""

from __future__ import annotations

import contextlib
import os
import pickle
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from course.experiment.new_process import call_in_new_process
from course.flags import snapshot, using
from course.isolation.journal import Journal
from course.timing import Comparison, compare
from course.timing.processes import SLICE_S, Replicates, slice_s
from course.timing.rounds import Plan
from course.timing.verdicts import FIRST_PROCESS_LOOK
from course.tryout.bench import AS_IS, CI, Bench, Row, rows_of
from course.tryout.settings import all_settings
from course.tryout.step import Side

START_S = 3.0
"""About what a new process takes until it has torch and the step."""
GATE = 0.02
"""Differences below it are never called faster or slower."""
_FOR_GOOD = contextlib.ExitStack()


@contextlib.contextmanager
def saved(bench: Bench) -> Iterator[Path]:
    """A folder from which new processes can take the step. Raises whatever a step that cannot be copied raises."""
    try:
        import cloudpickle as pickler
    except ImportError:
        pickler = pickle
    switches = {name: value for name, value in snapshot().items() if isinstance(value, (bool, int, str))}
    torch_is = torch.is_grad_enabled(), torch.get_default_dtype(), switches
    with tempfile.TemporaryDirectory(prefix="try_switches-") as folder:
        torch.save((sys.path, torch_is), Path(folder, "process"))
        torch.save(bench, Path(folder, "bench"), pickle_module=pickler)
        yield Path(folder)


def _loaded(folder: str) -> Bench:
    """The saved bench, in a process set up as the user's was."""
    path, (grad, dtype, switches) = torch.load(Path(folder, "process"), weights_only=False)
    sys.path += [one for one in path if one not in sys.path]
    torch.set_grad_enabled(grad)
    torch.set_default_dtype(dtype)
    _FOR_GOOD.enter_context(using(switches, skip_absent=True))
    bench: Bench = torch.load(Path(folder, "bench"), weights_only=False)
    return bench


def _digits_there(folder: str, ids: Sequence[str]) -> Row:
    return _loaded(folder).digits([one for one in all_settings() if one.id in ids])


def ready(folder: str, ids: Sequence[str]) -> Callable[[], Any]:
    """The saved step, in this process for good with the settings of these ids."""
    bench = _loaded(folder)
    settings = [one for one in all_settings() if one.id in ids]
    side = Side(bench.step, settings, Journal(bench.step).tensors.values(), bench.look.device)
    _FOR_GOOD.enter_context(side.on())
    return side.run


def digits(folder: Path, ids: Sequence[str], seconds: float) -> Row:
    """`Bench.digits` in a new process. Raises ProbeError, in a sentence."""
    found, _ = call_in_new_process(__name__, "_digits_there", str(folder), list(ids), timeout_s=seconds)
    return dict(found)


def race(folder: Path, sides: Mapping[str, Sequence[str]], device: str, seconds: float) -> dict[str, Row]:
    """The time of the step with the settings of each list of ids over the time as it is, each in several new processes."""
    targets = {}
    for at, (name, ids) in enumerate({AS_IS: (), **sides}.items()):
        code = f"from course.tryout.processes import ready\n\nstep = ready({str(folder)!r}, {list(ids)!r})\n"
        (folder / f"side_{at}.py").write_text(code, "utf-8")
        targets[name] = f"side_{at}:step"
    sys.path.insert(0, os.fspath(folder))
    try:
        found = compare(targets, AS_IS, CI, seconds, device=device, same=False, fresh_process=True)
    finally:
        sys.path.remove(os.fspath(folder))
    extra = {name: found.first_call_ms[name] - found.medians_ms[name] for name in targets}
    return {name: row | {"price_ms": max(0.0, extra[name] - extra[AS_IS])} for name, row in rows_of(found).items()}


class _InTurns(Replicates):
    """Each set is one new process, in which all sides take turns."""

    def __init__(self, folder: Path, sides: Mapping[str, Sequence[str]], round_s: float, seconds: float) -> None:
        plan = Plan(AS_IS, CI, seconds, GATE, False, seconds, random.Random())
        super().__init__(plan, [AS_IS, *sides], None, time.perf_counter)
        self.folder, self.sides = folder, sides
        self.slice = slice_s(START_S, round_s, seconds / FIRST_PROCESS_LOOK)

    def compared(self, seconds: float) -> Comparison:
        call_in_new_process(
            __name__,
            "_raced_there",
            str(self.folder),
            dict(self.sides),
            seconds,
            timeout_s=self.plan.max_time,
            warm=False,
        )
        found: Comparison = torch.load(self.folder / "raced", weights_only=False)
        return found


def _raced_there(folder: str, sides: Mapping[str, Sequence[str]], seconds: float) -> None:
    known = {one.id: one for one in all_settings()}
    found = _loaded(folder).compared({name: [known[one] for one in ids] for name, ids in sides.items()}, seconds)
    torch.save(replace(found), Path(folder, "raced"))  # a copy, without the functions


def least_s(round_s: float) -> float:
    """Seconds that `in_turns` needs to say something. round_s: all sides and the step as it is, once."""
    return FIRST_PROCESS_LOOK * (START_S + SLICE_S + 3 * round_s)


def in_turns(folder: Path, sides: Mapping[str, Sequence[str]], round_s: float, seconds: float) -> dict[str, Row]:
    """The time of the step with the settings of each list of ids over the time as it is. In each of several new processes all of them
    take turns, and give one ratio.
    """
    return rows_of(_InTurns(folder, sides, round_s, seconds).go())
