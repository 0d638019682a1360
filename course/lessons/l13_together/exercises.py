"""Code tasks of lesson 13 that run or measure: compare two kernels, take your settings into a thread, make flash lose."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any

from course import flags
from course.core.i18n import both
from course.core.verdict import Verdict, correct, inconclusive, incorrect, not_attempted, partly
from course.exercises.checking import not_lost, race_in

SWITCHES = ("cuda.enable_flash_sdp", "cuda.enable_mem_efficient_sdp", "cuda.enable_math_sdp", "cuda.enable_cudnn_sdp")


# --- kernel_gap -------------------------------------------------------------------------------------------


def _differing() -> tuple[list[tuple[Any, ...]], list[float]]:
    """Two sets of (q, k, v) whose largest difference between the kernels is above and below 0; and these differences."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention as attend

    found: dict[bool, tuple[tuple[Any, ...], float]] = {}
    rng = torch.Generator().manual_seed(13)
    for _ in range(60):
        tensors = tuple(torch.randn(1, 2, 48, 16, generator=rng) for _ in range(3))
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            flash = attend(*tensors)
        with sdpa_kernel(SDPBackend.MATH):
            gap = flash - attend(*tensors)
        up, down = gap.max().item(), -gap.min().item()
        if up != down and gap.abs().mean().item() < max(up, down):
            found.setdefault(up > down, (tensors, max(up, down)))
        if len(found) == 2:
            break
    return [tensors for tensors, _ in found.values()], [gap for _, gap in found.values()]


def _switches() -> dict[str, Any]:
    return {name: flags.SWITCHES[name].read() for name in SWITCHES}


