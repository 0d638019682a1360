"""A stand-in for a GPU: the CUDA and MPS experiments run on it from end to end, in tests alone, and record nothing.

`python -m tests.support.rehearsal cuda` is a process with the stand-in in the place of torch's device. Where an experiment starts a new
process, its function is called in this one.

What it has in common with a GPU:

* tensors made for or moved to ``cuda`` (``mps``) say so, may not be mixed with others, and have to come back before
  numpy; on ``mps`` there is no float64;
* a call returns at once and its work joins a queue; only waiting, or reading a value, moves the clock to the end of
  the queue. So a time without a fence is short here too. The clock is `time.perf_counter` with the waiting added:
  nothing sleeps, and a slow device costs no time;
* a convolution asks a cache of plans, keyed as PyTorch's is; a miss costs more with the search on;
* memory figures, events, streams, properties, and kernels in the profiler's list.

The results are the CPU's, and no number means anything.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

import torch
import torch.nn.functional as F
import torch.profiler
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.overrides import TorchFunctionMode
from torch.profiler import ProfilerActivity

ROOT = Path(__file__).resolve().parents[2]
FIRST, SEARCH = 4, 40  # a first call of a shape takes that many operations longer, search off and on
LARGE = 2**30  # multiplications; a CPU takes seconds for them in half precision


# --- the clock -------------------------------------------------------------------------------------------


class Clock:
    """perf_counter plus the seconds that anybody has waited for the device."""

    def __init__(self) -> None:
        self.waited, self._real = 0.0, time.perf_counter
        time.perf_counter = self.now
        time.perf_counter_ns = lambda: int(self.now() * 1e9)

    def now(self) -> float:
        return self._real() + self.waited

    def wait_until(self, moment: float) -> None:
        self.waited += max(0.0, moment - self.now())


class Queue:
    """The device's queue: work joins its end; `wait` moves the clock there."""

    def __init__(self, clock: Clock) -> None:
        self.clock, self.op_s, self.end = clock, 0.005, 0.0
        self.plans: set[Any] = set()
        self.made_bytes = 0

    def add(self, operations: float = 1.0) -> None:
        self.end = max(self.end, self.clock.now()) + operations * self.op_s

    def wait(self, *_: Any, **__: Any) -> None:
        self.clock.wait_until(self.end)


# --- the device ----------------------------------------------------------------------------------------------


MARK = "_stand_in"
TENSOR = torch.Tensor
READS = {
    getattr(TENSOR, name)
    for name in "item tolist __float__ __int__ __bool__ __repr__ __format__ cpu nonzero equal".split()
} | {torch.nonzero, torch.equal, torch.allclose}
REFUSED = {TENSOR.numpy, TENSOR.__array__}
MIXES = {
    torch._has_compatible_shallow_copy_type,
    TENSOR.copy_,
    TENSOR.data.__set__,
    TENSOR.__getitem__,
    TENSOR.__setitem__,
    F.ctc_loss,
}
"""They take tensors of two devices on a real one too."""
CONVOLUTIONS = {torch.conv1d, torch.conv2d, torch.conv3d, F.conv2d, torch.conv_transpose2d}
SAME_STORAGE = ("__get__", "view", "detach", "requires_grad_", "T", "transpose")
RESTING = 64 << 20
"""Bytes of memory in use before anything was made."""


def tensors(one: Any) -> Iterator[Any]:
    """The tensors in arguments or results, also those in lists, tuples and dicts."""
    if isinstance(one, TENSOR):
        yield one
    elif isinstance(one, (list, tuple)):
        for part in one:
            yield from tensors(part)
    elif isinstance(one, dict):
        yield from tensors(tuple(one.values()))


def marked(one: Any) -> bool:
    return isinstance(one, TENSOR) and getattr(one, MARK, False)


def names(one: Any) -> str | None:
    """The kind of device that an argument names, if it names one."""
    if isinstance(one, torch.device):
        return one.type
    return one.split(":")[0] if isinstance(one, str) and one.split(":")[0] in ("cpu", "cuda", "mps") else None


