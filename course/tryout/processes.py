"""The step in new processes: a script is one, and of some settings a process keeps what it once chose."""

from __future__ import annotations

import contextlib
import copyreg
import importlib
import math
import os
import pickle
import random
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from course.experiment.new_process import call_in_new_process
from course.flags import snapshot, using
from course.isolation.journal import Journal
from course.machine import can_fork
from course.timing import workers
from course.timing.processes import SLICE_S, Replicates
from course.timing.rounds import Plan
from course.timing.verdicts import FIRST_PROCESS_LOOK
from course.tryout.bench import AS_IS, BLOCK_S, Bench, Row, rows_of
from course.tryout.settings import all_settings
from course.tryout.step import Side, Step

START_S, FORKED_S = 1.5, 0.1
"""About what a new process takes until it has torch and the step, with two of them at work at once; forked, until it has the step."""
THERE_CI = 0.03
"""Half the width of the interval over processes at which they are enough."""
GATE = 0.02
"""Differences up to this share are none."""
UNLIKELY = 0.2
"""What has a chance of less than half of this gets no more time."""
REST_S = 0.012
"""Threads of OpenMP spin for so long after their work, and hold the cores (8 to 11 ms seen)."""
_FOR_GOOD = contextlib.ExitStack()
_begun: list[Callable[[], None]] = []


@contextlib.contextmanager
def saved(step: Step) -> Iterator[Path]:
    """A folder from which new processes can take the step. Raises whatever a step that cannot be copied raises."""
    try:
        import cloudpickle as pickler
    except ImportError:
        pickler = pickle
    switches = {name: value for name, value in snapshot().items() if isinstance(value, (bool, int, str))}
    torch_is = torch.is_grad_enabled(), torch.get_default_dtype(), switches
    with tempfile.TemporaryDirectory(prefix="try_switches-") as folder:
        torch.save((sys.path, torch_is), Path(folder, "process"))
        with _modules_by_name():
            torch.save(step, Path(folder, "step"), pickle_module=pickler)
        yield Path(folder)


@contextlib.contextmanager
def _modules_by_name() -> Iterator[None]:
    """In the block also modules of other types, such as torch.backends.cudnn, are pickled by name: a step may hold or call one."""
    plain = {types.ModuleType, *copyreg.dispatch_table}
    others = {type(one) for one in [*sys.modules.values()] if isinstance(one, types.ModuleType)} - plain
    for kind in others:
        copyreg.pickle(kind, _named)  # type: ignore[arg-type]
    try:
        yield
    finally:
        for kind in others:
            del copyreg.dispatch_table[kind]


def _named(module: types.ModuleType) -> tuple[Any, tuple[str]]:
    return importlib.import_module, (module.__name__,)


def _loaded(folder: str) -> Step:
    """The saved step, in a process set up as the user's was. Nothing large is freed here: malloc would then keep more of what the step
    frees than it does in a script (https://man7.org/linux/man-pages/man3/mallopt.3.html, M_MMAP_THRESHOLD)."""
    path, (grad, dtype, switches) = torch.load(Path(folder, "process"), weights_only=False)
    sys.path += [one for one in path if one not in sys.path]
    torch.set_grad_enabled(grad)
    torch.set_default_dtype(dtype)
    _FOR_GOOD.enter_context(using(switches, skip_absent=True))
    step: Step = torch.load(Path(folder, "step"), weights_only=False)
    return step


def _digits_there(folder: str, ids: Sequence[str]) -> Row:
    return Bench(_loaded(folder)).digits([one for one in all_settings() if one.id in ids])


def ready(folder: str, ids: Sequence[str], calls: int, device: str) -> Callable[[], Any]:
    """So many calls of the saved step, in this process for good with the settings of these ids."""
    step = _loaded(folder)
    settings = [one for one in all_settings() if one.id in ids]
    side = Side(step, settings, Journal(step).tensors.values(), device)
    _FOR_GOOD.enter_context(side.on())

    def run() -> None:
        began = time.perf_counter()
        for _ in range(calls):
            side.run()
        short = time.perf_counter() - began < calls * BLOCK_S
        _begun[:] = [side.run if short else lambda: None]

    return run


