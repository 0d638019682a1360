"""Scenes about switches: a name that is none, a context that switches off more than it names, a question overwritten, two
programming interfaces for one thing, a word that is always true.
"""

from __future__ import annotations

from course.i18n import Text, both
from course.lessons.l11_bug_hunt.scene import Facts, Scene
from course.lessons.l11_bug_hunt.stage import Stage
from course.timing.sentences import bracketed

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
    from course.checking import watched

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
    from course.checking import watched

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


# --- query --------------------------------------------------------------------------------------------------------


def query_scene(stage: Stage) -> Facts:
    import torch

    honest = torch.backends.mps.is_available
    truth = honest()
    try:
        stage.run()
        pick = stage.get("pick")
        return {
            "cpu": str(pick("cpu")),
            "any": str(pick("any")),
            "best": "mps" if truth else "cpu",
            "same": torch.backends.mps.is_available is honest,
        }
    finally:
        torch.backends.mps.is_available = honest


def query_told(facts: Facts) -> Text:
    return both(
        f"Asked for the CPU, it gives {facts['cpu']}; asked for nothing, {facts['any']}; "
        f"`is_available` is {'untouched' if facts['same'] else 'another object than before'}.",
        f"指定 CPU 得到 {facts['cpu']}，不指定得到 {facts['any']}；"
        f"`is_available` {'没有被动过' if facts['same'] else '已经换成了别的东西'}。",
    )


def query_objection(facts: Facts) -> Text | None:
    if not facts["same"]:
        return both(
            "No error any more, but the question was replaced: "
            "the next part of the program asks it and gets your answer instead of the truth.",
            "不报错了，可查询函数被换掉了：程序的其他部分再来问，得到的是你写的答案，不是实情。",
        )
    if facts["cpu"] != "cpu":
        return both('`pick("cpu")` should give the CPU.', '`pick("cpu")` 应该给出 CPU。')
    if facts["any"] != facts["best"]:
        return both(
            f"Asked for nothing, it should give the best device of this machine, {facts['best']}; it gives {facts['any']}.",
            f"不指定时，应给出这台机器最好的设备 {facts['best']}，却给了 {facts['any']}。",
        )
    return None


# --- two_apis -----------------------------------------------------------------------------------------------------


def apis_scene(stage: Stage) -> Facts:
    import torch

    from course import flags

    with flags.preserved():
        stage.run()
        said = str(stage.get("report")())
        allowed = torch.backends.cuda.matmul.fp32_precision == "tf32"
        torch.backends.cuda.matmul.fp32_precision = "ieee"
        try:
            other = str(stage.get("report")())
        except RuntimeError:
            other = "RuntimeError"
        return {"said": said, "allowed": allowed, "other": other}


def apis_told(facts: Facts) -> Text:
    return both(
        f"The report says “{facts['said']}”; TF32 is {'' if facts['allowed'] else 'not '}allowed for matmul.",
        f"报告说“{facts['said']}”；matmul 实际上{'' if facts['allowed'] else '不'}允许 TF32。",
    )


def apis_objection(facts: Facts) -> Text | None:
    if not facts["allowed"]:
        return both(
            "No error any more, but TF32 is no longer allowed for matmul: that was the purpose of `setup()`.",
            "不报错了，可 matmul 也不再允许 TF32 了：`setup()` 本来就是为了它。",
        )
    if facts["other"] == facts["said"]:
        return both(
            "The report says the same whatever is set: it must read the setting.",
            "不管怎么设，报告说的都一样：它应该去读设置。",
        )
    if "False" in facts["said"] or not ("True" in facts["said"] or "tf32" in facts["said"]):
        return both(
            f"TF32 is allowed, and the report says “{facts['said']}”.", f"TF32 是允许的，报告却说“{facts['said']}”。"
        )
    return None


# --- bool_false ---------------------------------------------------------------------------------------------------


def word_scene(stage: Stage) -> Facts:
    from course import flags

    with flags.preserved():
        stage.run()
        parse = stage.get("parse")
        seen = {}
        for words in ([], ["--onednn", "False"], ["--onednn", "True"], ["--no-onednn"], ["--onednn"]):
            try:
                seen[" ".join(words)] = parse(words)
            except SystemExit:
                seen[" ".join(words)] = "refused"
        return {
            "parsed": {words: value if isinstance(value, (bool, str)) else repr(value) for words, value in seen.items()}
        }


def word_told(facts: Facts) -> Text:
    told = "; ".join(f"`{words or '(nothing)'}` → {value}" for words, value in facts["parsed"].items())
    return both(f"Options and what they give: {told}.", f"各种写法的结果：{told}。")


def word_objection(facts: Facts) -> Text | None:
    parsed = facts["parsed"]
    if parsed[""] is not True:
        return both("Without an option oneDNN stays on.", "不写选项时，oneDNN 应保持打开。")
    if parsed["--onednn False"] is True:
        return both("`--onednn False` still gives True.", "`--onednn False` 得到的还是 True。")
    off = [words for words in ("--onednn False", "--no-onednn") if parsed[words] is False]
    on = [words for words in ("--onednn True", "--onednn") if parsed[words] is True]
    if not off:
        return both("There is no way left to switch it off.", "现在没有办法关掉它了。")
    if not on:
        return both("There is no way left to ask for it to be on.", "现在没有办法明说要打开它了。")
    return None


SCENES = {
    "11-typo": Scene(typo_scene, typo_told, typo_objection),
    "11-flags-trap": Scene(trap_scene, trap_told, trap_objection),
    "11-query": Scene(query_scene, query_told, query_objection),
    "11-two-apis": Scene(apis_scene, apis_told, apis_objection),
    "11-bool-false": Scene(word_scene, word_told, word_objection),
}
