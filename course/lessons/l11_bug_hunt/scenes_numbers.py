"""Scenes about numbers and memory: a unit, a mode, a graph that is kept, a tensor nobody filled, a seed, an exception."""

from __future__ import annotations

from course.core.i18n import Text, both
from course.lessons.l11_bug_hunt.scene import Facts, Scene
from course.lessons.l11_bug_hunt.stage import Stage

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


SCENES = {"11-graph": Scene(graph_scene, graph_told, graph_objection)}
