"""Scenes of scripts in which nothing is wrong: what is compared is the script as it is, and as the complaint wants it."""

from __future__ import annotations

import time

from course.core.i18n import Text, both
from course.lessons.l11_bug_hunt.scene import Facts, Scene
from course.lessons.l11_bug_hunt.stage import Stage


def nothing_to_repair(facts: Facts) -> Text:
    """There is no symptom that a change could remove."""
    return both(
        "There was nothing to repair, so no change can be shown to help.",
        "本来就没什么可修的，所以改什么都看不出好处。",
    )


# --- cpu-timer ----------------------------------------------------------------------------------------------------


TIMES = 24
"""How often each script tells its time, in turn."""
PATIENCE_S = 20.0
"""On a machine that is busier than that, fewer times have to do."""
ROOM = 1.5
"""How much longer a script may take that reads a value in each call: the reading is a step, too. With a queue it would be many
times as long.
"""


def timer_scene(stage: Stage) -> Facts:
    from course.exercises.checking import watched

    steps = watched(stage.run)
    devices = sorted({str(one.result.device) for one in steps if hasattr(one.result, "device")})
    facts: Facts = {"devices": devices, "ms": float(stage.get("ms"))}
    if stage.beside:
        facts["ratio"] = _longer(stage, stage.beside)
    return facts


def _longer(stage: Stage, other: Stage) -> list[float]:
    """[ratio, low, high] of the time that the other script tells over that of this one; empty where that carries no interval."""
    from course import flags
    from course.timing import interval_or_none
    from course.timing.stats import median

    def told(one: Stage) -> float:
        one.run()
        return float(one.get("ms"))

    ratios, end = [], time.monotonic() + PATIENCE_S
    with flags.using({"torch.num_threads": 1}):
        while len(ratios) < TIMES and time.monotonic() < end:  # not watched: watching costs time
            order = (stage, other) if len(ratios) % 2 else (other, stage)
            times = {one: told(one) for one in order}
            ratios.append(times[other] / times[stage])
    found = interval_or_none(ratios)
    return [median(ratios), found.low, found.high] if found else []


def timer_told(facts: Facts) -> Text:
    where, more = ", ".join(facts["devices"]), both("", "")
    if facts.get("ratio"):
        ratio, low, high = facts["ratio"]
        more = both(
            f" Both run in turn: with the wait it takes {ratio:.2f} [{low:.2f}, {high:.2f}] of the time without.",
            f"两种轮流跑：加上等待，耗时是不等的 {ratio:.2f} 倍 [{low:.2f}, {high:.2f}]。",
        )
    return both(
        f"All tensors were on: {where}. The script says {facts['ms']:.3f} ms a call.{more['en']}",
        f"所有张量都在：{where}。脚本说每次调用 {facts['ms']:.3f} 毫秒。{more['zh']}",
    )


def timer_innocence(as_is: Facts, as_wished: Facts) -> Text | None:
    """A clock that did not wait for the work would tell a much shorter time than one that does."""
    if as_is["devices"] != ["cpu"]:
        return both("Not everything is on the CPU.", "不是所有张量都在 CPU 上。")
    if not as_is.get("ratio") or as_is["ratio"][2] > ROOM:
        return both(
            f"Two single times prove nothing: the whole interval must lie below {ROOM:g}, and it does not. "
            "The machine may be busy: close other programs, and run both once more.",
            f"单凭两个时间证明不了什么：整个区间要在 {ROOM:g} 以下才算，现在不是。机器可能正忙：关掉别的程序，两种再跑一遍。",
        )
    return None


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
    "11-cpu-timer": Scene(timer_scene, timer_told, nothing_to_repair, timer_innocence),
    "11-cpu-benchmark": Scene(benchmark_scene, benchmark_told, nothing_to_repair, benchmark_innocence),
    "11-no-grad": Scene(features_scene, features_told, nothing_to_repair, features_innocence),
}
