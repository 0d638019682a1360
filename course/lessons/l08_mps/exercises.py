"""Code tasks of lesson 08: choose a device, set a variable in time, do without float64."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

from course.exercises.slips import data
from course.exercises.told import Told, placeholder_in

# --- choosing a device, under simulated answers -----------------------------------------------------------


def _kind(picked: Any) -> str | None:
    """The device type of what a selector gave back: a torch.device or its name; None for anything else."""
    import torch

    if isinstance(picked, torch.device):
        return picked.type
    return picked.split(":")[0] if isinstance(picked, str) else None


def _is_best(machine: Any, picked: Any) -> None:
    """Raises Told unless the best device of the machine was picked."""
    kind = _kind(picked)
    if kind == machine.best:
        return
    if kind is None:
        raise Told("no-device", where=machine.name, picked=picked)
    unusable = kind == machine.built and not machine.usable
    reason = "built" if unusable else "idle" if kind == "cpu" else "not-the-best"
    raise Told(reason, where=machine.name, best=machine.best, kind=kind)


def check_pick_device(pick_device: Callable[..., Any]) -> None:
    """Automatic choice on six machines; then a wish that works, and one that does not."""
    import torch

    from course.lessons.l08_mps.machines import MACHINES, pretend

    for name in MACHINES:
        with pretend(name) as machine:
            picked = pick_device()
        placeholder_in(picked)
        _is_best(machine, picked)
        if not isinstance(picked, torch.device):
            raise Told("no-device, a name", picked=picked)
    for name in MACHINES:
        with pretend(name) as machine:
            for wish in ("cpu", "cuda", "mps", "xpu"):
                _wish(pick_device, machine, wish)


def _wish(pick_device: Callable[..., Any], machine: Any, wish: str) -> None:
    """Raises Told where ``prefer`` is not treated as it should be on that machine."""
    told = {"where": machine.name, "wish": wish}
    try:
        picked = _kind(pick_device(wish))
    except ValueError:
        picked = "refused"
    except Exception as error:
        raise Told("no-value-error", kind=type(error).__name__, **told) from None
    works = wish in ("cpu", machine.best)
    if works and picked != wish:
        raise Told("wish-ignored", **told)
    if not works and picked != "refused":
        raise Told("not-refused", picked=picked, **told)


# --- the variable before the import -----------------------------------------------------------------------

WATCH = """
import os, sys, types
from importlib.machinery import ModuleSpec
from unittest.mock import MagicMock
at_import = []

def variable():  # as the library asks: the process's own environment, which os.putenv changes too
    try:
        import ctypes
        getenv = ctypes.CDLL(None).getenv
        getenv.restype = ctypes.c_char_p
        value = getenv(b"PYTORCH_ENABLE_MPS_FALLBACK")
        return None if value is None else value.decode()
    except (ImportError, OSError, TypeError, AttributeError):
        return os.environ.get("PYTORCH_ENABLE_MPS_FALLBACK")

class Shell(types.ModuleType):
    __path__ = []
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return MagicMock()

class Watcher:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            at_import.append(variable())
        return ModuleSpec(name, self) if name.split(".")[0] == "torch" else None

    def create_module(self, spec):
        return Shell(spec.name)

    def exec_module(self, module):
        pass

sys.meta_path.insert(0, Watcher())
exec(compile({script!r}, "script", "exec"), {{"__name__": "__main__"}})
answer({{"imported": bool(at_import), "value": at_import[0] if at_import else None,
         "later": variable()}})
"""


def _blank(script: str) -> bool:
    """Whether a `...` stands in the code, not only in a text that it prints."""
    try:
        return any(isinstance(node, ast.Constant) and node.value is ... for node in ast.walk(ast.parse(script)))
    except SyntaxError:
        return "..." in script


def check_script(script: Any) -> None:
    """Run the script in a new process with an empty shell for torch; see what the variable was at its import."""
    from course.experiment.new_process import ProbeError, answer_of
    from course.lessons.l08_mps.probes import FALLBACK

    if not isinstance(script, str):
        raise Told("no-text")
    if _blank(script):
        raise Told("placeholder")
    try:
        seen, _ = answer_of(WATCH.format(script=script), variables={FALLBACK: None}, timeout_s=30)
    except ProbeError as error:
        raise Told("script-failed", error=error) from None
    if not seen["imported"]:
        raise Told("no-import")
    if seen["value"] is None:
        raise Told("too-late" if seen["later"] else "not-set", name=FALLBACK)
    if not re.fullmatch(r"\s*[+-]?\d+\s*", seen["value"]) or int(seen["value"]) == 0:
        raise Told("no-whole-number", value=seen["value"])


# --- seconds since the start ------------------------------------------------------------------------------

TIMES = ((1_700_000_000.25, [0.0, 0.125, 30.0, 3600.5]), (0.0, [0.0, 2.5]), (1_893_456_000.0, [0.0, 86_400.0, -7.0]))


def check_seconds(seconds_since_start: Callable[[Any], Any]) -> None:
    """Three lists of Unix times; float32 is wanted, right to a millisecond."""
    import torch

    for origin, gaps in TIMES:
        stamps = torch.tensor([origin + gap for gap in gaps], dtype=torch.float64)
        kept = stamps.clone()
        got = seconds_since_start(stamps)
        placeholder_in(got)
        if not isinstance(got, torch.Tensor) or got.shape != stamps.shape:
            raise Told("no-tensor")
        if not torch.equal(stamps, kept):
            raise Told("input-changed")
        if got.dtype not in (torch.float32, torch.float64):
            raise Told("dtype", dtype=got.dtype)
        errors = got.double() - torch.tensor(gaps, dtype=torch.float64)
        off = float(errors.abs().max())
        if off > 1e-3 and float((errors - errors[0]).abs().max()) < 1e-3:
            raise Told("zero-point")
        if off > 1e-3:
            raise Told("cast-first", origin=origin, off=off, spacing=_spacing(origin))
        if got.dtype != torch.float32:
            raise Told("dtype, too wide", dtype=got.dtype)


def _spacing(value: float) -> float:
    import torch

    x = torch.tensor(value, dtype=torch.float32)
    return float(torch.nextafter(x, x + x.abs() + 1) - x)


# --- make it lose -----------------------------------------------------------------------------------------


def check_numbers(numbers: Any) -> dict[str, float]:
    """Accept on evidence: max - min in float32 differs from float64 by more than 1 %."""
    import torch

    numbers = data(numbers)
    if not isinstance(numbers, list) or len(numbers) < 2:
        raise Told("no-list")
    double = torch.tensor([float(number) for number in numbers], dtype=torch.float64)
    single = double.float()
    if not torch.isfinite(single).all():
        raise Told("out-of-range")
    exact, found = float(double.max() - double.min()), float(single.max() - single.min())
    if exact == 0:
        raise Told("no-spread")
    error = abs(found - exact) / exact
    if error <= 0.01:
        raise Told("float32-holds", found=found, exact=exact)
    return {"exact": exact, "found": found, "error": error}


CHECKS = {
    "08-pick-device": check_pick_device,
    "08-script": check_script,
    "08-seconds": check_seconds,
    "08-make-it-lose": check_numbers,
}
