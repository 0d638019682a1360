"""Code tasks of lesson 15: the map from memory, advice for a script."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from course.core.i18n import both
from course.core.verdict import Verdict, correct, incorrect, not_attempted, partly
from course.flags import SWITCHES

# --- home_of ------------------------------------------------------------------------------------------------

ASKED = {
    "benchmark": "cudnn",
    "enable_flash_sdp": "cuda",
    "is_macos_or_newer": "mps",
    "verbose": "mkldnn",
    "immediate": "miopen",
    "set_fastpath_enabled": "mha",
    "strategy": "opt_einsum",
    "engine": "quantized",
    "get_cpu_capability": "cpu",
}
"""What is asked, and one submodule that has it; whatever else the table of switches says of the name is right too."""


def homes(name: str) -> set[str]:
    """The submodules in which the table of switches has that name."""
    return {one.group for one in SWITCHES.values() if one.name.rpartition(".")[2] == name}


def check_home_of(home_of: Any) -> Verdict:
    """Every name is looked up in the table; wrong ones are named, right ones counted."""
    if not isinstance(home_of, Mapping):
        return incorrect(
            both(
                "`home_of` is a dictionary: name of the switch -> name of its submodule.",
                "`home_of` 应是字典：开关名 -> 子模块名。",
            ),
            reason="no-dictionary",
        )
    given = {str(key): value for key, value in home_of.items() if value is not ... and value not in (None, "")}
    if not any(name in given for name in ASKED):
        return not_attempted(
            both("All places are still empty. Guess: a wrong guess helps too.", "还都空着。猜一猜吧，猜错了也有用。"),
            reason="placeholder",
        )
    said = {name: str(given.get(name, "")).strip().removeprefix("torch.backends.") for name in ASKED}
    wrong = [name for name, where in said.items() if where not in homes(name)]
    if not wrong:
        return correct(both("All of them, from memory.", "全对，而且是凭记忆！"))
    right = len(ASKED) - len(wrong)
    listed = {code: (", " if code == "en" else "、").join(f"`{name}`" for name in wrong) for code in ("en", "zh")}
    words = both(
        f"{right} of {len(ASKED)} stand where they live. Look again at: {listed['en']}.",
        f"{len(ASKED)} 个里对了 {right} 个。再想想：{listed['zh']}。",
    )
    return partly(right / len(ASKED), 1.0, words, reason="places") if right else incorrect(words, reason="places")


# --- claim --------------------------------------------------------------------------------------------------

"""(ratio, low, high, the word that the interval allows) with a gate of 2 %."""


# --- advice -------------------------------------------------------------------------------------------------

Script = dict[str, Any]
SCRIPTS: tuple[Script, ...] = tuple(
    {"device": device, "convolutions": convolutions, "sizes": sizes, "same_bits": bits}
    for device in ("cuda", "cpu", "mps")
    for convolutions in (True, False)
    for sizes in ("fixed", "changing")
    for bits in (False, True)
)
"""Every combination of the four questions."""


def searches(script: Script) -> bool:
    """Whether the search of cuDNN pays in this script, and may be used."""
    return (
        script["device"] == "cuda" and script["convolutions"] and script["sizes"] == "fixed" and not script["same_bits"]
    )


def _told(script: Script) -> tuple[str, str]:
    yes = ("with", "有") if script["convolutions"] else ("without", "没有")
    bits = (
        ("equal bits asked for", "要求逐位一致")
        if script["same_bits"]
        else ("equal bits not asked for", "不要求逐位一致")
    )
    sizes = {"fixed": "固定", "changing": "变化"}[script["sizes"]]
    return (
        f"{script['device']}, {yes[0]} convolutions, sizes {script['sizes']}, {bits[0]}",
        f"{script['device']}，{yes[1]}卷积，尺寸{sizes}，{bits[1]}",
    )


def _fault(script: Script, given: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """What is wrong with the advice for one script: a code, and words in both languages; None where nothing is."""
    unknown = [str(name) for name in given if name not in SWITCHES]
    if unknown:
        return (
            "misspelt",
            f"there is no switch `{unknown[0]}`: a misspelt one is accepted silently",
            f"没有 `{unknown[0]}` 这个开关：拼错了也会被悄悄接受",
        )
    off = [name for name in ("cudnn.enabled", "mkldnn.enabled") if given.get(name) is False]
    if off:
        return (
            "switched-off",
            f"`{off[0]} = False` is for comparing and hunting an error",
            f"`{off[0]} = False` 只用于对比和排查",
        )
    if script["same_bits"] and given.get("torch.deterministic_algorithms") is not True:
        return (
            "same-bits",
            "equal bits need `torch.deterministic_algorithms`: the switch of cuDNN speaks of convolutions alone",
            "要逐位一致，需要 `torch.deterministic_algorithms`：cuDNN 的那个开关只管卷积",
        )
    if not script["same_bits"] and (given.get("torch.deterministic_algorithms") or given.get("cudnn.deterministic")):
        return "not-asked", "nobody asked for equal bits, and they may cost time", "没人要求逐位一致，而它可能拖慢速度"
    if given.get("cudnn.benchmark") is True and not searches(script):
        reason = (
            ("the search may keep another plan in the next run", "下次运行可能选中另一个计划")
            if script["same_bits"] and script["device"] == "cuda"
            else ("every new size is searched", "每个新尺寸都要搜索")
            if script["device"] == "cuda" and script["convolutions"]
            else ("there nobody reads it", "那里没人读它")
        )
        return (
            "search-wasted",
            f"`cudnn.benchmark` is on, and {reason[0]}",
            f"打开了 `cudnn.benchmark`，可是{reason[1]}",
        )
    if searches(script) and given.get("cudnn.benchmark") is not True:
        return (
            "search-missing",
            "here the search pays: `cudnn.benchmark` is missing",
            "这里搜索划算：缺了 `cudnn.benchmark`",
        )
    return None


def check_advice(advice: Callable[[Script], Mapping[str, Any]]) -> Verdict:
    """All 24 scripts; the first fault is told with its script."""
    for script in SCRIPTS:
        given = advice(dict(script))
        if given is None or given is ...:
            return not_attempted(
                both("`advice` returns nothing yet: fill in the blanks.", "`advice` 还没有返回值：请把空白补上。"),
                reason="placeholder",
            )
        if not isinstance(given, Mapping):
            return incorrect(
                both("`advice` gives a dictionary: name of a switch -> value.", "`advice` 返回字典：开关名 -> 取值。"),
                reason="no-dictionary",
            )
        fault = _fault(script, given)
        if fault:
            en, zh = _told(script)
            return incorrect(both(f"{en}: {fault[1]}.", f"{zh}：{fault[2]}。"), reason=fault[0])
    return correct(
        both(
            "Right for all 24 scripts, and no line that nobody reads. A colleague may copy this.",
            "24 种脚本全对，没有一行是没人读的。同事可以放心照抄！",
        )
    )


CHECKS = {"15-home-of": check_home_of, "15-advice": check_advice}