class StandIn(TorchFunctionMode):
    """Lets tensors of this kind of device say so, and puts their work into the queue."""

    def __init__(self, kind: str, queue: Queue) -> None:
        super().__init__()
        self.kind, self.queue = kind, queue
        self.fallback = os.environ.get("PYTORCH_ENABLE_MPS_FALLBACK") == "1"
        self.getters = {
            TENSOR.device.__get__: torch.device(kind, 0),
            TENSOR.is_cuda.__get__: kind == "cuda",
            TENSOR.is_mps.__get__: kind == "mps",
        }

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if func in self.getters and marked(args[0]):
            return self.getters[func]
        given = list(tensors((args, kwargs)))
        here = any(marked(one) for one in given)
        target, args, kwargs = self.asked_for(func, args, kwargs)
        if target not in (None, "cpu", self.kind):
            raise RuntimeError(f"no {target} device on this stage")
        if here and target is None:
            self.refuse(func, given)
        if here and (func in READS or target == "cpu"):
            self.queue.wait()
        result = computed(func, args, kwargs)
        stays = target == self.kind or (here and target is None and func not in READS)
        if func == TENSOR.data.__set__:
            setattr(args[0], MARK, marked(args[1]))
        elif stays:
            if given and result is given[0] and not marked(result):
                result = result.clone()  # what was moved leaves the original where it is
            self.placed(func, result, args, kwargs)
        elif marked(result):
            result = result.clone()
        return result

    def refuse(self, func: Any, given: list[Any]) -> None:
        """Raises what a real device raises for numpy and for tensors of two devices."""
        if func in REFUSED:
            raise TypeError(f"can't convert {self.kind}:0 device type tensor to numpy. Use Tensor.cpu() first.")
        if func not in MIXES and any(one.dim() and not marked(one) for one in given):
            called = getattr(func, "__name__", func)
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but found at least two devices, {self.kind}:0 and cpu! ({called})"
            )

    def asked_for(self, func: Any, args: Any, kwargs: Any) -> tuple[str | None, Any, Any]:
        """(the device named, args and kwargs with the CPU in its place)."""
        if func is getattr(TENSOR, self.kind, None):
            return self.kind, (args[0],), {}
        target = names(kwargs.get("device"))
        if target:
            kwargs["device"] = "cpu"
        if func is TENSOR.to:
            rest = []
            for one in args[1:]:
                a_tensor = isinstance(one, TENSOR)
                found = names(one) or (a_tensor and (self.kind if marked(one) else "cpu")) or None
                target = found or target
                rest.append(one if found is None else one.dtype if a_tensor else "cpu")
            args = (args[0], *rest)
        return target, args, kwargs

    def placed(self, func: Any, result: Any, asked: Any, kwargs: Any) -> None:
        """Mark what came out, refuse what Apple refuses, put the work into the queue."""
        out, name = list(tensors(result)), getattr(func, "__name__", "")
        if self.kind == "mps" and any(one.dtype in (torch.float64, torch.complex128) for one in out):
            raise TypeError(
                "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64."
            )
        if self.kind == "mps" and name == "linalg_svd" and not self.fallback:
            raise NotImplementedError(
                "The operator 'aten::linalg_svd' is not currently implemented for the MPS device."
            )
        new = [one for one in out if not marked(one)]
        for one in out:
            setattr(one, MARK, True)
        into = "out" in kwargs or (name.endswith("_") and not name.endswith("__"))  # a tensor that was there
        if not (new or into) or name in SAME_STORAGE:
            return
        self.queue.made_bytes += sum(one.numel() * one.element_size() for one in new)
        self.queue.add()
        if func in CONVOLUTIONS:
            shapes = tuple((tuple(one.shape), one.dtype, one.stride()) for one in asked if isinstance(one, TENSOR))
            cudnn = torch.backends.cudnn
            key = shapes, cudnn.deterministic, cudnn.conv.fp32_precision
            if key not in self.queue.plans:
                self.queue.plans.add(key)
                self.queue.add(SEARCH if cudnn.benchmark else FIRST)


def computed(func: Any, args: Any, kwargs: Any) -> Any:
    """What the CPU makes of a call."""
    if func is torch.mm and "out" in kwargs and args[0].numel() * args[1].shape[1] >= LARGE:
        return kwargs["out"]  # a buffer that is filled to take time alone, and never read
    if func is F.scaled_dot_product_attention:
        with sdpa_kernel([SDPBackend.MATH]):
            return func(*args, **kwargs)
    return func(*args, **kwargs)


