"""Code tasks of lesson 08: choose a device, set a variable in time, do without float64."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

from course.core.i18n import Text, both, pick
from course.core.verdict import Verdict, correct, incorrect, not_attempted, partly
from course.exercises.slips import data

# --- choosing a device, under simulated answers -----------------------------------------------------------

STUB = both("There is still a `...` to fill in.", "还有一个 `...` 没填。")


def _kind(picked: Any) -> str | None:
    """The device type of what a selector gave back: a torch.device or its name; None for anything else."""
    import torch

    if isinstance(picked, torch.device):
        return picked.type
    return picked.split(":")[0] if isinstance(picked, str) else None


def check_pick_by_hand(pick_by_hand: Callable[[], Any]) -> Verdict:
    """Every simulated machine once; the blanks may not be left."""
    from course.lessons.l08_mps.machines import MACHINES, pretend

    for name in MACHINES:
        with pretend(name) as machine:
            picked = pick_by_hand()
        if picked is ...:
            return not_attempted(STUB, reason="placeholder")
        if _kind(picked) != machine.best:
            return _wrong_pick(machine, picked)
    return correct(
        both(
            "Right on all six machines: ask whether it is usable, in order, and end with the CPU.",
            "六台机器上都对：依次问能不能用，最后落到 CPU。",
        )
    )


def _wrong_pick(machine: Any, picked: Any) -> Verdict:
    kind = _kind(picked)
    where, best = machine.name, machine.best
    if kind is None:
        return incorrect(
            both(
                f"On “{where['en']}” it gave back {picked!r}; a device or its name is expected.",
                f"在“{where['zh']}”上返回了 {picked!r}；应返回设备或设备名。",
            ),
            reason="no-device",
        )
    if kind == machine.built and not machine.usable:
        return incorrect(
            both(
                f"On “{where['en']}” it picks {kind}. That is compiled in, but no such device works there: "
                f"ask whether it is available, not whether it was built.",
                f"在“{where['zh']}”上选了 {kind}。编译时带了它，可那里没有能用的设备：要问能不能用，而不是编译时带没带。",
            ),
            reason="built",
        )
    if kind == "cpu":
        return incorrect(
            both(
                f"On “{where['en']}” it picks the CPU and leaves a working {best} idle.",
                f"在“{where['zh']}”上选了 CPU，可用的 {best} 却闲着。",
            ),
            reason="idle",
        )
    return incorrect(
        both(
            f"On “{where['en']}” the best device is {best}, and it picks {kind}.",
            f"在“{where['zh']}”上最好的设备是 {best}，却选了 {kind}。",
        ),
        reason="not-the-best",
    )


def check_pick_device(pick_device: Callable[..., Any]) -> Verdict:
    """Automatic choice on six machines; then a wish that works, and one that does not."""
    import torch

    from course.lessons.l08_mps.machines import MACHINES, pretend

    for name in MACHINES:
        with pretend(name) as machine:
            picked = pick_device()
        if picked is ... or picked is None:
            return not_attempted(STUB, reason="placeholder")
        if _kind(picked) != machine.best:
            return _wrong_pick(machine, picked)
        if not isinstance(picked, torch.device):
            return partly(
                0.5,
                1.0,
                both(
                    f"The choice is right. Give back a `torch.device`, not {picked!r}.",
                    f"选得对。请返回 `torch.device`，而不是 {picked!r}。",
                ),
                reason="no-device",
            )
    fault = _wishes(pick_device)
    if fault:
        reason, said = fault
        return partly(
            0.5,
            1.0,
            both(
                f"The automatic choice is right everywhere. {pick(said, 'en')}", f"自动选择处处正确。{pick(said, 'zh')}"
            ),
            reason=reason,
        )
    return correct(
        both(
            "Usable, best first, a wish is honoured, and an impossible wish is refused aloud.",
            "只选能用的，最好的优先，愿望能满足就满足，满足不了就明说。",
        )
    )


def _wishes(pick_device: Callable[..., Any]) -> tuple[str, Text] | None:
    """What is wrong with the treatment of ``prefer``, as a code and in words; None when nothing is."""
    from course.lessons.l08_mps.machines import MACHINES, pretend

    for name in MACHINES:
        with pretend(name) as machine:
            for wish in ("cpu", "cuda", "mps", "xpu"):
                works = wish in ("cpu", machine.best)
                where = machine.name
                try:
                    picked = _kind(pick_device(wish))
                except ValueError:
                    picked = "refused"
                except Exception as error:
                    kind = type(error).__name__
                    return "no-value-error", both(
                        f"But on “{where['en']}” the wish for {wish} ends in {kind}: raise `ValueError`, "
                        "so that callers can tell a refusal from a fault.",
                        f"不过在“{where['zh']}”上，想要 {wish} 时抛出了 {kind}：请抛 `ValueError`，好让调用者分清拒绝和出错。",
                    )
                if works and picked != wish:
                    return "wish-ignored", both(
                        f"But on “{where['en']}” the wish for {wish} can be met, and was not.",
                        f"不过在“{where['zh']}”上，想要 {wish} 是可以满足的，却没有满足。",
                    )
                if not works and picked != "refused":
                    return "not-refused", both(
                        f"But on “{where['en']}” somebody asks for {wish}, which does not work there: "
                        f"raise `ValueError` instead of handing out {picked}.",
                        f"不过在“{where['zh']}”上有人要 {wish}，那里用不了：应抛出 `ValueError`，而不是给 {picked}。",
                    )
    return None


# --- the variable before the import -----------------------------------------------------------------------

WATCH = """
import os, sys, types
from importlib.machinery import ModuleSpec
from unittest.mock import MagicMock
at_import = []

