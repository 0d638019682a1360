"""Code tasks of lesson 04: who reads the switch, off for one block, two errors, make the rule lose.

The last two entries are the visible smoke tests of the checkpoint: they look at form, not at the answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from course.checking import (
    Planned,
    comparison,
    crash,
    cudnn_state,
    data,
    form_is_fine,
    not_run_once,
    switched,
    too_few_rounds,
    watched,
)
from course.i18n import both
from course.verdict import Verdict, correct, inconclusive, incorrect, partly

READERS = ("conv2d", "lstm", "gru", "batch_norm", "ctc_loss", "grid_sample")
OTHERS = {
    "linear": both("a matrix product, done by cuBLAS", "矩阵乘法，归 cuBLAS"),
    "max_pool2d": both("PyTorch's own kernel", "用 PyTorch 自己的 kernel"),
    "softmax": both("PyTorch's own kernel", "用 PyTorch 自己的 kernel"),
    "layer_norm": both(
        "PyTorch's own kernel, which ignores the argument it is handed", "用 PyTorch 自己的 kernel，传进来的参数它不理"
    ),
    "attention": both("guarded by `enable_cudnn_sdp` instead", "归另一个开关 `enable_cudnn_sdp` 管"),
}


# --- reads_enabled ------------------------------------------------------------------------------------------


def check_reads_enabled(reads_enabled: Callable[[str, str], bool]) -> Verdict:
    """Readers and others on a GPU, then the same on a CPU."""
    for op in (*READERS, *OTHERS):
        expected, got = op in READERS, reads_enabled(op, "cuda")
        if got is expected:
            continue
        if not isinstance(got, bool):
            return incorrect(
                both(
                    f'For {op!r} on "cuda" it gave back {got!r}; `True` or `False` is asked for.',
                    f'对 {op!r}、"cuda" 返回了 {got!r}；应返回 `True` 或 `False`。',
                ),
                reason="no-bool",
            )
        if expected:
            return incorrect(
                both(
                    f"{op!r} on a GPU does read the switch, and it is missing.",
                    f"GPU 上的 {op!r} 会读这个开关，你漏了。",
                ),
                reason="missed",
            )
        return incorrect(
            both(
                f"{op!r} on a GPU does not read it: {OTHERS[op]['en']}.",
                f"GPU 上的 {op!r} 不读它：{OTHERS[op]['zh']}。",
            ),
            reason="no-reader",
        )
    if any(reads_enabled(op, "cpu") for op in READERS):
        return partly(
            0.5,
            1.0,
            both(
                "Right for the GPU. On the CPU the switch decides nothing: ask the device first.",
                "GPU 上都对。CPU 上这个开关什么都不决定：先看设备。",
            ),
            reason="device",
        )
    return correct(both("Six readers, on the GPU only.", "六个会读，而且只在 GPU 上。"))


# --- without_cudnn ------------------------------------------------------------------------------------------


def check_without_cudnn(without_cudnn: Callable[[Callable[[], Any]], Any]) -> Verdict:
    """Look at the switches inside, at the value handed back, at how often `run` ran, and at what is left behind."""
    start = {"enabled": True, "benchmark": True, "deterministic": True, "allow_tf32": False}
    other = {"enabled": True, "benchmark": False, "deterministic": False, "allow_tf32": True}
    runs = []

    def look() -> dict[str, Any]:
        runs.append(1)
        return cudnn_state()

    with switched(**other):
        elsewhere, after_elsewhere = without_cudnn(cudnn_state), cudnn_state()
    with switched(**start):
        inside, after = without_cudnn(look), cudnn_state()
    swallowed = True
    with switched(**start):
        try:
            without_cudnn(crash)
        except Planned:
            swallowed = False
        after_crash = cudnn_state()
    with switched(**{**start, "enabled": False}):
        without_cudnn(cudnn_state)
        after_off = cudnn_state()
    if not isinstance(inside, Mapping) or not isinstance(elsewhere, Mapping):
        return incorrect(
            both("Hand back what `run()` returned.", "请把 `run()` 的返回值返回出来。"), reason="no-result"
        )
    if inside["enabled"]:
        return incorrect(both("Inside, cuDNN is still on.", "在里面，cuDNN 还开着。"), reason="still-on")
    moved = sorted(
        {
            name
            for before, seen in ((start, inside), (other, elsewhere))
            for name in before
            if name != "enabled" and seen[name] != before[name]
        }
    )
    if moved:
        return partly(
            0.5,
            1.0,
            both(
                "cuDNN is off inside. "
                f"But {', '.join(f'`{name}`' for name in moved)} moved as well: `flags` sets what you do not name.",
                f"在里面 cuDNN 关了，可 {'、'.join(f'`{name}`' for name in moved)} 也跟着动了：没写出来的，`flags` 也会设。",
            ),
            reason="moved",
        )
    for left, before, reason, when in (
        (after, start, "left-behind", both("Afterwards", "结束后")),
        (after_elsewhere, other, "left-behind", both("Afterwards", "结束后")),
        (after_crash, start, "exception", both("After an exception", "抛出异常后")),
    ):
        if left != before:
            return partly(
                0.5,
                1.0,
                both(
                    "Off inside, and nothing else. "
                    f"{when['en']} the switches are not what they were: `try` and `finally`.",
                    f"在里面关了，别的没动。但{when['zh']}开关没有恢复：用 `try` 和 `finally`。",
                ),
                reason=reason,
            )
    if after_off["enabled"]:
        return partly(
            0.5,
            1.0,
            both(
                "One case is left: whoever had cuDNN off before finds it on afterwards. "
                "Put back what was there, not True.",
                "还剩一种情况：原来就关着 cuDNN 的人，结束后发现它开了。要恢复原值，不是设成 True。",
            ),
            reason="forced-on",
        )
    return not_run_once(swallowed, len(runs)) or correct(
        both(
            "Off inside, nothing else moved, everything back in each case.",
            "在里面关掉，别的没动，无论如何都恢复原样。",
        )
    )


# --- two_errors ---------------------------------------------------------------------------------------------


def check_two_errors(two_errors: Callable[..., Any]) -> Verdict:
    """Values whose errors are known, among them one that a float32 comparison cannot see."""
    import torch

    exact = torch.tensor([1.0, -4.0, 2.0 + 2.0**-26], dtype=torch.float64)
    on = torch.tensor([1.0, -4.0, 2.0], dtype=torch.float32)
    off = torch.tensor([1.0, -3.0, 2.0], dtype=torch.float32)
    expected = (2.0**-26 / 4, 0.25)
    got = two_errors(on.clone(), off.clone(), exact.clone())
    try:
        pair = tuple(float(value) for value in got)
    except (TypeError, ValueError):
        return incorrect(
            both(f"Two numbers are asked for, not {got!r}.", f"要返回两个数，而不是 {got!r}。"), reason="two-numbers"
        )
    if len(pair) != 2:
        return incorrect(
            both(f"Two numbers are asked for, not {len(pair)}.", f"要返回两个数，而不是 {len(pair)} 个。"),
            reason="two-numbers",
        )
    if all(math.isclose(a, b, rel_tol=1e-6) for a, b in zip(pair, expected, strict=True)):
        rng = torch.Generator().manual_seed(4)
        for size in ((7,), (3, 5), (1,)):  # the largest of on, off and exact stand apart
            exact = torch.randn(size, generator=rng, dtype=torch.float64)
            on, off = (
                (exact * torch.empty(size, dtype=torch.float64).uniform_(0.5, 2, generator=rng)).float(),
                -exact.float(),
            )
            wanted = [((side.double() - exact).abs().max() / exact.abs().max()).item() for side in (on, off)]
            again = [float(value) for value in two_errors(on.clone(), off.clone(), exact.clone())]
            if not all(math.isclose(a, b, rel_tol=1e-6) for a, b in zip(again, wanted, strict=True)):
                return incorrect(
                    both(
                        "Right for one example, but not where the largest values of `on`, `off` and `exact` differ: "
                        "divide by the largest absolute value of `exact`.",
                        "一个例子上对了，但 `on`、`off`、`exact` 的最大值不同时就不对：要除以 `exact` 的最大绝对值。",
                    ),
                    reason="other-scale",
                )
        return correct(
            both(
                "Both against float64, in float64, as part of the largest exact value.",
                "两个都在 float64 里和 float64 比，除以最大的精确值。",
            )
        )
    if pair[0] == 0 and math.isclose(pair[1], 0.25):
        return incorrect(
            both(
                "The first error came out as 0: it was lost in float32. "
                "Turn `on` and `off` to float64 before you subtract, not `exact` to float32.",
                "第一个误差成了 0：在 float32 里丢了。"
                "相减之前把 `on` 和 `off` 转成 float64，别把 `exact` 转成 float32。",
            ),
            reason="float32",
        )
    if math.isclose(pair[1], 1.0, rel_tol=1e-6):
        return incorrect(
            both(
                "The distances are right. Divide by the largest absolute value of `exact`.",
                "距离对了。还要除以 `exact` 的最大绝对值。",
            ),
            reason="no-scale",
        )
    if min(pair) < 0:
        return incorrect(
            both(
                "An error came out negative: take `abs()` before the maximum.",
                "误差成了负数：先取 `abs()` 再取最大值。",
            ),
            reason="negative",
        )
    if math.isclose(pair[0], pair[1]):
        return incorrect(
            both(
                "Both numbers are the same here, and should not be: each side is compared with `exact`.",
                "两个数一样，不应该：两边都要分别与 `exact` 比。",
            ),
            reason="sides-equal",
        )
    wanted_text, shown = ("({:.4g}, {:.4g})".format(*two) for two in (expected, pair))
    return incorrect(
        both(
            f"For a small example it should be {wanted_text}, and was {shown}. "
            "Divide the largest distance to `exact` by the largest absolute value of `exact`.",
            f"一个小例子应得 {wanted_text}，得到的是 {shown}。算法：与 `exact` 的最大差值，除以 `exact` 的最大绝对值。",
        ),
        reason="example",
    )


# --- make it lose -------------------------------------------------------------------------------------------


def check_lose(race: Any) -> Verdict:
    """Accept on evidence: the interval of time(off) / time(on) stays below 1.05, from enough rounds."""
    raced = comparison(race)
    if raced is None or raced.baseline != "on" or list(raced.pairs) != ["off"]:
        return incorrect(
            both(
                '`race` should be what `switch_race` gave back: "off" compared with the baseline "on".',
                '`race` 应是 `switch_race` 的返回值：以 "on" 为基准，与 "off" 比较。',
            ),
            reason="no-race",
        )
    seen = {
        name: {step.switches["mkldnn.enabled"] for step in watched(call, "mkldnn.enabled")}
        for name, call in raced.functions.items()
    }
    if seen != {"on": {True}, "off": {False}}:
        return incorrect(
            both(
                "The race does not compare one layer with the switch on and off: either nothing is computed, "
                "or the switch does not differ.",
                "这场比赛比的不是同一个层开与关：要么什么都没算，要么开关没有变。",
            ),
            reason="switch",
        )
    if few := too_few_rounds(raced):
        return few
    low, high = raced.low, raced.high
    if high <= 1.05:
        if _misses_onednn(raced):
            return incorrect(
                both(
                    "Your interval stays below 1.05, but measured again it does not: this layer needs oneDNN. "
                    "Take one that never asks for it.",
                    "你的区间在 1.05 以下，但再测一次就不是了：这个层离不开 oneDNN。换一个从来不问它的层。",
                ),
                reason="again",
            )
        return correct(
            both(
                f"Accepted: [{low:.2f}, {high:.2f}]. Off is not slower, or by less than 5 %.",
                f"通过：[{low:.2f}, {high:.2f}]。关掉并没有变慢（或不到 5%）。",
            ),
            low=low,
            high=high,
        )
    if low > 1.05:
        return incorrect(
            both(
                f"Without oneDNN this one is slower: [{low:.2f}, {high:.2f}]. Take a layer that never asks for it.",
                f"这个算子离不开 oneDNN：[{low:.2f}, {high:.2f}]。换一个从来不问它的层。",
            ),
            reason="slower",
        )
    return inconclusive(
        both(
            f"[{low:.2f}, {high:.2f}] does not decide. More time, or a larger input, settles it.",
            f"[{low:.2f}, {high:.2f}] 还下不了结论。多给些时间，或把输入变大。",
        ),
        reason="undecided",
    )


def _misses_onednn(race: Any) -> bool:
    """Whether a second race, ours, says that off is slower; a layer in which oneDNN never runs cannot miss it."""
    from torch.backends import mkldnn

    from course import flags
    from course.lessons.l04_cudnn_enabled.probes import switch_race
    from course.onednn_log import log_of

    call = race.functions["on"]
    with flags.preserved():
        if not mkldnn.is_available() or not log_of(call).lines:
            return False
        again = switch_race(lambda: race.functions["on" if mkldnn.enabled else "off"](), max_time=1.0)
        return next(iter(again.pairs.values())).shown_above(1.05)


# --- the exercises ---


# --- the checkpoint's visible smoke tests: the form of an answer, nothing about its value -----------------


def _form_of_moved(moved_unasked: Callable[..., Any]) -> Verdict:
    got = data(moved_unasked({"a": 1}, {"a": 2}, []))
    if isinstance(got, list) and all(isinstance(name, str) for name in got):
        return form_is_fine(both("The form is right: a list of names.", "形式正确：返回的是名字的列表。"))
    return incorrect(
        both(f"A list of names is expected, not {got!r}.", f"应返回名字的列表，而不是 {got!r}。"), reason="form"
    )


ANSWERS = ("rounding", "cudnn", "plain", "elsewhere")


def _form_of_suspect(suspect: Callable[..., Any]) -> Verdict:
    got = data(suspect(1e-7, 2e-7, 1e-6))
    if got in ANSWERS:
        return form_is_fine(both("The form is right: one of the four words.", "形式正确：返回的是四个词之一。"))
    return incorrect(
        both(
            f"One of {', '.join(ANSWERS)} is expected, not {got!r}.",
            f"应返回 {'、'.join(ANSWERS)} 之一，而不是 {got!r}。",
        ),
        reason="form",
    )


CHECKS = {
    "04-reads": check_reads_enabled,
    "04-errors": check_two_errors,
    "04-without": check_without_cudnn,
    "04-lose": check_lose,
    "04-t-moved": _form_of_moved,
    "04-t-suspect": _form_of_suspect,
}
