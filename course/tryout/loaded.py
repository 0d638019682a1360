"""The other end of `venue.There`: a saved step in a new process. Nothing large is freed there before it runs: malloc would then keep
more of what the step frees than it does in a script (https://man7.org/linux/man-pages/man3/mallopt.3.html, M_MMAP_THRESHOLD).
"""

from __future__ import annotations

import contextlib
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
from course.tryout.back import Reach
from course.tryout.digits import Digits
from course.tryout.settings import all_settings
from course.tryout.step import BLOCK_S, SHORT_S, Side, Step

REST_S = 0.012
"""Threads of OpenMP spin for so long after their work, and hold the cores (8 to 11 ms seen)."""
_for_good = contextlib.ExitStack()
_blocks: list[Callable[[], float]] = []


def probe(folder: str, wanted: Mapping[str, Sequence[str]], seconds: float) -> dict[str, Any]:
    """`probed`, of the saved step; `not_loaded` says why this process cannot take it, `failed` what it raised as it is."""
    try:
        step = _loaded(folder)
    except Exception as error:  # noqa: BLE001  (unpickling fails in many types)
        return {"not_loaded": said_of(error)}
    try:
        digits = Digits(step)
    except Exception as error:  # noqa: BLE001  (the user's step)
        return {"failed": said_of(error)}
    return probed(digits, wanted, seconds)


def probed(digits: Digits, wanted: Mapping[str, Sequence[str]], seconds: float) -> dict[str, Any]:
    """What ran (`look`), about what a call takes, whether it draws random numbers; and for each name the row of its settings, as long as
    they can matter and there is time. Plain data.
    """
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
    step = _loaded(folder)
    side = Side(step, [one for one in all_settings() if one.id in ids], Reach(step).tensors, device)
    _for_good.enter_context(side.on())
    if torch.get_num_threads() == 1 and device == "cpu":
        stay_on(processor)
    clock, calls = clock_for(device), math.ceil(BLOCK_S / rough_s)

    def block() -> float:
        time.sleep(REST_S)  # let the threads of the process that had its turn stop spinning
        if rough_s < SHORT_S:
            side.run()  # cold caches would show in the next call
        return float(clock.block(side.run, calls)) / calls

    _blocks[:] = [block]


def block() -> float:
    """Seconds a call, of one block of calls."""
    return _blocks[0]()


def _loaded(folder: str) -> Step:
    """The saved step, in a process set up as the user's was."""
    grad, dtype, switches = torch.load(Path(folder, "process"), weights_only=False)
    torch.set_grad_enabled(grad)
    torch.set_default_dtype(dtype)
    _for_good.enter_context(using(switches, skip_absent=True))
    step: Step = torch.load(Path(folder, "step"), weights_only=False)
    return step


def said_of(error: BaseException) -> str:
    """An exception in a line."""
    kind = getattr(error, "kind", "") or type(error).__name__
    line = (str(error).strip().splitlines() or [""])[0][:300].rstrip(".")
    return line if kind in ("TimingError", "NewProcessError") else f"{kind}: {line}".strip(": ")