def check_kernel_gap(kernel_gap: Callable[..., float]) -> Verdict:
    """Both kernels ran, the largest difference comes back, and every switch is as before: also after an error."""
    import torch

    from course.models.attention import kernel_of

    with flags.preserved(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of every kernel that it may not take
        for name in SWITCHES:
            flags.assign(name, True)
        inputs, gaps = _differing()
        if not gaps:
            return inconclusive(
                both(
                    "On this machine the two kernels give the same bits for all inputs tried, so nothing can be told apart.",
                    "在这台机器上，试过的每种输入，两个 kernel 的结果都逐位一致，判断不了对错。",
                ),
                reason="same-bits",
            )
        answers: list[Any] = []
        ran = kernel_of(lambda: answers.extend(kernel_gap(*tensors) for tensors in inputs))
        after = _switches()
        if (said := _judge_gap(answers, gaps, ran)) is not None:
            return said
        if not all(after.values()):
            return partly(
                0.5, 1.0,
                both(
                    "The number is right. But afterwards a kernel that was allowed is switched off.",
                    "数是对的，但用完之后，原本允许的某个 kernel 被关掉了。",
                ),
                reason="left-off",
            )  # fmt: skip
        flags.assign("cuda.enable_mem_efficient_sdp", False)
        flags.assign("cuda.enable_flash_sdp", False)
        before = _switches()
        kernel_gap(*inputs[0])
        if _switches() != before:
            return partly(
                0.5, 1.0,
                both(
                    "Two kernels were off before the call, and are on afterwards: put back what was there, not the default.",
                    "调用之前有两个 kernel 是关着的，之后却打开了：要恢复原样，而不是默认值。",
                ),
                reason="default",
            )  # fmt: skip
        for name in SWITCHES:
            flags.assign(name, True)
        try:
            kernel_gap(torch.zeros(1, 2, 4, 8), torch.zeros(1, 2, 4, 8), torch.zeros(1, 3, 4, 8))
        except Exception:  # noqa: BLE001  (these sizes do not fit: the call has to fail, in whatever way)
            if not all(_switches().values()):
                return partly(
                    0.5, 1.0,
                    both(
                        "Right while all goes well. After an exception a kernel stays switched off: use `with`.",
                        "一切顺利时没问题。可一出异常，就会有 kernel 一直关着：请用 `with`。",
                    ),
                    reason="exception",
                )  # fmt: skip
    return correct(
        both(
            "Two kernels, one number, and every switch as it was. `sdpa_kernel` does the tidying up.",
            "两个 kernel 各跑一次，返回一个数，所有开关恢复原样。善后的活儿 `sdpa_kernel` 都替你干了。",
        )
    )


def _judge_gap(answers: list[Any], gaps: list[float], ran: str) -> Verdict | None:
    """What is wrong with the numbers given back; None where they are the largest differences."""
    if any(got is None or got is Ellipsis for got in answers):
        return not_attempted(
            both("`kernel_gap` returns nothing yet.", "`kernel_gap` 还没有返回值。"), reason="placeholder"
        )
    try:
        numbers = [float(got) for got in answers]
    except (TypeError, ValueError, RuntimeError):
        return incorrect(
            both("One number is asked for: the largest difference.", "要的是一个数：最大的差。"), reason="no-number"
        )
    if ran != "flash, math":
        return incorrect(
            both(
                f"A profile of your call shows {ran or 'no attention kernel'}: both flash and math have to run, each alone.",
                f"profile 里看到的是 {ran or '没有注意力 kernel'}：flash 和 math 都要单独跑一次。",
            ),
            reason="kernels",
        )
    if numbers != gaps:
        hint = both("Take the size of each difference first, `.abs()`.", "先对每个差取绝对值：`.abs()`。")
        if all(abs(got) < gap / 2 for got, gap in zip(numbers, gaps, strict=True)):
            hint = both("It is too small for the largest one: a mean?", "说是最大值，这个数太小了：是不是取了平均？")
        return incorrect(
            both(
                f"The largest differences are {gaps[0]:.2e} and {gaps[-1]:.2e}, not {numbers[0]:.2e} and {numbers[-1]:.2e}. "
                f"{hint['en']}",
                f"最大的差应是 {gaps[0]:.2e} 和 {gaps[-1]:.2e}，而不是 {numbers[0]:.2e} 和 {numbers[-1]:.2e}。{hint['zh']}",
            ),
            reason="number",
        )
    return None


# --- in_thread --------------------------------------------------------------------------------------------


def _here() -> dict[str, Any]:
    """What a thread keeps for itself, and which thread this is."""
    import torch

    return {
        "thread": threading.get_ident(),
        "grad": torch.is_grad_enabled(),
        "autocast": torch.is_autocast_enabled("cpu"),
        "dtype": torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else None,
    }


def check_in_thread(in_thread: Callable[[Callable[[], Any]], Any]) -> Verdict:
    """Another thread, the caller's grad mode and autocast in it, the result back, and nothing changed here."""
    import torch

    for grad in (False, True):
        for dtype in (None, torch.bfloat16, torch.float16):
            with torch.set_grad_enabled(grad), torch.autocast("cpu", dtype=dtype, enabled=dtype is not None):
                here = _here()
                there = in_thread(_here)
                after = _here()
            said = _judge_thread(here, there, after)
            if said is not None:
                return said
    return correct(
        both(
            "Another thread, with your grad mode, your autocast and its dtype, and the result is back.",
            "换了一个线程，梯度模式、autocast 连同它的 dtype 都带过去了，结果也拿回来了。",
        )
    )


def _judge_thread(here: dict[str, Any], there: Any, after: dict[str, Any]) -> Verdict | None:
    if not isinstance(there, dict):
        return incorrect(both("Hand back what `run()` returned.", "请把 `run()` 的返回值返回出来。"), reason="result")
    if there["thread"] == here["thread"]:
        return incorrect(
            both("`run()` ran in the thread that called.", "`run()` 是在调用者自己的线程里跑的。"), reason="same"
        )
    if here != after:
        return incorrect(
            both("Afterwards the calling thread has other settings than before.", "之后，调用者线程自己的设置变了。"),
            reason="left",
        )
    for name, said in (
        ("grad", both("the grad mode", "梯度模式")),
        ("autocast", both("autocast", "autocast")),
        ("dtype", both("the dtype of autocast", "autocast 的 dtype")),
    ):
        if here[name] != there[name]:
            return incorrect(
                both(
                    f"In the caller {said['en']} is {here[name]}, in the new thread {there[name]}. "
                    "Read it **before** the thread starts, set it inside.",
                    f"调用者这边{said['zh']}是 {here[name]}，新线程里却是 {there[name]}。要在线程开始**之前**读，在里面设。",
                ),
                reason=name,
            )
    return None


# --- make it lose -----------------------------------------------------------------------------------------


WIDE = 8
"""Heads this many times as wide as there are tokens: the table of scores is small beside the inputs."""


def check_losing(losing: Any) -> Verdict:
    """Accept on evidence: time(flash) / time(math) wholly above 1, enough rounds, and each side ran its kernel.

    Or wholly below 1 for a call with a table that is small beside its inputs: on such a CPU flash cannot be beaten.
    """
    from course.models.attention import kernel_of, size_of

    raced = race_in(losing, "flash_math(call)", "math", "flash")
    if isinstance(raced, Verdict):
        return raced
    with flags.preserved():
        ran = {name: kernel_of(raced.functions[name]) for name in ("flash", "math")}
        keys, width = size_of(raced.functions["flash"])
    if ran != {"flash": "flash", "math": "math"}:
        return incorrect(
            both(
                "Both sides have to differ in the kernel alone, "
                f"and the profile shows {ran['flash'] or '-'} against {ran['math'] or '-'}. "
                "Look with `kernel_of(call)`.",
                f"两边应当只差在 kernel，可 profile 里是 {ran['flash'] or '-'} 对 {ran['math'] or '-'}。用 `kernel_of(call)` 看看。",
            ),
            reason="kernels",
        )
    won = both(
        "flash won. What does it save, and when is there little to save?",
        "flash 赢了。想一想，它省的是什么？什么时候没什么可省？",
    )
    low, high = raced.low, raced.high
    if verdict := not_lost(raced, won):
        if verdict.reason == "won" and width >= WIDE * keys:
            return correct(
                both(
                    f"Measured: with {keys} tokens and heads {width} wide there is little to save, and here flash still takes only "
                    f"{low:.2f} to {high:.2f} times as long as math. Your CPU is the counterexample to this exercise.",
                    f"测到了：{keys} 个 token、每个头宽 {width}，没什么可省，可这里 flash 的耗时仍只有 math 的 {low:.2f} 到 {high:.2f} 倍。"
                    "你的 CPU 就是本题的反例。",
                )
            )
        return verdict
    return correct(
        both(
            f"Accepted: here flash takes {low:.2f} to {high:.2f} times as long as math.",
            f"通过：这里 flash 的耗时是 math 的 {low:.2f} 到 {high:.2f} 倍。",
        )
    )


CHECKS = {"13-kernel-gap": check_kernel_gap, "13-in-thread": check_in_thread, "13-make-it-lose": check_losing}
