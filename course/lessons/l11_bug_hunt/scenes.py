"""What stands behind a case in code: how its script is run and watched, how the symptom is told, what a repair must show.

The words of a case are in ``cases.yaml``. Importing this loads no torch: a scene runs in a new process. Scenes that need an NVIDIA GPU
to hurt are decided by rules, on a stand-in that follows two of them and measures nothing.

Rule 1, the queue (docs.pytorch.org/docs/stable/notes/cuda.html, "Asynchronous execution"): a call returns when its work
is in the queue; only a fence, or reading a value, waits. Rule 2, the plan (aten/src/ATen/native/cudnn/Conv_v8.cpp): a
convolution problem gets its plan when it is first seen, by a search if ``cudnn.benchmark`` is True at that moment, and
keeps it; ``benchmark`` itself is not part of the key. Times are the case's own, in milliseconds of a pretended clock.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from course.core.i18n import Text, both
from course.lessons.l11_bug_hunt.stage import Facts, Scene, Stage

ENABLED = "mkldnn.enabled"
LAUNCH_MS = 0.01


@dataclass
class ToyGPU:
    """The clock and the queue of a pretended GPU. guessed_ms, searched_ms: one convolution with either kind of plan."""

    guessed_ms: float = 5.0
    searched_ms: float = 4.0
    search_ms: float = 50.0
    now_ms: float = 0.0
    busy_until_ms: float = 0.0
    plans: dict[tuple, str] = field(default_factory=dict)
    calls: list[dict[str, Any]] = field(default_factory=list)

    def convolve(self, shape: tuple[int, ...]) -> None:
        """One convolution of an input of this shape is put into the queue."""
        import torch

        cudnn = torch.backends.cudnn
        key, took = (shape, cudnn.deterministic, cudnn.conv.fp32_precision), 0.0
        if new := key not in self.plans:
            self.plans[key] = "searched" if cudnn.benchmark else "guessed"
            took = self.search_ms if cudnn.benchmark else 0.0
        took += self.searched_ms if self.plans[key] == "searched" else self.guessed_ms
        self.now_ms += LAUNCH_MS
        self.busy_until_ms = max(self.now_ms, self.busy_until_ms) + took
        self.calls.append({"shape": list(shape), "new": new, "plan": self.plans[key], "ms": took})

    def wait(self, *_: Any, **__: Any) -> None:
        """The fence: the clock moves on until the queue is empty."""
        self.now_ms = max(self.now_ms, self.busy_until_ms)

    def seconds(self) -> float:
        """What a stopwatch in Python reads."""
        return self.now_ms / 1e3

    @contextlib.contextmanager
    def plugged_in(self) -> Iterator[ToyGPU]:
        """While this lasts, ``.cuda()`` leads here, convolutions go into the queue, and the clocks of ``time`` are ours."""
        import torch
        from torch.nn.modules.module import register_module_forward_pre_hook

        gpu = self

        class Event:
            def __init__(self, *_: Any, **__: Any) -> None:
                self.at_ms: float | None = None

            def record(self, *_: Any) -> None:
                self.at_ms = max(gpu.now_ms, gpu.busy_until_ms)

            def synchronize(self) -> None:
                gpu.wait()

            def elapsed_time(self, later: Event) -> float:
                return later.at_ms - self.at_ms

        def entered(module: Any, inputs: tuple) -> None:
            if isinstance(module, torch.nn.Conv2d):
                gpu.convolve(tuple(inputs[0].shape))

        def reading(method: Any) -> Any:
            def read(tensor: Any, *given: Any, **named: Any) -> Any:
                gpu.wait()
                return method(tensor, *given, **named)

            return read

        real_to = {torch.Tensor: torch.Tensor.to, torch.nn.Module: torch.nn.Module.to}

        def moved(kind: type) -> Any:
            def to(thing: Any, *given: Any, **named: Any) -> Any:
                wanted = [one for one in (*given, *named.values()) if str(one).startswith("cuda")]
                return thing if wanted else real_to[kind](thing, *given, **named)

            return to

        with contextlib.ExitStack() as stack:
            for kind in (torch.Tensor, torch.nn.Module):
                stack.enter_context(patch.object(kind, "cuda", lambda thing, *_, **__: thing))
                stack.enter_context(patch.object(kind, "to", moved(kind)))
            for name in ("item", "cpu", "tolist", "numpy"):
                stack.enter_context(patch.object(torch.Tensor, name, reading(getattr(torch.Tensor, name))))
            for owner, name in ((torch.cuda, "synchronize"), (torch.accelerator, "synchronize")):
                stack.enter_context(patch.object(owner, name, gpu.wait))
            stack.enter_context(patch.object(torch.cuda, "Event", Event))
            stack.enter_context(patch.object(torch.cuda, "is_available", lambda: True))
            for name in ("perf_counter", "time", "monotonic"):
                stack.enter_context(patch.object(time, name, gpu.seconds))
            hook = register_module_forward_pre_hook(entered)
            try:
                yield self
            finally:
                hook.remove()


def _on_gpu(stage: Stage, **times: float) -> Any:
    """The script, run with a stand-in for the GPU; the stand-in, to be read."""
    gpu = ToyGPU(**times)
    with gpu.plugged_in():
        stage.run()
    return gpu


# --- timer --------------------------------------------------------------------------------------------------------

TRUE_MS = 5.0


def timer_scene(stage: Stage) -> Facts:
    gpu = _on_gpu(stage, guessed_ms=TRUE_MS)
    return {"ms": float(stage.get("ms")), "calls": len(gpu.calls)}


def timer_told(facts: Facts) -> Text:
    return both(
        f"The script says {facts['ms']:.2f} ms; by the rule, one call keeps this GPU busy for {TRUE_MS:.2f} ms.",
        f"脚本说 {facts['ms']:.2f} 毫秒；按规则，一次调用要让这块 GPU 忙 {TRUE_MS:.2f} 毫秒。",
    )


def timer_objection(facts: Facts) -> Text | None:
    ms = facts["ms"]
    if facts["calls"] < 103:
        return both(
            "The measurement has fewer calls than before: warm-up and 100 calls stay.",
            "调用次数比原来少了：预热和那 100 次调用都要保留。",
        )
    if ms < 0.5 * TRUE_MS:
        return both(
            f"{ms:.2f} ms: the clock is still read while the work waits in the queue.",
            f"{ms:.2f} 毫秒：活儿还在排队，表就读了。",
        )
    if ms > 1.01 * TRUE_MS:
        return both(
            f"{ms:.2f} ms, a little too much: the warm-up was still in the queue when the clock started. "
            "Wait before the first reading, too.",
            f"{ms:.2f} 毫秒，多了一点：开始计时的时候，预热还在排队。第一次读表之前也要等。",
        )
    return None


# --- flipped ------------------------------------------------------------------------------------------------------


def flipped_scene(stage: Stage) -> Facts:
    gpu = _on_gpu(stage)
    return {
        "calls": len(gpu.calls),
        "plans": sorted(set(gpu.plans.values())),
        "last": gpu.calls[-1]["plan"] if gpu.calls else "none",
        "shapes": len({tuple(one["shape"]) for one in gpu.calls}),
        "searches": sum(one["new"] and one["plan"] == "searched" for one in gpu.calls),
    }


def flipped_told(facts: Facts) -> Text:
    kind = {"searched": both("searched for", "搜索来的"), "guessed": both("guessed", "凭经验选的")}
    last = kind.get(facts["last"], both("none", "无"))
    return both(
        f"Calls: {facts['calls']}, searches: {facts['searches']}; the plan in use at the end was {last['en']}.",
        f"调用 {facts['calls']} 次，搜索 {facts['searches']} 次；最后用的执行计划是{last['zh']}。",
    )


def flipped_objection(facts: Facts) -> Text | None:
    if facts["calls"] < 100:
        return both("The training got lost: a hundred steps stay.", "训练没了：那一百步要保留。")
    if facts["last"] != "searched":
        return both(
            "Still no search: the plan of this size was made before the switch was on.",
            "还是没有搜索：这个尺寸的执行计划，在开关打开之前就定了。",
        )
    if facts["shapes"] > 1:
        return both(
            "That searches, for another size: the data of the training must stay as they are.",
            "是搜索了，可那是另一个尺寸：训练数据不能变。",
        )
    return None


# --- typo ---------------------------------------------------------------------------------------------------------


def typo_scene(stage: Stage) -> Facts:
    import torch

    from course import flags
    from course.exercises.checking import watched

    stage.run()
    with flags.preserved():
        torch.backends.mkldnn.enabled = True
        steps = [one for one in watched(lambda: stage.get("compare")(), ENABLED) if one.name == "conv2d"]
    return {"enabled": [one.switches[ENABLED] for one in steps]}


def typo_told(facts: Facts) -> Text:
    seen = ", ".join(map(str, facts["enabled"])) or "-"
    return both(
        f"While the convolutions ran, `mkldnn.enabled` was: {seen}.", f"卷积运行时，`mkldnn.enabled` 依次是：{seen}。"
    )


def typo_objection(facts: Facts) -> Text | None:
    if len(facts["enabled"]) != 2:
        return both(
            f"`compare()` ran {len(facts['enabled'])} convolutions. It compares two: one with oneDNN, one without.",
            f"`compare()` 跑了 {len(facts['enabled'])} 次卷积。要比的是两次：一次用 oneDNN，一次不用。",
        )
    if facts["enabled"] != [True, False]:
        return both(
            "The second convolution still ran with oneDNN: nothing was switched off.",
            "第二次卷积仍然用了 oneDNN：什么也没关掉。",
        )
    return None


# --- flags_trap ---------------------------------------------------------------------------------------------------


def trap_scene(stage: Stage) -> Facts:
    from course.exercises.checking import watched

    stage.run()
    answer = stage.get("answer")
    steps = [one for one in watched(answer, ENABLED, "mkldnn.deterministic") if one.name == "conv2d"]
    return {
        "enabled": [one.switches[ENABLED] for one in steps],
        "deterministic": [one.switches["mkldnn.deterministic"] for one in steps],
    }


def trap_told(facts: Facts) -> Text:
    on, deterministic = facts["enabled"][-1:], facts["deterministic"][-1:]
    return both(
        f"While the network computed: enabled {on}, deterministic {deterministic}.",
        f"网络计算时：enabled {on}，deterministic {deterministic}。",
    )


def trap_objection(facts: Facts) -> Text | None:
    if not facts["enabled"]:
        return both("`answer()` computes no convolution any more.", "`answer()` 里已经没有卷积了。")
    if facts["enabled"][-1] is not True:
        return both("oneDNN is still off while the network computes.", "网络计算时，oneDNN 还是关着的。")
    if facts["deterministic"][-1] is not True:
        return both(
            "Fast again, but determinism was what the client wanted: `deterministic` is False while the network computes.",
            "是快了，可客户要的是确定性：网络计算时 `deterministic` 是 False。",
        )
    return None


# --- too_late -----------------------------------------------------------------------------------------------------

GIVEN_THREADS = "3"


def late_scene(stage: Stage) -> Facts:
    stage.run()
    import torch

    return {"threads": torch.get_num_threads(), "variable": os.environ.get("OMP_NUM_THREADS")}


def late_told(facts: Facts) -> Text:
    return both(
        f"The shell said {GIVEN_THREADS}, the script asks for 1, torch uses {facts['threads']}.",
        f"shell 里设的是 {GIVEN_THREADS}，脚本要 1，torch 用了 {facts['threads']}。",
    )


def late_objection(facts: Facts) -> Text | None:
    if facts["threads"] == 1:
        return None
    return both(
        f"torch still uses {facts['threads']} threads: it had looked before the script wrote.",
        f"torch 还是用了 {facts['threads']} 个线程：脚本写之前，它已经看过了。",
    )


# --- graph --------------------------------------------------------------------------------------------------------


def graph_scene(stage: Stage) -> Facts:
    import torch

    stage.run()
    evaluate = stage.get("evaluate")
    value, expected = float(evaluate(5)), stage.get("net")(torch.ones(4, 3, 32, 32)).mean().item()
    return {"mib": [_peak_mib(lambda n=n: evaluate(n)) for n in (5, 10, 20)], "value": value, "expected": expected}


def _peak_mib(call: object) -> float:
    """Peak of what torch holds during one call, MiB, from the profiler's memory events."""
    import torch

    level = peak = 0
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as seen:
        call()
    for event in seen.profiler.kineto_results.events():
        if event.name() == "[memory]":
            level += event.nbytes()
            peak = max(peak, level)
    return round(peak / 2**20, 2)


