"""Which settings help? `try_switches` beside "flip it and time it once" and torch's Timer, on steps where the answer is planted.

    python -m benchmarks.try_switches                 all steps, about 15 minutes
    python -m benchmarks.try_switches --look          three of them
    python -m benchmarks.try_switches --out FILE      where the table goes (default build/benchmarks/try_switches.md)

A step takes sines 432 times, and 360 times where one setting is in force: that setting, and no other, makes it a sixth faster; three
steps are slower with a setting instead, by a fifth. In a thirteenth step nothing matters. What else a step does takes about 1 % of its
time. On a Xeon with AMX autocast itself costs 2 to 4 %, but a way that says so is still counted as wrong. Each way of measuring tries the
same settings; it claims what it calls more than 2 % faster or slower. Found: the planted effect is claimed. Wrong: any other claim.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.utils.benchmark import Timer

from benchmarks.running import heading, markdown, options, publish
from course import try_switches
from course.tryout.settings import all_settings, under

LEAST = 0.02
IN_FORCE: dict[str, Callable[[Any], bool]] = {
    "channels_last": lambda step: step.x.is_contiguous(memory_format=torch.channels_last),
    "autocast-bfloat16": lambda step: torch.is_autocast_enabled("cpu"),
    "inference_mode": lambda step: torch.is_inference_mode_enabled(),
    "oneDNN-off": lambda step: not torch.backends.mkldnn.enabled,
    "matmul-medium": lambda step: torch.get_float32_matmul_precision() == "medium",
    "conv-bf16": lambda step: torch.backends.mkldnn.conv.fp32_precision == "bf16",
    "fastpath-off": lambda step: not torch.backends.mha.get_fastpath_enabled(),
    "attention-math": lambda step: not torch.backends.cuda.flash_sdp_enabled(),
    "deterministic": lambda step: torch.are_deterministic_algorithms_enabled(),
}
"""Setting -> whether it is in force in a call of a step."""
SETTINGS = {one.id: one for one in all_settings() if one.id in IN_FORCE}
PLANTED = [(name, -1) for name in IN_FORCE] + [("oneDNN-off", 1), ("attention-math", 1), ("deterministic", 1), ("", 0)]
"""(setting, -1: it makes the step faster, 1: slower); nothing planted."""


class Step:
    """One convolution, attention and gelu, so that every setting seems to matter; then the planted number of sines."""

    def __init__(self, name: str, sign: int) -> None:
        torch.manual_seed(0)
        self.conv = nn.Conv2d(2, 1, 1)
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True).eval().requires_grad_(False)
        self.x, self.token = torch.randn(1, 2, 2, 2), torch.randn(1, 2, 4)
        self.work, self.name, self.sign = torch.randn(65_536, dtype=torch.float64), name, sign
        self.sines = torch.empty_like(self.work)

    def __call__(self) -> torch.Tensor:
        y = nn.functional.gelu(self.conv(self.x))
        self.attention(self.token, self.token, self.token, need_weights=False)
        nn.functional.scaled_dot_product_attention(*[self.token[None]] * 3)  # four dimensions, or flash refuses
        self.token[0] @ self.token[0].T
        holds = bool(self.name) and IN_FORCE[self.name](self)
        for _ in range(360 if holds == (self.sign < 0) else 432):
            torch.sin(self.work, out=self.sines)  # float64, in one thread, without new memory: no setting touches it
        return y


def ours(step: Step) -> dict[str, float]:
    """What `try_switches` claims: setting -> ratio."""
    rows = try_switches(step, only=list(IN_FORCE), budget=60).rows()
    claims = {row["setting"]: row["ratio"] for row in rows if row["verdict"] in ("take", "digits", "slower")}
    return {
        name: ratio for name, ratio in claims.items() if name in SETTINGS
    }  # the winners together are no claim of their own


def by(seconds: Callable[[Callable[[], Any]], float], step: Step) -> dict[str, float]:
    """What a way to time one function claims, when each setting is flipped and timed, then compared with the step as it is."""
    found = {}
    step()
    usual = seconds(step)
    for name, setting in SETTINGS.items():
        one = copy.deepcopy(step)
        with under(one, [setting], [*one.conv.parameters(), one.x], "cpu") as run:
            run()
            found[name] = seconds(run) / usual
    return {name: ratio for name, ratio in found.items() if abs(ratio - 1) > LEAST}


def once(f: Callable[[], Any]) -> float:
    began = time.perf_counter()
    f()
    return time.perf_counter() - began


def timer(f: Callable[[], Any]) -> float:
    return float(Timer("f()", globals={"f": f}).blocked_autorange(min_run_time=0.5).median)


WAYS = {
    "try_switches": ours,
    "flip it and time it once": lambda step: by(once, step),
    "torch's Timer, medians": lambda step: by(timer, step),
}


def main() -> None:
    """Let each way try each step, then print the table and write it."""
    given = options(__doc__, "try_switches.md").parse_args()
    torch.set_num_threads(1)
    planted = PLANTED[3::4] if given.look else PLANTED
    lines = list(heading("Which settings help?", f"{len(planted)} steps"))
    found, wrong, seconds = (dict.fromkeys(WAYS, 0.0) for _ in range(3))
    for name, sign in planted:
        for way, claims in WAYS.items():
            began = time.perf_counter()
            said = claims(Step(name, sign))
            seconds[way] += time.perf_counter() - began
            right = name in said and (said[name] - 1) * sign > 0
            found[way] += right
            wrong[way] += len(said) - right
            print(f"{name or 'nothing'} {'slower' if sign > 0 else 'faster' * bool(sign)}: {way}: {said}", flush=True)
    effects, others = sum(bool(sign) for _, sign in planted), len(planted) * len(IN_FORCE)
    rows = [
        [way, f"{found[way]:.0f} of {effects}", f"{wrong[way]:.0f} of {others}", f"{seconds[way] / len(planted):.1f}"]
        for way in WAYS
    ]
    publish([*lines, *markdown(["way", "planted effects found", "wrong claims", "seconds a step"], rows)], given.out)


if __name__ == "__main__":
    main()
