"""Scenes of scripts in which nothing is wrong: what is compared is the script as it is, and as the complaint wants it."""

from __future__ import annotations

from course.i18n import Text, both
from course.lessons.l11_bug_hunt.scene import Facts, Scene
from course.lessons.l11_bug_hunt.stage import Stage


def nothing_to_repair(facts: Facts) -> Text:
    """There is no symptom that a change could remove."""
    return both(
        "There was nothing to repair, so no change can be shown to help.",
        "本来就没什么可修的，所以改什么都看不出好处。",
    )


# --- cpu-timer ----------------------------------------------------------------------------------------------------


TIMES = 10
"""How often the script tells its time; the quickest is the least disturbed."""


def timer_scene(stage: Stage) -> Facts:
    from course.checking import watched

    steps = watched(stage.run)
    devices = sorted({str(one.result.device) for one in steps if hasattr(one.result, "device")})
    times = []
    for _ in range(TIMES):  # not watched: watching costs time
        stage.run()
        times.append(float(stage.get("ms")))
    return {"devices": devices, "ms": min(times)}


def timer_told(facts: Facts) -> Text:
    where = ", ".join(facts["devices"])
    return both(
        f"All tensors were on: {where}. At its quickest the script says {facts['ms']:.3f} ms a call.",
        f"所有张量都在：{where}。脚本最快的一次说每次调用 {facts['ms']:.3f} 毫秒。",
    )


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


SCENES = {
    "11-cpu-timer": Scene(timer_scene, timer_told, nothing_to_repair),
    "11-cpu-benchmark": Scene(benchmark_scene, benchmark_told, nothing_to_repair),
    "11-no-grad": Scene(features_scene, features_told, nothing_to_repair),
}
