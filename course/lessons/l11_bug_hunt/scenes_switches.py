"""Scenes about switches: a name that is none, a context that switches off more than it names, a question overwritten, two
programming interfaces for one thing, a word that is always true.
"""

from __future__ import annotations

from course.core.i18n import Text, both
from course.lessons.l11_bug_hunt.scene import Facts, Scene
from course.lessons.l11_bug_hunt.stage import Stage
from course.timing.results import bracketed

ENABLED = "mkldnn.enabled"


def _ratio(facts: Facts) -> Text:
    """The measured times in words, where there were any."""
    if not facts.get("ratio"):
        return both("", "")
    ratio = bracketed(*(f"{one:.2f}" for one in facts["ratio"]))
    return both(f" Measured just now: {ratio} times as long.", f"刚刚测得：耗时是 {ratio} 倍。")


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
    facts: Facts = {
        "enabled": [one.switches[ENABLED] for one in steps],
        "deterministic": [one.switches["mkldnn.deterministic"] for one in steps],
    }
    if stage.timed:
        facts["ratio"] = _times(answer, lambda: stage.get("net")(stage.get("photos")))
    return facts


def _times(yours: object, plain: object) -> list[float]:
    """Time of ``yours`` over that of ``plain`` with its interval, one thread, about a second."""
    import torch

    from course import flags
    from course.timing import compare

    with torch.no_grad(), flags.using({"torch.num_threads": 1}):
        pair = compare({"plain": plain, "yours": yours}, baseline="plain", max_time=1.0, ci=0.05).pairs["yours"]
    return [] if pair.low is None else [float(pair.ratio), float(pair.low), float(pair.high)]


def trap_told(facts: Facts) -> Text:
    on, deterministic = facts["enabled"][-1:], facts["deterministic"][-1:]
    more = _ratio(facts)
    return both(
        f"While the network computed: enabled {on}, deterministic {deterministic}.{more['en']}",
        f"网络计算时：enabled {on}，deterministic {deterministic}。{more['zh']}",
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


SCENES = {
    "11-typo": Scene(typo_scene, typo_told, typo_objection),
    "11-flags-trap": Scene(trap_scene, trap_told, trap_objection),
}
