"""Find out whether a timed function changes its own inputs, so that later calls have other inputs than the first one.

Checked are lists, dicts, sets, deques, byte arrays, numpy arrays and tensors in a function's closure and globals, in the
arguments of `functools.partial`, and the object of a method. A container is reported if any call changes it. An array is
reported if a later call changes it again, or if a call only reorders its values: an `out=` array that the first call fills
is no input.
"""

from __future__ import annotations

import contextlib
import functools
import math
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from course.i18n import t

SAMPLE = 4096
"""Values looked at of one container or array, evenly spaced; all of a smaller one."""
CONTAINERS = (list, dict, set, deque, bytearray)
PLAIN = (bool, int, float, complex, str, bytes, type(None))


@contextlib.contextmanager
def changes(f: Callable[..., Any], found: list[str], again: bool = False) -> Iterator[None]:
    """Add to `found` the names of the inputs of `f` that the calls inside the block change.

    again: `f` was called before. An array that changes now is then reported, too: it is no output that the first call
    fills.
    """
    inputs = _inputs(f)
    before = {name: _values(value) for name, value in inputs.items()}
    yield
    for name, value in inputs.items():
        (then, sums), (now, sums_now) = before[name], _values(value)
        if name not in found and then != now and (again or type(value) in CONTAINERS or _reordered(sums, sums_now)):
            found.append(name)


def notes(changed: Mapping[str, Sequence[str]]) -> list[str]:
    """The remarks on functions that change their inputs. changed: function -> names."""
    return [
        t(
            f"{name} changes {', '.join(names)}, which it takes from outside: after the first call, every call times other inputs. "
            "Make the input anew before each call, outside the time: setup=lambda: make_input() hands it to every function.",
            f"{name} 会改动它从外部取用的 {'、'.join(names)}：第一次调用之后，每次计时面对的输入都变了。"
            "请在每次调用之前重新准备输入（不计入时间）：setup=lambda: make_input()，返回值会传给每个函数。",
        )
        for name, names in changed.items()
        if names
    ]


def _inputs(f: Any) -> dict[str, Any]:
    """The inputs of `f` that are no arguments: name -> object."""
    found: dict[str, Any] = {}
    if isinstance(f, functools.partial):
        found = {f"argument {at}": value for at, value in enumerate(f.args, start=1)} | dict(f.keywords)
        f = f.func
    owner, f = getattr(f, "__self__", None), getattr(f, "__func__", f)
    found["self"] = owner
    code = getattr(f, "__code__", None)
    if code is not None:
        for name, cell in zip(code.co_freevars, f.__closure__ or (), strict=False):
            with contextlib.suppress(ValueError):  # empty so far
                found[name] = cell.cell_contents
        found |= {name: f.__globals__[name] for name in code.co_names if name in f.__globals__}
    return {name: value for name, value in found.items() if type(value) in CONTAINERS or _is_array(value)}


def _is_array(value: Any) -> bool:
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    return (torch is not None and isinstance(value, torch.Tensor)) or (
        numpy is not None and isinstance(value, numpy.ndarray)
    )


def _values(value: Any) -> tuple[list[Any], list[float]]:
    """(sampled values, to compare with later ones; sums over all values, which do not depend on their order)."""
    if not isinstance(value, CONTAINERS):
        try:
            return _array_values(value)
        except Exception:  # noqa: BLE001  (sparse, meta, quantized: kinds of arrays without values to read)
            return [], []
    entries = [part for pair in value.items() for part in pair] if isinstance(value, dict) else list(value)
    step = max(1, len(entries) // SAMPLE)  # objects by identity
    return [len(entries), *(one if type(one) in PLAIN else id(one) for one in entries[::step])], []


def _array_values(value: Any) -> tuple[list[Any], list[float]]:
    """The same of a tensor or an array: bytes of the values (so that nan equals nan); total, smallest, largest."""
    sums = [float(value.sum()), float(value.min()), float(value.max())]
    if hasattr(value, "detach"):
        value = value.detach().reshape(-1)[:: max(1, value.numel() // SAMPLE)].cpu()
        value = value.float().numpy() if value.is_floating_point() else value.numpy()
    flat = value.reshape(-1)[:: max(1, value.size // SAMPLE)]
    return [value.shape, flat.tobytes()], sums


def _reordered(then: list[float], now: list[float]) -> bool:
    """Whether the sums of an array are the same: then it has the same values in another order."""
    return bool(then) and all(math.isclose(a, b, rel_tol=1e-4) for a, b in zip(then, now, strict=True))