class Event:
    """An event of the device's queue. queue: set by `install`."""

    queue: Queue

    def __init__(self, enable_timing: bool = False, **_: Any) -> None:
        self.timing, self.moment = enable_timing, None

    def record(self, *_: Any) -> None:
        self.moment = max(self.queue.end, self.queue.clock.now())

    def synchronize(self) -> None:
        self.queue.clock.wait_until(self.moment)

    def query(self) -> bool:
        return self.queue.clock.now() >= self.moment

    def elapsed_time(self, other: Any) -> float:
        if not self.timing or self.moment is None or other.moment is None:
            raise RuntimeError(
                "Both events must be recorded, with enable_timing=True, before calculating elapsed time."
            )
        return (other.moment - self.moment) * 1e3


class Profile:
    """The CPU's profile, with a kernel for each of its leaves where CUDA was asked for."""

    real, kind = torch.profiler.profile, "cuda"

    def __init__(self, *, activities: Any = None, **more: Any) -> None:
        self.on_gpu = self.kind == "cuda" and (activities is None or ProfilerActivity.CUDA in activities)
        self.inside = Profile.real(activities=[ProfilerActivity.CPU], **more)

    def __enter__(self) -> Any:
        self.inside.__enter__()
        return self

    def __exit__(self, *error: Any) -> Any:
        return self.inside.__exit__(*error)

    def events(self) -> list[Any]:
        found = list(self.inside.events())
        leaves = [one for one in found if not one.cpu_children and one.name.startswith("aten::")]
        cuda = {"device_type": torch.autograd.DeviceType.CUDA}
        kernels = [
            SimpleNamespace(
                name=f"void stand_in::{one.name[6:]}_kernel<float, 4>(int)", time_range=one.time_range, **cuda
            )
            for one in leaves
        ]
        return found + (kernels if self.on_gpu else [])


def install(kind: str, clock: Clock) -> Queue:
    """Put the stand-in in the place of torch's (absent) ``cuda`` or ``mps``; it ends with the process."""
    queue = Queue(clock)
    Event.queue, Profile.kind = queue, kind
    state, module = torch.get_rng_state, getattr(torch, kind)
    for name, value in {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "synchronize": queue.wait,
        "empty_cache": lambda: None,
        "get_rng_state": lambda *_: state(),
        **dict.fromkeys(("set_rng_state", "manual_seed", "manual_seed_all"), lambda *_: None),
        **(_of_cuda(queue) if kind == "cuda" else {}),
    }.items():
        setattr(module, name, value)
    if kind == "cuda":
        torch.version.cuda = "0.0"
    else:
        torch._C._mps_is_available = torch.backends.mps.is_available = lambda: True
        torch._C._mps_get_name = lambda: "Stand-in"
        torch.mps.current_allocated_memory = lambda: RESTING + queue.made_bytes
        torch.mps.driver_allocated_memory = lambda: 2 * RESTING + queue.made_bytes
        torch.mps.recommended_max_memory = lambda: 4 << 30
        torch.mps.event.Event = Event
    torch.profiler.profile = Profile
    old = torch.nn.Parameter.__new__

    def parameter(cls: Any, data: Any = None, requires_grad: bool = True) -> Any:
        made = old(cls, data, requires_grad)
        if marked(data):
            setattr(made, MARK, True)
        return made

    torch.nn.Parameter.__new__ = staticmethod(parameter)
    queue.mode = StandIn(kind, queue)  # kept alive
    queue.mode.__enter__()
    return queue


def _of_cuda(queue: Queue) -> dict[str, Any]:
    """What torch.cuda has and torch.mps lacks."""
    state = torch.get_rng_state
    sizes = {"total_memory": 8 << 30, "L2_cache_size": 4 << 20, "multi_processor_count": 2}
    properties = SimpleNamespace(name="Stand-in", major=9, minor=0, gcnArchName="none", **sizes)
    stream = SimpleNamespace(synchronize=queue.wait, wait_stream=lambda *_: None)
    return {
        "is_initialized": lambda: True,
        "init": lambda: None,
        "_lazy_init": lambda: None,
        "current_device": lambda: 0,
        "get_device_properties": lambda *_: properties,
        "get_device_name": lambda *_: "Stand-in",
        "get_device_capability": lambda *_: (9, 0),
        "is_bf16_supported": lambda *_: True,
        "Event": Event,
        "current_stream": lambda *_: stream,
        "_sleep": lambda cycles: queue.add(cycles / 2e9 / queue.op_s),
        "device": lambda *_: contextlib.nullcontext(),
        "mem_get_info": lambda *_: (6 << 30, 8 << 30),
        "memory_allocated": lambda *_: RESTING,
        "memory_reserved": lambda *_: 2 * RESTING,
        "max_memory_allocated": lambda *_: RESTING + queue.made_bytes,
        "max_memory_reserved": lambda *_: 2 * RESTING + queue.made_bytes,
        "reset_peak_memory_stats": lambda *_: setattr(queue, "made_bytes", 0),
        "get_rng_state_all": lambda: [state()],
        "set_rng_state_all": lambda *_: None,
    }


