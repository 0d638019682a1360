"""Code tasks of lesson 04: who reads the switch, off for one block, two errors, make the rule lose.

The checks of the practice tasks stand in ``enabled_checks``. The last two entries are the visible smoke tests
of the checkpoint: they look at form, not at the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from course.exercise import Exercise
from course.i18n import both
from course.lessons.l04_cudnn_enabled import checks
from course.verdict import Verdict, correct, incorrect

LESSON = "04_cudnn_enabled"

READS_ENABLED = Exercise(
    id="04-reads", lesson=LESSON, name="reads_enabled", minutes=4,
    title=both("Who reads `cudnn.enabled`?", "谁会读 `cudnn.enabled`？"),
    hints=(
        both("Two questions: is the tensor on a GPU, and is the operation one of those that ask cuDNN?",
             "两个问题：张量在 GPU 上吗？这个算子会不会问 cuDNN？"),
        both("Six of the eleven ask: convolution, two recurrent layers, a normalisation, a loss, a sampler.",
             "十一个里有六个会问：卷积、两种循环层、一种归一化、一个损失、一个采样。"),
        both("`return device == \"cuda\" and op in {\"conv2d\", ...}`; `layer_norm` and `attention` are not in it.",
             "`return device == \"cuda\" and op in {\"conv2d\", ...}`；`layer_norm` 和 `attention` 不在里面。"),
    ),
    solution='''def reads_enabled(op, device):
    return device == "cuda" and op in {"conv2d", "lstm", "gru", "batch_norm", "ctc_loss", "grid_sample"}
''',
    why=both("The device is asked first. What remains is a short list, and the heaviest operation of all, the "
             "matrix product, is not on it.",
             "先问设备。剩下的是一张短名单，而最重的算子（矩阵乘法）不在上面。"),
    check=checks.check_reads_enabled,
)

TWO_ERRORS = Exercise(
    id="04-errors", lesson=LESSON, name="two_errors", minutes=5,
    title=both("Two results before one judge", "两个结果，一位裁判"),
    hints=(
        both("Each side gets its own distance to `exact`. The largest distance counts.",
             "两边各算各的与 `exact` 的距离，取最大的。"),
        both("`(on.double() - exact).abs().max()`: float64 first, then subtract.",
             "`(on.double() - exact).abs().max()`：先转 float64，再相减。"),
        both("Divide by `exact.abs().max()`, and turn both into Python numbers with `.item()`.",
             "除以 `exact.abs().max()`，再用 `.item()` 变成 Python 的数。"),
    ),
    solution='''def two_errors(on, off, exact):
    scale = exact.abs().max()
    return tuple(((side.double() - exact).abs().max() / scale).item() for side in (on, off))
''',
    why=both("A judge must see more digits than the parties. Turned to float32 he would see what they see.",
             "裁判要比当事人多看几位。把他也换成 float32，他就只能看到当事人看到的。"),
    check=checks.check_two_errors,
)

WITHOUT_CUDNN = Exercise(
    id="04-without", lesson=LESSON, name="without_cudnn", minutes=6,
    title=both("cuDNN off for one call, and nothing else", "只为一次调用关掉 cuDNN，别的都不动"),
    hints=(
        both("Four things: off inside, nothing else moved, the value handed back, all as before afterwards.",
             "四件事：里面要关掉，别的不能动，返回值要交回，结束后恢复原样。"),
        both("`flags(enabled=False)` moves three others. Remember one value, set one value, put one value back.",
             "`flags(enabled=False)` 会动另外三个。只记一个值、只设一个值、只恢复一个值。"),
        both("`before = cudnn.enabled`, then `try: ... return run()` and `finally: cudnn.enabled = before`.",
             "`before = cudnn.enabled`，然后 `try: ... return run()`，`finally: cudnn.enabled = before`。"),
    ),
    solution='''import torch

def without_cudnn(run):
    cudnn = torch.backends.cudnn
    before = cudnn.enabled
    try:
        cudnn.enabled = False
        return run()
    finally:
        cudnn.enabled = before
''',
    why=both("`finally` also runs when `run()` fails, and the value from before may have been False.",
             "`run()` 出错时 `finally` 照样执行；而原来的值也可能就是 False。"),
    check=checks.check_without_cudnn,
)

LOSE = Exercise(
    id="04-lose", lesson=LESSON, name="race", minutes=5,
    title=both("Find a layer that does not miss its library", "找一个离了加速库也不慢的层"),
    hints=(
        both("Which of the six intervals of the stand-in held 1?", "替身实验的六个区间里，哪些包含 1？"),
        both("On most machines matrix products in float32 go to another library; pooling is PyTorch's own everywhere.",
             "在多数机器上，float32 的矩阵乘法归别的库；池化在哪儿都归 PyTorch 自己。"),
        both("`layer, x = torch.nn.MaxPool2d(2), torch.randn(8, 32, 28, 28)`, then run the race again.",
             "`layer, x = torch.nn.MaxPool2d(2), torch.randn(8, 32, 28, 28)`，再跑一次。"),
    ),
    solution='''import torch
from course.lessons.l04_cudnn_enabled.probes import switch_race

layer, x = torch.nn.MaxPool2d(2), torch.randn(8, 32, 28, 28)
race = switch_race(lambda: layer(x))
''',
    why=both("A switch can only slow down those who ask. Pooling on the CPU never asks for oneDNN.",
             "开关只能拖慢会问它的算子。CPU 上的池化从来不问 oneDNN。"),
    check=checks.check_lose,
)


# --- the checkpoint's visible smoke tests: the form of an answer, nothing about its value -----------------

def _form_of_moved(moved_unasked: Callable[..., Any]) -> Verdict:
    got = moved_unasked({"a": 1}, {"a": 2}, [])
    if isinstance(got, list) and all(isinstance(name, str) for name in got):
        return correct(both("The form is right: a list of names.", "形式正确：返回的是名字的列表。"))
    return incorrect(both(f"A list of names is expected, not {got!r}.", f"应返回名字的列表，而不是 {got!r}。"))


ANSWERS = ("rounding", "cudnn", "plain", "elsewhere")


def _form_of_suspect(suspect: Callable[..., Any]) -> Verdict:
    got = suspect(1e-7, 2e-7, 1e-6)
    if got in ANSWERS:
        return correct(both("The form is right: one of the four words.", "形式正确：返回的是四个词之一。"))
    return incorrect(both(f"One of {', '.join(ANSWERS)} is expected, not {got!r}.",
                          f"应返回 {'、'.join(ANSWERS)} 之一，而不是 {got!r}。"))


EXERCISES = [
    READS_ENABLED, TWO_ERRORS, WITHOUT_CUDNN, LOSE,
    Exercise(id="04-t-moved", lesson=LESSON, name="moved_unasked", check=_form_of_moved,
             title=both("Which switches moved without being asked?", "哪些开关没叫它动却动了？")),
    Exercise(id="04-t-suspect", lesson=LESSON, name="suspect", check=_form_of_suspect,
             title=both("Whose fault is it?", "是谁的问题？")),
]
