"""Code tasks of lesson 08: choose a device, set a variable in time, do without float64.

The checks of the practice tasks stand in ``apple_checks``. The last two entries are the visible smoke tests
of the checkpoint: they look at form, not at the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from course.exercise import Exercise
from course.i18n import both
from course.lessons.l08_mps import checks
from course.verdict import Verdict, correct, incorrect

LESSON = "08_mps"

PICK_BY_HAND = Exercise(
    id="08-pick-by-hand", lesson=LESSON, name="pick_by_hand", minutes=4,
    title=both("Fill the three blanks of a device selector", "填上设备选择函数里的三个空"),
    hints=(
        both("Each pair is a name and a question. Which question says that a device can be used now?",
             "每一对是一个名字和一个问题。哪个问题回答“现在能不能用”？"),
        both("The questions are handed over without brackets: `torch.cuda.is_available`.",
             "问题函数不带括号传进去：`torch.cuda.is_available`。"),
        both("`torch.backends.mps.is_available`, `torch.xpu.is_available`, and at the end `\"cpu\"`.",
             "`torch.backends.mps.is_available`、`torch.xpu.is_available`，最后是 `\"cpu\"`。"),
    ),
    solution='''import torch

def pick_by_hand():
    for name, usable in (("cuda", torch.cuda.is_available),
                         ("mps", torch.backends.mps.is_available),
                         ("xpu", torch.xpu.is_available)):
        if usable():
            return name
    return "cpu"
''',
    why=both("Ask for each kind whether it is usable here and now; the CPU needs no question.",
             "逐个问此时此地能不能用；CPU 不用问。"),
    check=checks.check_pick_by_hand,
)

PICK_DEVICE = Exercise(
    id="08-pick-device", lesson=LESSON, name="pick_device", minutes=8,
    title=both("A device selector that honours a wish or refuses it aloud", "能满足愿望、满足不了就明说的设备选择函数"),
    hints=(
        both("Find the best usable device first, wish or no wish. `torch.accelerator` knows it in one line.",
             "先不管愿望，找出能用的最好的设备。`torch.accelerator` 一行就能问到。"),
        both("`torch.accelerator.current_accelerator(check_available=True)` is a device, or None without one.",
             "`torch.accelerator.current_accelerator(check_available=True)` 给出设备，没有就是 None。"),
        both("A wish can be met if it is `\"cpu\"` or the type of that device. Else `raise ValueError(...)`.",
             "愿望是 `\"cpu\"` 或该设备的类型，就能满足；否则 `raise ValueError(...)`。"),
    ),
    solution='''import torch

def pick_device(prefer=None):
    best = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
    if prefer is None:
        return best
    if prefer not in ("cpu", best.type):
        raise ValueError(f"no usable {prefer} here, only cpu and {best.type}")
    return torch.device(prefer)
''',
    why=both("One place that decides, and no silent second choice: who asked for a GPU should hear that there is none.",
             "只在一个地方做决定，也不悄悄换成别的：想要 GPU 的人，应该听到“这里没有”。"),
    check=checks.check_pick_device,
)

SCRIPT = Exercise(
    id="08-script", lesson=LESSON, name="script", minutes=4,
    title=both("Mend the script whose fallback never starts", "修好这个回退总不生效的脚本"),
    hints=(
        both("When does PyTorch look at this variable? Which line of the script is that?",
             "PyTorch 什么时候看这个变量？是脚本里的哪一行？"),
        both("Everything that imports torch, also through another package, comes after the assignment.",
             "凡是会导入 torch 的语句（包括通过别的包间接导入），都放在赋值之后。"),
        both("First `import os`, then `os.environ[...] = \"1\"`, then `import torch`.",
             "先 `import os`，再 `os.environ[...] = \"1\"`，最后 `import torch`。"),
    ),
    solution='''script = """
import os
os.environ["PYTORCH_ENABLE_MPS_FALLBACK"] = "1"
import torch
"""
''',
    why=both("The library decides while it is loaded which handler unsupported operations get. Nobody asks again.",
             "库在加载时就决定好，不支持的算子交给谁处理。之后没有人再问。"),
    check=checks.check_script,
)

SECONDS = Exercise(
    id="08-seconds", lesson=LESSON, name="seconds_since_start", minutes=5,
    title=both("Unix times for a GPU without float64", "给没有 float64 的 GPU 准备 Unix 时间"),
    hints=(
        both("The times are huge, their differences are small. Which of the two survives float32?",
             "时间本身很大，差值很小。哪一个经得起 float32？"),
        both("Subtract `stamps[0]` while everything is still float64.", "趁还是 float64，先减去 `stamps[0]`。"),
        both("`(stamps - stamps[0]).float()`", "`(stamps - stamps[0]).float()`"),
    ),
    solution="def seconds_since_start(stamps):\n    return (stamps - stamps[0]).float()\n",
    why=both("Rounding hits what is stored. Store the small number, not the large one.",
             "舍入伤的是存下来的数。存小的，别存大的。"),
    check=checks.check_seconds,
)

NUMBERS = Exercise(
    id="08-make-it-lose", lesson=LESSON, name="numbers", minutes=4,
    title=both("Find numbers for which float32 is not enough", "找一组 float32 不够用的数"),
    hints=(
        both("float32 keeps about seven digits of each number. Where must a difference hide?",
             "float32 每个数只保留约七位有效数字。差别要藏在哪儿？"),
        both("Large numbers that differ late: beyond the seventh digit.", "很大的数，第七位之后才不同。"),
        both("`numbers = [100_000_000.0, 100_000_001.0]`", "`numbers = [100_000_000.0, 100_000_001.0]`"),
    ),
    solution="numbers = [100_000_000.0, 100_000_001.0]\n",
    why=both("Neighbours in float32 lie 8 apart at a hundred million. A spread of 1 falls between them.",
             "在一亿附近，float32 相邻两数相差 8。极差 1 正好掉进缝里。"),
    check=checks.check_numbers,
)


# --- the checkpoint's visible smoke tests: the form of an answer, nothing about its value -----------------

def _form_of_choice(choose_device: Callable[..., Any]) -> Verdict:
    got = choose_device("mps", True, None)
    if isinstance(got, str):
        return correct(both("The form is right: it gives back a text.", "形式正确：返回的是字符串。"))
    return incorrect(both(f"A text is expected, not {got!r}.", f"应返回字符串，而不是 {got!r}。"))


def _form_of_step(step_ms: Callable[..., Any]) -> Verdict:
    got = step_ms([[True, 1.0, 3.0, 0.5], [False, 0.0, 2.0, 0.5]], "1")
    if got is None or (isinstance(got, (int, float)) and not isinstance(got, bool)):
        return correct(both("The form is right: a number or None.", "形式正确：数或 None。"))
    return incorrect(both(f"A number or `None` is expected, not {got!r}.", f"应返回数或 `None`，而不是 {got!r}。"))


EXERCISES = [
    PICK_BY_HAND, PICK_DEVICE, SCRIPT, SECONDS, NUMBERS,
    Exercise(id="08-t-device", lesson=LESSON, name="choose_device", check=_form_of_choice,
             title=both("Which device does this machine get?", "这台机器该用哪个设备？")),
    Exercise(id="08-t-step", lesson=LESSON, name="step_ms", check=_form_of_step,
             title=both("What a step with fallbacks costs", "带回退的一步要花多少时间")),
]
