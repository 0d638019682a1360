"""Scenes about numbers and memory: a unit, a mode, a graph that is kept, a tensor nobody filled, a seed, an exception."""

from __future__ import annotations

from course.i18n import Text, both
from course.lessons.l11_bug_hunt.scene import Facts, Scene
from course.lessons.l11_bug_hunt.stage import Stage

ENABLED = "mkldnn.enabled"


# --- macs ---------------------------------------------------------------------------------------------------------


def macs_scene(stage: Stage) -> Facts:
    script = stage.run()
    return {
        "flops": getattr(script, "flops", None),
        "macs": getattr(script, "macs", None),
        "torch": stage.get("counter").get_total_flops(),
    }


def macs_told(facts: Facts) -> Text:
    named = " ".join(f"{name} = {facts[name]:,}" for name in ("macs", "flops") if facts[name] is not None)
    return both(
        f"The script: {named or 'no number left'}; torch counts {facts['torch']:,} FLOPs.",
        f"脚本：{named or '没有数了'}；torch 数出 {facts['torch']:,} FLOPs。",
    )


def macs_objection(facts: Facts) -> Text | None:
    flops, macs, torch_says = facts["flops"], facts["macs"], facts["torch"]
    if torch_says != 9437184:
        return both("torch's own count has changed: leave the network alone.", "torch 自己数的都变了：网络不要动。")
    if flops is None and macs is None:
        return both("There is neither `flops` nor `macs` any more.", "`flops` 和 `macs` 都没有了。")
    if flops not in (None, torch_says):
        return both(
            f"`flops` is {flops:,}, and torch counts {torch_says:,}.",
            f"`flops` 是 {flops:,}，torch 数出 {torch_says:,}。",
        )
    if macs not in (None, torch_says / 2):
        return both(
            f"`macs` is {macs:,}; there are half as many MACs as FLOPs.", f"`macs` 是 {macs:,}；MAC 应是 FLOPs 的一半。"
        )
    return None


# --- export -------------------------------------------------------------------------------------------------------


def export_scene(stage: Stage) -> Facts:
    import torch

    stage.run()
    program, net, photo = stage.get("program"), stage.get("net"), stage.get("photo")
    with torch.no_grad():
        answers = [program(photo).item() for _ in range(3)]
        return {"answers": answers, "trained": net.train(False)(photo).item()}


def export_told(facts: Facts) -> Text:
    told = ", ".join(f"{one:.3f}" for one in facts["answers"])
    return both(
        f"Three answers to one photo: {told}; the network itself, without dropout: {facts['trained']:.3f}.",
        f"同一张照片的三次答案：{told}；不带 Dropout 的网络本身：{facts['trained']:.3f}。",
    )


def export_objection(facts: Facts) -> Text | None:
    answers = facts["answers"]
    if len(set(answers)) > 1:
        return both("Three requests, still different answers.", "三次请求，答案还是不同。")
    if abs(answers[0] - facts["trained"]) > 1e-4:
        return both(
            "The same answer three times, but not the network's: some inputs of the last layer are still switched off at random.",
            "三次答案一样，可那不是网络的答案：最后一层还有输入被随机关掉。",
        )
    return None


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


# --- empty --------------------------------------------------------------------------------------------------------


def empty_scene(stage: Stage) -> Facts:
    import torch

    from course import flags

    stage.run()
    with flags.preserved():
        torch.use_deterministic_algorithms(True)
        torch.utils.deterministic.fill_uninitialized_memory = True
        careful = stage.get("mean_of")([torch.ones(4)] * 3).tolist()
    return {"careful": [str(one) for one in careful]}


def empty_told(facts: Facts) -> Text:
    told = ", ".join(facts["careful"])
    return both(
        f"Mean of three rows of ones, in the deterministic mode: {told}.", f"确定性模式下，三行 1 的平均值：{told}。"
    )


def empty_objection(facts: Facts) -> Text | None:
    if facts["careful"] == ["1.0"] * 4:
        return None
    return both(
        "In the deterministic mode it is still not 1.0: the fault is still there, and this mode makes it visible.",
        "确定性模式下还不是 1.0：毛病还在，只是这个模式能让你看见它。",
    )


# --- seed ---------------------------------------------------------------------------------------------------------


def seed_scene(stage: Stage) -> Facts:
    stage.run()
    train = stage.get("train")
    return {"numbers": [float(train()) for _ in range(3)]}


def seed_told(facts: Facts) -> Text:
    told = ", ".join(f"{one:.4f}" for one in facts["numbers"])
    return both(f"Three trainings: {told}.", f"训练三次：{told}。")


def seed_objection(facts: Facts) -> Text | None:
    if len(set(facts["numbers"])) > 1:
        return both("Each training still gives another number.", "每次训练的数还是不同。")
    return None


# --- leak ---------------------------------------------------------------------------------------------------------


def leak_scene(stage: Stage) -> Facts:
    import torch

    from course.checking import watched

    stage.run()
    after, check = torch.backends.mkldnn.enabled, stage.get("check")
    torch.backends.mkldnn.enabled = True
    try:
        check("not a photo")
        raised = False
    except TypeError:
        raised = True
    again = torch.backends.mkldnn.enabled
    torch.backends.mkldnn.enabled = True
    steps = [one for one in watched(lambda: check(torch.ones(1, 16, 32, 32)), ENABLED) if one.name == "conv2d"]
    return {"after": after and again, "raised": raised, "during": [one.switches[ENABLED] for one in steps]}


def leak_told(facts: Facts) -> Text:
    return both(
        f"After the bad photo: oneDNN {'on' if facts['after'] else 'off'}; while a good photo is checked: "
        f"{facts['during']}; the error {'comes out' if facts['raised'] else 'is swallowed'}.",
        f"坏照片之后：oneDNN {'开' if facts['after'] else '关'}；检查好照片时：{facts['during']}；"
        f"错误{'抛出来了' if facts['raised'] else '被吞掉了'}。",
    )


def leak_objection(facts: Facts) -> Text | None:
    if not facts["after"]:
        return both("After a bad photo the switch is still off.", "坏照片之后，开关还是关着的。")
    if not facts["raised"]:
        return both(
            "The error no longer comes out of `check`: its caller now takes the photo for a good one.",
            "错误不再从 `check` 抛出来：调用的人会以为照片没问题。",
        )
    if facts["during"] != [False]:
        return both(
            "The check now runs with oneDNN; it should run without.", "检查时又用上了 oneDNN，而检查本来不该用它。"
        )
    return None


SCENES = {
    "11-macs": Scene(macs_scene, macs_told, macs_objection),
    "11-export": Scene(export_scene, export_told, export_objection),
    "11-graph": Scene(graph_scene, graph_told, graph_objection),
    "11-empty": Scene(empty_scene, empty_told, empty_objection),
    "11-seed": Scene(seed_scene, seed_told, seed_objection),
    "11-leak": Scene(leak_scene, leak_told, leak_objection),
}