def variable():  # as the library asks: the process's own environment, which os.putenv changes too
    try:
        import ctypes
        getenv = ctypes.CDLL(None).getenv
        getenv.restype = ctypes.c_char_p
        value = getenv(b"PYTORCH_ENABLE_MPS_FALLBACK")
        return None if value is None else value.decode()
    except (ImportError, OSError, TypeError, AttributeError):
        return os.environ.get("PYTORCH_ENABLE_MPS_FALLBACK")

class Shell(types.ModuleType):
    __path__ = []
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return MagicMock()

class Watcher:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            at_import.append(variable())
        return ModuleSpec(name, self) if name.split(".")[0] == "torch" else None

    def create_module(self, spec):
        return Shell(spec.name)

    def exec_module(self, module):
        pass

sys.meta_path.insert(0, Watcher())
exec(compile({script!r}, "script", "exec"), {{"__name__": "__main__"}})
answer({{"imported": bool(at_import), "value": at_import[0] if at_import else None,
         "later": variable()}})
"""


def _blank(script: str) -> bool:
    """Whether a `...` stands in the code, not only in a text that it prints."""
    try:
        return any(isinstance(node, ast.Constant) and node.value is ... for node in ast.walk(ast.parse(script)))
    except SyntaxError:
        return "..." in script


def check_script(script: Any) -> Verdict:
    """Run the script in a new process with an empty shell for torch; see what the variable was at its import."""
    from course.experiment.new_process import ProbeError, answer_of
    from course.lessons.l08_mps.probes import FALLBACK

    if not isinstance(script, str):
        return incorrect(
            both("`script` should be the text of a script.", "`script` 应是一段脚本文本。"), reason="no-text"
        )
    if _blank(script):
        return not_attempted(STUB, reason="placeholder")
    try:
        seen, _ = answer_of(WATCH.format(script=script), variables={FALLBACK: None}, timeout_s=30)
    except ProbeError as error:
        return incorrect(
            both(f"The script did not run to its end. {error}", f"脚本没能跑完。{error}"), reason="script-failed"
        )
    if not seen["imported"]:
        return incorrect(both("The script never imports torch.", "脚本里没有导入 torch。"), reason="no-import")
    if seen["value"] is None:
        if seen["later"]:
            return incorrect(
                both(
                    "The variable is set, but after the import: the library has already looked.",
                    "变量设了，但在导入之后：库早就看过了。",
                ),
                reason="too-late",
            )
        return incorrect(
            both(
                f"When torch is imported, `{FALLBACK}` is not set. Mind the spelling.",
                f"导入 torch 时 `{FALLBACK}` 没有设置。留意拼写。",
            ),
            reason="not-set",
        )
    if not re.fullmatch(r"\s*[+-]?\d+\s*", seen["value"]) or int(seen["value"]) == 0:
        return incorrect(
            both(
                f'At import it holds {seen["value"]!r}. PyTorch reads it as a whole number, and 0 is off: write "1".',
                f'导入时它的值是 {seen["value"]!r}。PyTorch 把它当整数读，0 表示关：请写 "1"。',
            ),
            reason="no-whole-number",
        )
    return correct(
        both(
            "At the moment of the import the variable holds a number that is not 0. That is all it takes.",
            "导入的那一刻，变量里是一个非 0 的整数。这就够了。",
        )
    )


# --- seconds since the start ------------------------------------------------------------------------------


def check_seconds(seconds_since_start: Callable[[Any], Any]) -> Verdict:
    """Three lists of Unix times; float32 is wanted, right to a millisecond."""
    import torch

    for origin, gaps in (
        (1_700_000_000.25, [0.0, 0.125, 30.0, 3600.5]),
        (0.0, [0.0, 2.5]),
        (1_893_456_000.0, [0.0, 86_400.0, -7.0]),
    ):
        stamps = torch.tensor([origin + gap for gap in gaps], dtype=torch.float64)
        kept = stamps.clone()
        got = seconds_since_start(stamps)
        if got is None or got is ...:
            return not_attempted(STUB, reason="placeholder")
        if not isinstance(got, torch.Tensor) or got.shape != stamps.shape:
            return incorrect(
                both("Give back one tensor, with one entry for each time.", "请返回一个张量，每个时间对应一项。"),
                reason="no-tensor",
            )
        if not torch.equal(stamps, kept):
            return incorrect(
                both(
                    "The tensor that came in was changed. Subtract without the trailing underscore.",
                    "传进来的张量被改掉了。请不要用带下划线的原地减法。",
                ),
                reason="input-changed",
            )
        if got.dtype not in (torch.float32, torch.float64):
            return incorrect(
                both(
                    f"float32 is wanted, not {got.dtype}: it has too few digits, or none behind the point.",
                    f"要的是 float32，不是 {got.dtype}：它的有效数字太少，或者根本存不了小数。",
                ),
                reason="dtype",
            )
        errors = got.double() - torch.tensor(gaps, dtype=torch.float64)
        off = float(errors.abs().max())
        if off > 1e-3 and float((errors - errors[0]).abs().max()) < 1e-3:
            return incorrect(
                both(
                    "The distances are right, but zero is at another moment. Count from the first entry.",
                    "间隔都对，但零点不对。请从第一项开始计。",
                ),
                reason="zero-point",
            )
        if off > 1e-3:
            return incorrect(
                both(
                    f"For times from {origin:.2f} on, the result is off by {off:.4g} s. "
                    f"Near there float32 knows one number in about {float(_spacing(origin)):g} s: "
                    "what is cast before the subtraction is gone.",
                    f"从 {origin:.2f} 开始的时间，结果差了 {off:.4g} s。"
                    f"那附近 float32 每隔约 {float(_spacing(origin)):g} s 才有一个数：减之前就转换，信息已经丢了。",
                ),
                reason="cast-first",
            )
        if got.dtype != torch.float32:
            return partly(
                0.5,
                1.0,
                both(
                    f"The seconds are right. But {got.dtype} cannot go to the Mac's GPU: cast.",
                    f"秒数对了。但 {got.dtype} 上不了 Mac 的 GPU：请转换类型。",
                ),
                reason="dtype",
            )
    return correct(
        both(
            "Subtract in float64 on the CPU, cast the small difference: nothing is lost that mattered.",
            "在 CPU 上用 float64 做减法，再转换小小的差值：重要的一点没丢。",
        )
    )


def _spacing(value: float) -> float:
    import torch

    x = torch.tensor(value, dtype=torch.float32)
    return float(torch.nextafter(x, x + x.abs() + 1) - x)


# --- make it lose -----------------------------------------------------------------------------------------


def check_numbers(numbers: Any) -> Verdict:
    """Accept on evidence: max - min in float32 differs from float64 by more than 1 %."""
    import torch

    numbers = data(numbers)
    if not isinstance(numbers, list) or len(numbers) < 2:
        return incorrect(
            both("`numbers` should be a list of at least two numbers.", "`numbers` 应是至少两个数的列表。"),
            reason="no-list",
        )
    double = torch.tensor([float(number) for number in numbers], dtype=torch.float64)
    single = double.float()
    if not torch.isfinite(single).all():
        return incorrect(
            both(
                "Ordinary numbers, please: no infinities, nothing beyond the range of float32.",
                "请用普通的数：不要无穷大，也不要超出 float32 的范围。",
            ),
            reason="out-of-range",
        )
    exact, found = float(double.max() - double.min()), float(single.max() - single.min())
    if exact == 0:
        return incorrect(
            both(
                "Their spread is 0, so there is nothing to lose. Take numbers that differ.",
                "它们的极差是 0，没什么可丢的。请用不相同的数。",
            ),
            reason="no-spread",
        )
    error = abs(found - exact) / exact
    if error > 0.01:
        return correct(
            both(
                f"Accepted: the spread is {exact:.6g}, and float32 says {found:.6g}, off by {error:.0%}.",
                f"通过：极差是 {exact:.6g}，float32 说是 {found:.6g}，差了 {error:.0%}。",
            )
        )
    return incorrect(
        both(
            f"float32 holds here: {found:.6g} for {exact:.6g}. Make the numbers larger, or closer together.",
            f"这里 float32 顶住了：{exact:.6g} 得到 {found:.6g}。让数更大，或彼此更接近。",
        ),
        reason="float32-holds",
    )


CHECKS = {
    "08-pick-by-hand": check_pick_by_hand,
    "08-pick-device": check_pick_device,
    "08-script": check_script,
    "08-seconds": check_seconds,
    "08-make-it-lose": check_numbers,
}
