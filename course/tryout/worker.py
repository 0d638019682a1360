"""The other end of the processes of `course.tryout.running`: a saved step in a new process. Nothing large is freed there before it is
timed: malloc would then keep more of what the step frees than it does in a script
(https://man7.org/linux/man-pages/man3/mallopt.3.html, M_MMAP_THRESHOLD).
"""

from __future__ import annotations

import contextlib
import gc
import math
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from course.core.new_process import stay_on
from course.flags import using
from course.timing import clock_for
from course.tryout.settings import (
    BACKWARD,
    BLOCK_S,
    SHORT_S,
    LightMode,
    Setting,
    Step,
    all_settings,
    look_at,
    tensors_of,
    under,
)

REST_S = 0.012
"""Threads of OpenMP spin for so long after their work, and hold the cores (8 to 11 ms seen)."""
_for_good = contextlib.ExitStack()
_blocks: list[Callable[[], float]] = []


def probe(folder: str, wanted: Mapping[str, Sequence[str]], seconds: float) -> dict[str, Any]:
    """What ran in the saved step (`look`), about what a call takes, whether results can be compared; and for each name the row of its
    settings, as long as they can matter and there is time. Plain data. Raises what loading the step raises, or the step as it is.
    """
    copies = Copies(folder)
    copies.find_held()
    digits, began = Digits(copies, bool(copies.held)), time.monotonic()
    known, rows = {one.id: one for one in all_settings()}, {}
    for name, ids in wanted.items():
        settings = [known[one] for one in ids]
        if time.monotonic() - began > seconds or any(one.why_not(digits.look) for one in settings):
            continue
        try:
            rows[name] = digits.of(settings)
        except Exception as error:  # noqa: BLE001  (what torch says of a setting)
            rows[name] = {"why": said_of(error)}
    return {"look": asdict(digits.look), "rough_s": digits.took_s[0], "random": digits.random, "rows": rows}


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


# --- what settings do to the result of one step: every run starts from a new copy of it and the same random numbers -----

DOUBLE = Setting("float64", "float64", [], way="float64")

NOISY = 1e-3
"""A step whose calls differ by more, as a share of the largest value, cannot be compared."""

Row = dict[str, Any]
Copy = tuple[Step, list[torch.Tensor]]
Values = list[torch.Tensor]


class _NoDropout(LightMode):
    """Dropout keeps every value: the random keeps of a layer become their mean, by which it divides."""

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, kwargs = function.overloadpacket.__name__, kwargs or {}
        if name == "native_dropout":
            return args[0].clone(), torch.ones_like(args[0], dtype=torch.bool)
        if name == "bernoulli_":
            return args[0].fill_(args[1] if len(args) > 1 else kwargs.get("p", 0.5))
        return function(*args, **kwargs)


class Digits:
    """The results of one step. copies: gives a new copy of it, with its tensors, each time. held: some of them are not new.

    look: what ran. random: calls that begin alike end differently, because they draw random numbers beside dropout or because a module
    keeps something from one to the next: nothing can be compared. took_s: seconds of calls, the first of the step as it is. exact: the
    result in float64, if any.
    """

    def __init__(self, copies: Callable[[], Copy], held: bool = False) -> None:
        self.copies, self.took_s = copies, list[float]()
        self.look = look_at(copies()[0])
        self.as_is, again, other = self._once(), self._once(), self._once(seed=1)
        self.noise = differs(self.as_is, again)
        self.random = differs(self.as_is, other) > 0 if self.noise == 0 else self.noise > NOISY or held
        self.exact: Values | None = None
        with contextlib.suppress(Exception):  # a step may hold numbers of a fixed type; MPS has no float64
            exact = self._once([DOUBLE])
            self.exact = exact if math.isfinite(differs(self.as_is, exact)) else None
        self.sizes = sizes_of(self.exact or self.as_is)

    def _once(self, settings: Sequence[Setting] = (), seed: int = 0) -> Values:
        """What one call gives, without dropout.

        The values: the tensors of its result and the gradients it leaves; without any, the tensors it changes. Of them those that have
        digits: integers, as after argmax, hide what became of them.
        """
        step, tensors = self.copies()
        with under(step, settings, tensors, self.look.device) as run:
            torch.manual_seed(seed)
            random.seed(seed)
            with _NoDropout() if self.look.ran(["bernoulli_", "native_dropout"]) else contextlib.nullcontext():
                result = tensors_of(run())
            leaves = [one for one in tensors if one.is_leaf]
            trains = self.look.ran(BACKWARD)  # else gradients are left from before
            left = [one.grad for one in leaves if one.grad is not None] if trains else []
            found = [one for one in result + left or leaves if one.is_floating_point() and one.layout is torch.strided]
            values = [one.detach().cpu().double().clone() for one in found]  # a copy, before the next call
            began = time.perf_counter()
            run()
            self.took_s.append(time.perf_counter() - began)
            return values

    def of(self, settings: Sequence[Setting]) -> Row:
        """What changes in the result.

        bits: whether all bits are the same; None where random numbers, or a result without digits, forbid to tell. error: the largest
        difference from float64 (without a float64 run: from the step as it is), as a share of the largest value.
        """
        values = self._once(settings)
        near, told = self.exact or self.as_is, bool(values) and not self.random
        equal = told and differs(self.as_is, values) == 0
        as_is = max(self.noise, differs(near, self.as_is, self.sizes) if self.exact else 0.0)
        return {
            "bits": equal if told else None,
            "error": as_is if equal else differs(near, values, self.sizes) if told else None,
            "error_as_is": as_is,
            "float64": self.exact is not None,
        }


def differs(one: Values, two: Values, sizes: Sequence[float] = ()) -> float:
    """The largest difference as a share of the size of that tensor; 0: the same bits; infinite: other shapes, or not finite on one side
    alone. sizes: see `sizes_of`; by default of `one`.
    """
    if [each.shape for each in one] != [each.shape for each in two]:
        return math.inf
    each = zip(one, two, sizes or sizes_of(one), strict=True)
    return max((_gap(a, b) / size for a, b, size in each if a.numel() and not torch.equal(a, b)), default=0.0)


def sizes_of(truth: Values) -> list[float]:
    """By what to measure a difference: the largest value of each tensor, or of the one in the middle, whichever is larger. The gradient
    of a bias before a batch normalization is truly 0, in float32 what rounding leaves: it has no digit to lose.
    """
    reach = [float(each.abs().max()) if each.numel() else 0.0 for each in truth]
    return [max(size, statistics.median(reach), 1e-300) for size in reach]


def _gap(a: torch.Tensor, b: torch.Tensor) -> float:
    """The largest difference; infinite: not finite on one side alone."""
    gap = float(torch.where((a == b) | (a.isnan() & b.isnan()), 0.0, (a - b).abs()).max())
    return gap if math.isfinite(gap) else math.inf
