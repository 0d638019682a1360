"""Scenes that need an NVIDIA GPU to hurt: decided by rules, played on a stand-in that follows them (``toy_gpu``)."""

from __future__ import annotations

from typing import Any

from course.core.i18n import Text, both
from course.lessons.l11_bug_hunt.scene import Facts, Scene
from course.lessons.l11_bug_hunt.stage import Stage


def _on_gpu(stage: Stage, **times: float) -> Any:
    """The script, run with a stand-in for the GPU; the stand-in, to be read."""
    from course.lessons.l11_bug_hunt.toy_gpu import ToyGPU

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


SCENES = {
    "11-timer": Scene(timer_scene, timer_told, timer_objection),
    "11-flipped": Scene(flipped_scene, flipped_told, flipped_objection),
}