def graph_told(facts: Facts) -> Text:
    told = ", ".join(f"{one:.1f}" for one in facts["mib"])
    return both(f"Peak memory of 5, 10 and 20 steps: {told} MiB.", f"5、10、20 步的内存峰值：{told} MiB。")


def graph_objection(facts: Facts) -> Text | None:
    if abs(facts["value"] - facts["expected"]) > 1e-4:
        return both("The mean has changed.", "平均值变了。")
    if facts["mib"][2] > 1.3 * facts["mib"][0]:
        return both("The memory still grows with the steps.", "内存还是随步数增长。")
    return None


# --- scripts in which nothing is wrong: compared are the script as it is, and as the complaint wants it ------------------


def nothing_to_repair(facts: Facts) -> Text:
    """There is no symptom that a change could remove."""
    return both(
        "There was nothing to repair, so no change can be shown to help.",
        "本来就没什么可修的，所以改什么都看不出好处。",
    )


# --- cpu-timer ----------------------------------------------------------------------------------------------------


def cpu_timer_scene(stage: Stage) -> Facts:
    from course.exercises.checking import watched

    steps = watched(stage.run)
    return {"devices": sorted({str(one.result.device) for one in steps if hasattr(one.result, "device")})}


def cpu_timer_told(facts: Facts) -> Text:
    where = ", ".join(facts["devices"])
    return both(
        f"All tensors were on: {where}. On a CPU a call comes back when its work is done.",
        f"所有张量都在：{where}。在 CPU 上，调用返回时活儿就干完了。",
    )


