"""Code tasks of lesson 01 on blocks that put switches back: fill in what `flags` takes, change only what is named."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from course.core.i18n import both
from course.core.verdict import Verdict, correct, incorrect, partly

STATES = ((True, True, False), (False, False, True), (True, False, True))


def _inside_block(block: Callable[[], Any], state: tuple[bool, bool, bool]) -> tuple[bool, bool, bool, bool]:
    """(enabled, benchmark, allow_tf32, deterministic) inside the learner's block, entered in ``state``."""
    import torch

    from course.flags import using

    cudnn = torch.backends.cudnn
    names = ("cudnn.enabled", "cudnn.benchmark", "cudnn.allow_tf32", "cudnn.deterministic")
    with using(dict(zip(names, (*state, False), strict=True))), block():
        return cudnn.enabled, cudnn.benchmark, cudnn.allow_tf32, cudnn.deterministic


def _after_block(
    block: Callable[[], Any], state: tuple[bool, bool, bool], crash: bool
) -> tuple[bool, bool, bool, bool]:
    """The same switches after the learner's block, entered in ``state``; ``crash``: left by an exception."""
    import torch

    from course.flags import using

    cudnn = torch.backends.cudnn
    names = ("cudnn.enabled", "cudnn.benchmark", "cudnn.allow_tf32", "cudnn.deterministic")
    with using(dict(zip(names, (*state, False), strict=True))):
        with contextlib.suppress(_Strange), block():
            if crash:
                raise _Strange
        return cudnn.enabled, cudnn.benchmark, cudnn.allow_tf32, cudnn.deterministic


def check_fill_the_blanks(deterministic_block: Callable[[], Any]) -> Verdict:
    """Enter the block in three states; inside only ``deterministic`` may differ, and afterwards nothing."""
    for state in STATES:
        *rest, deterministic = _inside_block(deterministic_block, state)
        if not deterministic:
            return incorrect(
                both("`deterministic` must be True inside.", "在里面 `deterministic` 应为 True。"),
                reason="not-deterministic",
            )
        for name, was, now in zip(("enabled", "benchmark", "allow_tf32"), state, rest, strict=True):
            if was != now:
                return incorrect(
                    both(
                        f"Entered with `{name}={was}`, the block has `{name}={now}`. Do not write a fixed value: "
                        f"hand over what the switch holds at that moment, `cudnn.{name}`.",
                        f"进入前 `{name}={was}`，里面却是 `{name}={now}`。"
                        f"不要写死一个值：把开关当时的值 `cudnn.{name}` 传进去。",
                    ),
                    reason="fixed-value",
                )
        for crash in (False, True):
            if _after_block(deterministic_block, state, crash) != (*state, False):
                return incorrect(
                    both(
                        "Inside all is well, but afterwards the switches are not what they were. "
                        "`cudnn.flags(...)` puts them back.",
                        "里面都对，但之后开关没有恢复原样。`cudnn.flags(...)` 会负责恢复。",
                    ),
                    reason="left-behind",
                )
    return correct(
        both(
            "Only what was named has changed, in every state we tried.",
            "试过的每种状态下，都只有写出来的开关发生变化。",
        )
    )


class _Strange(Exception):
    """Raised inside the learner's block, to see whether it comes out and the switches go back."""


def _panel() -> SimpleNamespace:
    return SimpleNamespace(enabled=True, benchmark=True, deterministic=False)


def _after_an_exception(only: Callable[..., Any]) -> tuple[SimpleNamespace, bool]:
    """The panel after an exception inside the block, and whether the exception came out."""
    panel = _panel()
    try:
        with only(panel, enabled=False):
            raise _Strange
    except _Strange:
        return panel, True
    return panel, False


def _after_a_typo(only: Callable[..., Any]) -> tuple[SimpleNamespace, bool]:
    """The panel after a block with a misspelt switch, and whether anything was raised (AttributeError comes by itself,
    ValueError says it in words).
    """
    panel = _panel()
    try:
        with only(panel, deterministic=True, benchmarks=False):
            pass
    except Exception:
        return panel, True
    return panel, False


def _on_the_real_panels(only: Callable[..., Any]) -> bool:
    """The promises on torch's own cudnn and mkldnn, whose modules are not plain ones."""
    from torch.backends import cudnn, mkldnn

    from course import flags

    with flags.preserved():
        for module, name, prefix in (
            (cudnn, "deterministic", "cudnn."),
            (mkldnn, "deterministic", "mkldnn."),
            (cudnn, "benchmark", "cudnn."),
        ):
            before = flags.snapshot()
            wanted = not getattr(module, name)
            try:
                with only(module, **{name: wanted}):
                    inside = flags.snapshot()
                    raise _Strange
            except _Strange:
                pass
            if inside != {**before, f"{prefix}{name}": wanted} or flags.snapshot() != before:
                return False
    return True