def warm() -> None:
    """Nothing before the first block, whose price counts. Before each later one let the threads of the process that had its turn stop
    spinning. Where a call is shorter than a block, so that cold caches would show, one is not timed; of longer ones they take 1 to 4 %."""
    if _begun:
        time.sleep(REST_S)
        _begun[0]()


def least_s(calls_s: Sequence[float], sets: int = FIRST_PROCESS_LOOK) -> float:
    """Seconds that so many sets of processes take at least. calls_s: what a call takes of each side, and of the step as it is."""
    start_s = START_S + len(calls_s) * FORKED_S if can_fork() else len(calls_s) * START_S
    return sets * (start_s + SLICE_S + 3 * sum(calls_s))


def digits(folder: Path, ids: Sequence[str], seconds: float) -> Row:
    """`Bench.digits` in a new process. Raises ProbeError, in a sentence."""
    found, _ = call_in_new_process(__name__, "_digits_there", str(folder), list(ids), timeout_s=seconds)
    return dict(found)


class There:
    """A comparison in new processes that can be gone on with. folder: holds the saved step."""

    def __init__(self, folder: Path, bench: Bench) -> None:
        self.folder, self.calls = folder, math.ceil(BLOCK_S / bench.base["rough_s"])
        self.device = bench.look.device
        self._common = workers.Setting(self.device, setup=f"{__name__}:warm").as_plain()
        self._targets = {AS_IS: self._target(0, [])}
        plan = Plan(AS_IS, THERE_CI, 0.0, GATE, False, 0.0, random.Random())
        self._sets = Replicates(plan, self._open, time.perf_counter)

    def _target(self, at: int, ids: Sequence[str]) -> str:
        """What a new process is to run: a file for the step with these settings."""
        said = ", ".join(map(repr, (str(self.folder), [*ids], self.calls, self.device)))
        code = f"from course.tryout.processes import ready\n\nstep = ready({said})\n"
        (self.folder / f"side_{at}.py").write_text(code, "utf-8")
        return f"side_{at}:step"

    def _open(self, names: Sequence[str]) -> workers.Workers:
        return workers.Workers({name: {"target": self._targets[name], **self._common} for name in names})

    def as_is_ms(self) -> list[float]:
        """The time of the step as it is in each set."""
        return [each.medians_ms[AS_IS] / self.calls for each in self._sets.found]

    def knows(self, name: str) -> bool:
        """Whether this side took part."""
        return name in self._targets

    def settled(self, name: str) -> bool:
        """Whether more sets would tell little more of this side."""
        return name in self._sets.settled

    def may_differ(self, name: str, share: float) -> bool:
        """Whether the time of this side may yet turn out to differ by more than this share."""
        _, likely = self._sets.estimate(name, UNLIKELY)
        return bool(likely and (likely.low < 1 - share or likely.high > 1 / (1 - share)))

    def race(self, sides: Mapping[str, Sequence[str]], seconds: float, sets: int | None) -> dict[str, Row]:
        """The time of the step with the settings of each list of ids over the time as it is: of these sides and all before, from all
        sets of processes so far. sets: so many more, if there is the time; None: as many as there is time for."""
        for name in sides:
            self._targets.setdefault(name, self._target(len(self._targets), sides[name]))
        sys.path.insert(0, os.fspath(self.folder))
        try:
            found = self._sets.go([*sides], seconds, sets)
        finally:
            sys.path.remove(os.fspath(self.folder))
        extra = {name: first - found.medians_ms[name] for name, first in found.first_call_ms.items()}
        rows = rows_of(found)
        return {
            name: row | {"base_ms": row["base_ms"] / self.calls, "price_ms": max(0.0, extra[name] - extra[AS_IS])}
            for name, row in rows.items()
        }