def cpu_timer_innocence(as_is: Facts, as_wished: Facts) -> Text | None:
    """Where nothing is on a GPU there is no queue, and no clock has to wait."""
    if as_is["devices"] == ["cpu"]:
        return None
    return both("Not everything is on the CPU.", "不是所有张量都在 CPU 上。")


# --- cpu-benchmark ------------------------------------------------------------------------------------------------


def benchmark_scene(stage: Stage) -> Facts:
    import hashlib

    import torch

    stage.run()
    answer, bits = stage.get("answer"), hashlib.sha256()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as seen:
        for size in (24, 40, 33, 57):
            bits.update(answer(size).contiguous().numpy().tobytes())
    ran = sorted({one.name for one in seen.events() if "conv" in one.name})
    return {"operators": ran, "bits": bits.hexdigest()[:8], "benchmark": torch.backends.cudnn.benchmark}


def benchmark_told(facts: Facts) -> Text:
    ran = ", ".join(f"`{one}`" for one in facts["operators"])
    return both(
        f"benchmark {facts['benchmark']}: operators {ran}; all results together have the check sum {facts['bits']}.",
        f"benchmark {facts['benchmark']}：算子 {ran}；全部结果的校验和是 {facts['bits']}。",
    )


def benchmark_innocence(as_is: Facts, as_wished: Facts) -> Text | None:
    """The switch has no reader here: the same operators, the same bits."""
    if "bits" in as_wished and all(as_is[name] == as_wished[name] for name in ("operators", "bits")):
        return None
    return both("The two runs do not give the same results.", "两次运行的结果不一样。")


