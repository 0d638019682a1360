"""The other end of the processes of `course.tryout.running`: a saved step in a new process. Nothing large is freed there before it is
timed: malloc would then keep more of what the step frees than it does in a script
(https://man7.org/linux/man-pages/man3/mallopt.3.html, M_MMAP_THRESHOLD).
"""

from __future__ import annotations

import contextlib
import gc
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from course.core.new_process import stay_on
from course.flags import using
from course.timing import clock_for
from course.tryout.digits import Copy, Digits
from course.tryout.settings import BLOCK_S, SHORT_S, all_settings, under

REST_S = 0.012
"""Threads of OpenMP spin for so long after their work, and hold the cores (8 to 11 ms seen)."""
_for_good = contextlib.ExitStack()
_blocks: list[Callable[[], float]] = []


def probe(folder: str, wanted: Mapping[str, Sequence[str]], seconds: float) -> dict[str, Any]:
    """What ran in the saved step (`look`), about what a call takes, whether results can be compared; and for each name the row of its
    settings, as long as they can matter and there is time. Plain data. `not_loaded` says why this process cannot take the step, `failed`
    what it raised as it is.
    """
    try:
        copies = Copies(folder)
        copies.find_held()
    except Exception as error:  # noqa: BLE001  (unpickling fails in many types)
        return {"not_loaded": said_of(error)}
    try:
        digits = Digits(copies, bool(copies.held))
    except Exception as error:  # noqa: BLE001  (the user's step)
        return {"failed": said_of(error)}
    return probed(digits, wanted, seconds)


def probed(digits: Digits, wanted: Mapping[str, Sequence[str]], seconds: float) -> dict[str, Any]:
    """What `probe` gives of a step that runs."""
    began, known, rows = time.monotonic(), {one.id: one for one in all_settings()}, {}
    for name, ids in wanted.items():
        settings = [known[one] for one in ids]
        if time.monotonic() - began > seconds or any(one.why_not(digits.look) for one in settings):
            continue
        try:
            rows[name] = digits.of(settings)
        except Exception as error:  # noqa: BLE001  (what torch says of a setting)
            rows[name] = {"why": said_of(error)}
    return {"look": asdict(digits.look), "rough_s": digits.rough_s, "random": digits.random, "rows": rows}


def take(folder: str, ids: Sequence[str], rough_s: float, device: str, processor: int | None) -> None:
    """Hold the saved step ready under the settings of these ids. processor: to run on, where one thread does the work."""
    step, tensors = Copies(folder)()
    run = _for_good.enter_context(under(step, [one for one in all_settings() if one.id in ids], tensors, device))
    if torch.get_num_threads() == 1 and device == "cpu":
        stay_on(processor)
    clock, calls = clock_for(device), math.ceil(BLOCK_S / rough_s)

    def block() -> float:
        time.sleep(REST_S)  # let the threads of the process that had its turn stop spinning
        if rough_s < SHORT_S:
            run()  # cold caches would show in the next call
        return float(clock.block(run, calls)) / calls

    _blocks[:] = [block]


def block() -> float:
    """Seconds a call, of one block of calls."""
    return _blocks[0]()


class Copies:
    """Gives a new copy of the saved step, with its tensors, at each call, in a process that this sets up as the user's was.

    held: tensors that modules of the user's keep from one copy to the next, and what they begin with: they belong to the step, too.
    """

    def __init__(self, folder: str) -> None:
        self.path, self.held = Path(folder, "step"), list[tuple[torch.Tensor, torch.Tensor]]()
        grad, dtype, switches = torch.load(Path(folder, "process"), weights_only=False)
        torch.set_grad_enabled(grad)
        torch.set_default_dtype(dtype)
        _for_good.enter_context(using(switches, skip_absent=True))
        gc.freeze()  # what there is so far is not of the step, and need not be looked at again

    def __call__(self) -> Copy:
        before = {id(one) for one in _tensors()}
        for one, data in self.held:
            one.grad, one.data = None, data.clone()
        step = torch.load(self.path, weights_only=False)
        return step, [*(one for one, _ in self.held), *(one for one in _tensors() if id(one) not in before)]

    def find_held(self) -> None:
        """Import the modules, and see which tensors stay where a copy is gone."""
        before = {id(one) for one in _tensors()}
        self()
        self.held = [(one, one.data.clone()) for one in _tensors() if id(one) not in before]


def _tensors() -> list[torch.Tensor]:
    """All tensors made since `gc.freeze`, also those that a module of the user's holds."""
    gc.collect()
    return [one for one in gc.get_objects() if issubclass(type(one), torch.Tensor)]


def said_of(error: BaseException) -> str:
    """An exception in a line."""
    kind = getattr(error, "kind", "") or type(error).__name__
    line = (str(error).strip().splitlines() or [""])[0][:300].rstrip(".")
    return line if kind in ("TimingError", "NewProcessError") else f"{kind}: {line}".strip(": ")