# --- a rehearsal ---------------------------------------------------------------------------------------------


def rehearse(
    kind: str, seconds: dict[str, float], sizes: dict[str, dict[str, Any]] | None = None, op_s: float = 0.005
) -> dict[str, dict[str, Any]]:
    """What came of the experiments, run one after the other in a process with the stand-in: rows, sentence, picture, bets.

    seconds: experiment -> its budget. sizes: experiment -> keyword arguments of its function.
    """
    order = {"seconds": seconds, "sizes": sizes or {}, "op_s": op_s}
    env = {**os.environ, "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg", "KINETO_LOG_LEVEL": "6"}
    command = [sys.executable, "-m", "tests.support.rehearsal", kind]
    told = {"capture_output": True, "text": True, "encoding": "utf-8"}
    done = subprocess.run(command, env=env, cwd=ROOT, input=json.dumps(order), check=False, **told)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def main(kind: str) -> None:
    """The order on standard input, what came of it as the last line of standard output: JSON."""
    from course.experiment import new_process

    order, clock = json.load(sys.stdin), Clock()
    queue = install(kind, clock)
    queue.op_s = order["op_s"]
    torch.set_num_threads(1)
    new_process.NewProcess = partial(Here, queue)
    print(
        json.dumps({name: _one(clock, name, s, order["sizes"].get(name, {})) for name, s in order["seconds"].items()})
    )


class Here:
    """Where experiments start a new process: the function is called in this one, with the variables, and without plans."""

    def __init__(self, queue: Queue, variables: Any = None, warm: bool = True) -> None:
        self.queue, self.variables, self.said = queue, variables or {}, io.StringIO()

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *_: object) -> None: ...

    def call(self, target: str, *arguments: Any, timeout_s: float) -> Any:
        from course.core import new_process
        from course.experiment.base import restored

        self.queue.plans.clear()
        main, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
        environment = mock.patch.dict(os.environ, new_process.environment_with(self.variables), clear=True)
        with environment, restored(), contextlib.redirect_stdout(self.said):
            found = new_process.answered({"target": target, "arguments": arguments, "language": "en"})
        sys.modules["__main__"] = main
        if "error" in found:
            raise new_process.NewProcessError(found["error"])
        return json.loads(json.dumps(found["value"]))

    def printed(self) -> str:
        return self.said.getvalue()


def _one(clock: Clock, name: str, budget_s: float, sizes: dict[str, Any]) -> dict[str, Any]:
    import traceback

    from course.experiment import base

    try:
        return _played(clock, name, budget_s, sizes)
    except Exception as error:  # noqa: BLE001  (whatever goes wrong on the stage is what the test is after)
        cause = error.__cause__ if isinstance(error, base.ExperimentError) else error
        return {"error": f"{cause!r}\n{''.join(traceback.format_exception(cause)[-3:])}"}


def _played(clock: Clock, name: str, budget_s: float, sizes: dict[str, Any]) -> dict[str, Any]:
    from course.core.i18n import set_language
    from course.experiment import base
    from course.experiment.reading import OPEN

    exp = base.get(name)
    record = base.run_experiment(exp, budget_s, **sizes)
    sentence = exp.headline(record)
    for code in ("en", "zh"):
        set_language(code)
        if sentence not in OPEN:  # where nothing is claimed, a row that is drawn may be missing
            exp.draw(record, {}).html()
    return {
        "rows": record.rows,
        "en": sentence["en"],
        "zh": sentence["zh"],
        "settles": exp.settles(record),
        "device": record.machine["device"],
    }


if __name__ == "__main__":
    main(sys.argv[1])