NO_BLOCK = both(
    "`only(...)` must work after `with`: put `@contextmanager` above the function and `yield` where the block runs.",
    "`only(...)` 要能放在 `with` 后面：在函数上方写 `@contextmanager`，在代码块运行的位置写 `yield`。",
)
NOT_BACK = both(
    "After the block a switch does not have its old value. Remember it with `getattr` before you change it.",
    "离开之后，有开关没有回到旧值。改之前先用 `getattr` 记住它。",
)
EXCEPTION_LEAKS = both(
    "After an exception inside the block the switch must be back and the exception must come out: `try` ... `finally`.",
    "块里抛出异常后，开关要恢复，异常也要继续往外抛：用 `try` ... `finally`。",
)
LEANS_ON_FLAGS = both(
    "The module's own `flags` sets more than is named: that is the trap above (and the stand-in tried here has none). "
    "Read the old values with `getattr`, write with `setattr`.",
    "模块自带的 `flags` 设的比你写的多，这正是上面的陷阱（这里用来试的替身也没有它）。请用 `getattr` 读旧值，用 `setattr` 写。",
)
TYPO_PASSES = both(
    "A misspelt switch should raise an exception (AttributeError, ValueError) before anything has moved: read all old values first.",
    "开关名拼错时应抛出异常（AttributeError 或 ValueError），而且什么都还没动：先把所有旧值读出来。",
)
NOT_ON_THE_REAL = both(
    "On the stand-in it works, on the real `torch.backends.cudnn` it does not: there, "
    "reading or writing more than is named fails or moves something. "
    "Touch the named switches alone, with `getattr` and `setattr`.",
    "在替身上没问题，换成真正的 `torch.backends.cudnn` 就不行：在那里，多读多写会出错，或带动别的开关。"
    "只用 `getattr`、`setattr` 碰写出来的开关。",
)


def _inside_and_after(only: Callable[..., Any]) -> tuple[dict, dict]:
    """Two panels in nested blocks, as one dict: what they hold inside, and afterwards."""
    panel, other = _panel(), SimpleNamespace(immediate=False)
    with only(panel, deterministic=True), only(other, immediate=True):
        inside = {**vars(panel), **vars(other)}
    return inside, {**vars(panel), **vars(other)}


def check_only(only: Callable[..., Any]) -> Verdict:
    """Four promises, tried on a stand-in panel of switches, one point each."""
    try:
        return _promises_kept(only)
    except AttributeError as error:
        if error.name not in ("flags", "set_flags"):
            raise
        return incorrect(LEANS_ON_FLAGS, max_points=4, reason="own-flags")


def _promises_kept(only: Callable[..., Any]) -> Verdict:
    if not hasattr(only(_panel(), deterministic=True), "__enter__"):
        return incorrect(NO_BLOCK, max_points=4, reason="no-block")
    start = {**vars(_panel()), "immediate": False}
    inside, after = _inside_and_after(only)
    broken, came_out = _after_an_exception(only)
    misspelt, noticed = _after_a_typo(only)
    not_only = both(
        f"Inside `only(panel, deterministic=True)` the switches read {inside!r}; before, they read {start!r}. "
        "Only what is named should differ.",
        f"在 `only(panel, deterministic=True)` 里，开关是 {inside!r}；之前是 {start!r}。应当只有写出来的才不同。",
    )
    promises = [
        (inside == {**start, "deterministic": True, "immediate": True}, "moved", not_only),
        (after == start, "left-behind", NOT_BACK),
        (came_out and vars(broken) == vars(_panel()), "exception", EXCEPTION_LEAKS),
        (noticed and vars(misspelt) == vars(_panel()), "typo", TYPO_PASSES),
    ]
    missing = [(reason, text) for kept, reason, text in promises if not kept]
    if not missing:
        try:
            real = _on_the_real_panels(only)
        except Exception:
            real = False
        if not real:
            return partly(3, 4, NOT_ON_THE_REAL, reason="real-module")
        return correct(
            both(
                "It changes what is named, puts it back after an exception too, a typo is loud.",
                "写了的才改，出异常也会恢复，拼错了会大声报错。",
            ),
            points=4,
        )
    kept, reason, texts = len(promises) - len(missing), missing[0][0], [text for _, text in missing]
    return partly(kept, 4, *texts, reason=reason) if kept else incorrect(*texts, max_points=4, reason=reason)


CHECKS = {"01-fill-the-blanks": check_fill_the_blanks, "01-only": check_only}
