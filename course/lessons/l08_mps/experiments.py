"""Experiments of lesson 08: what torch.backends.mps answers, what it cannot switch, and the price of moving.

The CPU ones are complete without a Mac: exact errors are data, and what is simulated says so in its title.
The MPS ones run on an Apple GPU only. Sentences and pictures stand in ``apple_findings`` and
``apple_findings_mps``.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import torch

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.i18n import both
from course.lessons.l08_mps import findings as say
from course.lessons.l08_mps import findings_mps as mac
from course.lessons.l08_mps import probes
from course.lessons.l08_mps.cases import CASES
from course.lessons.l08_mps.machines import MACHINES, pretend

LESSON = "08_mps"
PROBES = "course.lessons.l08_mps.probes"


@experiment(name="08-who-answers", lesson=LESSON, version=1, needs="cpu", seconds=6,
            title=both("Twelve questions about MPS: who answers, who raises?",
                       "关于 MPS 的十二次提问：谁回答，谁报错？"),
            finding=say.who_answers, draw=say.draw_who_answers, settles=say.settle_who_answers)
def who_answers(budget: Budget) -> list[dict]:
    """Every public query and a few calls, each with its answer or the exact error; in a new process."""
    return rows_of(PROBES, "who_answers")


@experiment(name="08-assignments", lesson=LESSON, version=1, needs="cpu", seconds=6,
            title=both("Assign to torch.backends.mps: what is accepted, and what changes?",
                       "给 torch.backends.mps 赋值：接受了什么，改变了什么？"),
            finding=say.assignments, draw=say.draw_assignments, settles=say.settle_assignments)
def assignments(budget: Budget) -> list[dict]:
    """Six inventions and one overwritten query, with two controls, in a process that may be broken."""
    return rows_of(PROBES, "assignments")


@experiment(name="08-env-when", lesson=LESSON, version=1, needs="cpu", seconds=45,
            title=both("Four environment variables, set at three moments: which still count?",
                       "四个环境变量，在三个时刻设置：哪些还算数？"),
            finding=say.env_when, draw=say.draw_env_when, settles=say.settle_env_when)
def env_when(budget: Budget) -> list[dict]:
    """Each variable set before import, after import and after the first use, in new processes."""
    values = {"OMP_NUM_THREADS": "1", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "1",
              "ATEN_CPU_CAPABILITY": "default", "PYTORCH_NVML_BASED_CUDA_CHECK": "1"}
    seen = {moment: probes.seen_at(moment, values)
            for moment in budget.loop(probes.MOMENTS, desc=both("new processes", "新进程"))}
    named = probes.named_in_libraries((*probes.VARIABLES, probes.FALLBACK))
    rows = []
    for variable in probes.VARIABLES:
        never, early = (seen.get(moment, {}).get(variable) for moment in ("never", "before import"))
        for moment in probes.MOMENTS[1:]:
            if moment in seen:
                value = seen[moment][variable]
                counted = "unclear" if never == early else "yes" if value == early else "no"
                rows.append({"variable": variable, "moment": moment, "counted": counted,
                             "seen": str(value), "without": str(never)})
    rows.append({"variable": probes.FALLBACK, "moment": "any",
                 "counted": "unclear" if named[probes.FALLBACK] else "nobody reads it",
                 "seen": "named in the libraries" if named[probes.FALLBACK] else "not in the libraries",
                 "without": ""})
    return rows


# --- float64, and choosing a device -------------------------------------------------------------------------

@experiment(name="08-float32-loses", lesson=LESSON, version=1, needs="cpu", seconds=2,
            title=both("The same sums in float64 and float32 (on the CPU, a simulation of the Mac's limit)",
                       "同样的计算，float64 与 float32（在 CPU 上，模拟 Mac 的限制）"),
            finding=say.float32_loses, draw=say.draw_float32_loses, settles=say.settle_float32_loses)
def float32_loses(budget: Budget) -> list[dict]:
    """Four everyday computations in float64, in float32, and in a form that does without float64."""
    return [{"case": name, "float64": str(compute(torch.float64)), "float32": str(compute(torch.float32)),
             "cured": str(cured())} for name, (compute, cured) in CASES.items()]


def cuda_or_cpu() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def built_is_enough() -> str:
    return "mps" if torch.backends.mps.is_built() else "cuda" if torch.backends.cuda.is_built() else "cpu"


def accelerator_or_cpu() -> str:
    return (torch.accelerator.current_accelerator() or torch.device("cpu")).type


def checked_accelerator() -> str:
    return (torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")).type


SELECTORS = {"cuda or cpu": cuda_or_cpu, "is_built()": built_is_enough,
             "current_accelerator()": accelerator_or_cpu, "check_available=True": checked_accelerator}


@experiment(name="08-selectors", lesson=LESSON, version=1, needs="cpu", seconds=2,
            title=both("Four device selectors on six machines (simulated answers, PyTorch's own code)",
                       "四种选设备的写法，六台机器（回答是模拟的，代码是 PyTorch 自己的）"),
            finding=say.selectors, draw=say.draw_selectors, settles=say.settle_selectors)
def selectors(budget: Budget) -> list[dict]:
    """What each selector picks where, and whether that device works and is the best one there."""
    rows = []
    for name in MACHINES:
        with pretend(name) as machine:
            for selector, choose in SELECTORS.items():
                picked = choose()
                usable = picked == "cpu" or (machine.usable and picked == machine.built)
                outcome = "crash" if not usable else "best" if picked == machine.best else "idle"
                rows.append({"machine": name, "selector": selector, "picked": picked, "outcome": outcome})
    return rows


# --- the price of moving ----------------------------------------------------------------------------------

@experiment(name="08-fallback-price", lesson=LESSON, version=2, needs="cpu", seconds=9,
            title=both("A simulated fallback on the CPU: copy there, compute, copy back",
                       "在 CPU 上模拟回退：拷过去、计算、拷回来"),
            finding=say.fallback_price, draw=say.draw_fallback_price, settles=say.settle_fallback_price)
def fallback_price(budget: Budget) -> list[dict]:
    """Time of an operation between two copies over the operation alone, on one thread: one quick, one slow."""
    from course.timing import compare

    torch.set_num_threads(1)
    big, small = torch.randn(4_000_000), torch.randn(160, 160)
    cases = {"relu": (big, torch.relu), "svd": (small, torch.linalg.svdvals)}
    rows = []
    for name, (x, op) in budget.loop(cases.items(), desc=both("operations", "算子")):
        race = compare({"alone": lambda x=x, op=op: op(x),
                        "between copies": lambda x=x, op=op: op(x.clone()).clone()},
                       baseline="alone", max_time=max(0.8, min(3.5, budget.left() / 2)), device="cpu")
        rows.append({"op": name, "numbers": x.numel(), "ratio": race.ratio, "low": race.low,
                     "high": race.high, "verdict": race.verdict, "alone_ms": race.medians_ms["alone"],
                     "rounds": race.rounds})
    return rows


# --- on a Mac ---------------------------------------------------------------------------------------------

@experiment(name="08-speed-mps", lesson=LESSON, version=1, needs="mps", seconds=25,
            title=both("Apple GPU against CPU: who is faster, and at which size?",
                       "苹果 GPU 对 CPU：谁快，在什么规模上快？"),
            finding=mac.speed, draw=mac.draw_speed)
def speed_mps(budget: Budget) -> list[dict]:
    """Time on the device over time on the CPU, data already there, fenced; matmul and relu."""
    from course.timing import compare

    cases = [(op, size) for size in (64, 512, 2048) for op in ("matmul", "relu")]
    functions: dict[str, Callable[[torch.Tensor], Any]] = {"matmul": lambda x: x @ x, "relu": torch.relu}
    for number, (op, size) in enumerate(budget.loop(cases, desc=both("operations", "算子"))):
        here, there = torch.randn(size, size), torch.randn(size, size, device=probes.DEVICE)
        f = functions[op]
        race = compare({"cpu": lambda f=f, x=here: f(x), "mps": lambda f=f, x=there: f(x)}, baseline="cpu",
                       device=probes.DEVICE, clock="wall", max_time=budget.share(len(cases) - number))
        yield {"op": op, "size": size, "ratio": race.ratio, "low": race.low, "high": race.high,
               "verdict": race.verdict, "cpu_ms": race.medians_ms["cpu"], "mps_ms": race.medians_ms["mps"]}


@experiment(name="08-transfer-mps", lesson=LESSON, version=1, needs="mps", seconds=10,
            title=both("To the Apple GPU and back: what does a copy cost?", "去苹果 GPU 再回来：拷贝一次要多久？"),
            finding=mac.transfer, draw=mac.draw_transfer)
def transfer_mps(budget: Budget) -> list[dict]:
    """Fenced copies of 4 KiB to 64 MiB in both directions."""
    rows = []
    for size_kib in budget.loop((4, 64, 1024, 16384, 65536), desc=both("sizes", "规模")):
        here = torch.zeros(size_kib * 256)
        there = here.to(probes.DEVICE)
        for way, x, target in (("to mps", here, probes.DEVICE), ("to cpu", there, "cpu")):
            rows.append({"way": way, "kib": size_kib, "samples_ms": _fenced(lambda x=x, d=target: x.to(d))})
    return rows


def _fenced(f: Callable[[], Any], calls: int = 20) -> list[float]:
    """Milliseconds of each call, with the device idle before and after; two calls first, not counted."""
    f(), f()
    times = []
    for _ in range(calls):
        probes.wait()
        start = perf_counter()
        f()
        probes.wait()
        times.append((perf_counter() - start) * 1e3)
    return times


@experiment(name="08-fence-mps", lesson=LESSON, version=1, needs="mps", seconds=5,
            title=both("Apple GPU: what does a clock say without and with synchronize()?",
                       "苹果 GPU：读表之前，等不等 synchronize()，读数差多少？"),
            finding=mac.fence, draw=mac.draw_fence)
def fence_mps(budget: Budget) -> list[dict]:
    """Ten products of 2048 x 2048, read at once and read after waiting, twenty times."""
    x = torch.randn(2048, 2048, device=probes.DEVICE)
    x @ x
    rows: dict[str, list[float]] = {"at once": [], "after synchronize": []}
    for _ in budget.loop(range(20), desc=both("repeats", "重复")):
        probes.wait()
        start = perf_counter()
        for _ in range(10):
            x @ x
        rows["at once"].append((perf_counter() - start) * 1e3)
        probes.wait()
        rows["after synchronize"].append((perf_counter() - start) * 1e3)
    return [{"read": read, "samples_ms": times} for read, times in rows.items()]


@experiment(name="08-fallback-mps", lesson=LESSON, version=1, needs="mps", seconds=25,
            title=both("Apple GPU: which operations fall back, with the variable set never, before, after import?",
                       "苹果 GPU：回退变量不设、导入前设、导入后设，哪些算子会回退？"),
            finding=mac.fallback, draw=mac.draw_fallback)
def fallback_mps(budget: Budget) -> list[dict]:
    """Seven operations of torch.linalg: native, on the CPU, or an error; three new processes."""
    return [{"moment": moment, **row}
            for moment in budget.loop(("never", "before import", "after import"),
                                      desc=both("new processes", "新进程"))
            for row in probes.fallback_at(moment)]


@experiment(name="08-float64-mps", lesson=LESSON, version=1, needs="mps", seconds=2,
            title=both("Apple GPU: which of seven ways to bring numbers there fail?",
                       "苹果 GPU：七种把数送过去的写法，哪些会失败？"),
            finding=mac.float64, draw=mac.draw_float64)
def float64_mps(budget: Budget) -> list[dict]:
    """Each attempt with its result or the exact error."""
    return [{"code": code, **probes.tried(action)} for code, action in probes.float64_attempts()]


@experiment(name="08-repeat-mps", lesson=LESSON, version=1, needs="mps", seconds=4,
            title=both("Apple GPU: the same bits again, and the same seed on two devices?",
                       "苹果 GPU：再算一次逐位相同吗？同一种子在两种设备上呢？"),
            finding=mac.repeat, draw=mac.draw_repeat)
def repeat_mps(budget: Budget) -> list[dict]:
    """Equal bits or not: product, index_add_, dropout after reseeding; randn of both devices; autocast."""
    torch.manual_seed(8)
    x, where = torch.randn(512, 512, device=probes.DEVICE), torch.randint(0, 16, (512,))
    index = where.to(probes.DEVICE)

    def dropped() -> torch.Tensor:
        torch.manual_seed(8)
        return torch.dropout(x, 0.5, True)

    def drawn(device: str) -> torch.Tensor:
        torch.manual_seed(8)
        return torch.randn(64, device=device).cpu()

    pairs = {"product": lambda: (x @ x, x @ x),
             "index_add": lambda: tuple(torch.zeros(16, 512, device=probes.DEVICE).index_add_(
                 0, index, x) for _ in range(2)),
             "dropout": lambda: (dropped(), dropped()),
             "randn": lambda: (drawn("cpu"), drawn(probes.DEVICE)),
             "devices": lambda: ((x @ x).cpu(), x.cpu() @ x.cpu())}
    rows = []
    for name, make in pairs.items():
        one, other = make()
        rows.append({"pair": name, "outcome": "yes" if torch.equal(one, other) else "no",
                     "largest_difference": float((one - other).abs().max())})
    with torch.autocast(probes.DEVICE, dtype=torch.float16):
        kind = str((x @ x).dtype)
    return [*rows, {"pair": "autocast", "outcome": kind, "largest_difference": 0.0}]
