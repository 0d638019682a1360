"""Hidden cases of checkpoint 08: which device to use, and what a step with fallbacks costs."""

from __future__ import annotations

import random

from course.i18n import both
from grader.task import Case, Part, Task

KINDS = ("cuda", "mps", "xpu")


# --- 08-t-device ------------------------------------------------------------------------------------------

def device_cases(rng: random.Random) -> list[Case]:
    """No wish on usable and unusable machines; wishes that can be met; wishes that cannot."""
    built = rng.choice(KINDS)
    others = [kind for kind in KINDS if kind != built]
    cases = [Case("automatic", (kind, usable, None)) for kind in KINDS for usable in (True, False)]
    cases += [Case("automatic", (None, False, None))]
    cases += [Case("wish", (kind, True, kind)) for kind in KINDS]
    cases += [Case("wish", (built, True, "cpu")), Case("wish", (built, False, "cpu")),
              Case("wish", (None, False, "cpu"))]
    cases += [Case("refuse", (kind, False, kind)) for kind in KINDS]
    cases += [Case("refuse", (built, True, rng.choice(others))), Case("refuse", (None, False, rng.choice(KINDS)))]
    return cases


def device_reference(built: str | None, usable: bool, prefer: str | None) -> str:
    """The best usable device without a wish; the wish where it works; else ``"error"``."""
    best = built if built and usable else "cpu"
    if prefer is None:
        return best
    return prefer if prefer in ("cpu", best) else "error"


# --- 08-t-step --------------------------------------------------------------------------------------------

def step_cases(rng: random.Random) -> list[Case]:
    """Everything native; some operations fall back; some would but may not; 0 is off, nothing to do."""
    def native() -> list:
        return [True, rng.randint(1, 40) / 4, rng.randint(1, 90) / 4, rng.randint(1, 20) / 4]

    def missing() -> list:
        return [False, 0.0, rng.randint(1, 90) / 4, rng.randint(1, 20) / 4]

    def some(count: int) -> list:
        return [native() for _ in range(count)]

    mixed = [*some(3), missing(), native(), missing(), missing()]
    return [Case("native", (some(rng.randint(2, 6)), None)), Case("native", (some(rng.randint(2, 6)), "1")),
            Case("fallback", (mixed, "1")), Case("fallback", ([missing(), *some(2)], "1")),
            Case("fallback", ([missing()], "2")),
            Case("error", (mixed, None)), Case("error", ([*some(4), missing()], None)),
            Case("edges", (mixed, "0")), Case("edges", (some(2), "0")), Case("edges", ([], None)),
            Case("edges", ([], "1"))]


def step_reference(ops: list[list], fallback: str | None) -> float | None:
    """Sum of device times; an operation without a kernel costs CPU time and its copies, or raises (None)."""
    allowed = fallback is not None and int(fallback) != 0
    total = 0.0
    for native, device_ms, cpu_ms, copies_ms in ops:
        if not native and not allowed:
            return None
        total += device_ms if native else cpu_ms + copies_ms
    return total


TASKS = [
    Task(id="08-t-device", name="choose_device", cases=device_cases, reference=device_reference, parts={
        "automatic": Part(2, both("Wrong without a wish: the accelerator counts only where it is usable.",
                                  "没有指定偏好时不对：加速器能用才算数。")),
        "wish": Part(2, both("Wrong where the wish can be met.", "偏好可以满足时不对。")),
        "refuse": Part(1, both("Wrong where the wish cannot be met: the answer is \"error\".",
                               "偏好无法满足时不对：应返回 \"error\"。"))}),
    Task(id="08-t-step", name="step_ms", cases=step_cases, reference=step_reference, parts={
        "native": Part(1, both("Wrong where every operation has a kernel on the device.",
                               "所有算子在设备上都有 kernel 时不对。")),
        "fallback": Part(2, both("Wrong where operations fall back: CPU time and copies count for those alone.",
                                 "有算子回退时不对：只有它们才计 CPU 时间和拷贝。")),
        "error": Part(1, both("Wrong where an operation is missing and the fallback is off: `None`.",
                              "缺算子且没开回退时不对：应返回 `None`。")),
        "edges": Part(1, both("Wrong for the value \"0\" or an empty step.", "值为 \"0\" 或空列表时不对。"))}),
]