# --- no-grad ------------------------------------------------------------------------------------------------------


def features_scene(stage: Stage) -> Facts:
    stage.run()
    grad = stage.get("head").weight.grad
    return {"trained": grad is not None and bool(grad.abs().sum() > 0)}


def features_told(facts: Facts) -> Text:
    return both(
        f"The head got gradients: {'yes' if facts['trained'] else 'no'}.",
        f"head 得到梯度了吗：{'得到了' if facts['trained'] else '没有'}。",
    )


def features_innocence(as_is: Facts, as_wished: Facts) -> Text | None:
    """The head is trained as it is; as the complaint wants it, it must not do better."""
    if as_is["trained"]:
        return None
    return both("The head got no gradients.", "head 没有得到梯度。")


SCENES = {
    "11-timer": Scene(timer_scene, timer_told, timer_objection),
    "11-flipped": Scene(flipped_scene, flipped_told, flipped_objection),
    "11-typo": Scene(typo_scene, typo_told, typo_objection),
    "11-flags-trap": Scene(trap_scene, trap_told, trap_objection),
    "11-too-late": Scene(late_scene, late_told, late_objection),
    "11-graph": Scene(graph_scene, graph_told, graph_objection),
    "11-cpu-timer": Scene(cpu_timer_scene, cpu_timer_told, nothing_to_repair, cpu_timer_innocence),
    "11-cpu-benchmark": Scene(benchmark_scene, benchmark_told, nothing_to_repair, benchmark_innocence),
    "11-no-grad": Scene(features_scene, features_told, nothing_to_repair, features_innocence),
}
"""The scene of every case, by its id."""
