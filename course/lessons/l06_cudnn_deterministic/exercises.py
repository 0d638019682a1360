"""Code tasks of lesson 06: seed, add in a steady order, run repeatably, and make a seeded run differ.

The checks of the practice tasks stand in ``repro_checks``. The last three entries are the visible smoke tests
of the checkpoint: they look at form, not at the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from course.exercise import Exercise
from course.i18n import both
from course.lessons.l06_cudnn_deterministic import checks
from course.verdict import Verdict, correct, incorrect

LESSON = "06_cudnn_deterministic"

SEED_EVERYTHING = Exercise(
    id="06-seed-everything", lesson=LESSON, name="seed_everything", minutes=4,
    title=both("Seed the three generators", "给三个生成器设种子"),
    hints=(
        both("Three libraries, three generators. Which of them does the code draw from?",
             "三个库，三个生成器。代码会从哪几个里抽数？"),
        both("Python: `random.seed`. numpy: `numpy.random.seed`. torch has a function with `manual` in its "
             "name.",
             "Python：`random.seed`。numpy：`numpy.random.seed`。torch 的那个函数名里带 `manual`。"),
        both("`torch.manual_seed(seed)` seeds the CPU and every GPU at once.",
             "`torch.manual_seed(seed)` 一次设好 CPU 和所有 GPU。"),
    ),
    solution='''import random
import numpy
import torch

def seed_everything(seed):
    random.seed(seed)
    numpy.random.seed(seed)
    torch.manual_seed(seed)
''',
    why=both("Each library keeps its own state. `numpy.random.default_rng(seed)` would make a new "
             "generator and leave "
             "the global one alone.",
             "每个库各有各的状态。`numpy.random.default_rng(seed)` 只会新建一个生成器，不影响全局的那个。"),
    check=checks.check_seed_everything,
)

STEADY_SUM = Exercise(
    id="06-steady-sum", lesson=LESSON, name="steady_sum", minutes=6,
    title=both("A sum that does not ask how many threads there are", "一个不受线程数影响的求和"),
    hints=(
        both("Up to which length did the figure show no difference? Shorter sums are not shared out.",
             "图里到多长为止没有差别？短的求和不会分给多个线程。"),
        both("`values.split(32_768)` gives pieces that one thread adds up alone.",
             "`values.split(32_768)` 切出的每一段都只由一个线程相加。"),
        both("Sum each piece, `torch.stack` the sums, and sum those: they are few.",
             "每段求和，用 `torch.stack` 收集起来再求和：它们不多。"),
    ),
    solution='''import torch

def steady_sum(values):
    return torch.stack([piece.sum() for piece in values.split(32_768)]).sum()
''',
    why=both("The order of the additions is fixed by your code, not by the number of workers. The result "
             "is not more "
             "right than before, but it is the same.",
             "相加的顺序由你的代码决定，而不是由线程数决定。结果并没有更准，但始终一样。"),
    check=checks.check_steady_sum,
)

REPEATABLE = Exercise(
    id="06-repeatable", lesson=LESSON, name="repeatable", minutes=8,
    title=both("Run something repeatably, and leave no trace", "可重复地运行一段代码，并且不留痕迹"),
    hints=(
        both("Four duties: remember the old mode, switch it on, seed, and put the old mode back.",
             "四件事：记住旧模式、打开模式、设种子、恢复旧模式。"),
        both("`torch.get_deterministic_debug_mode()` tells 0 (off), 1 (warn only) or 2 (error); there is a "
             "setter too.",
             "`torch.get_deterministic_debug_mode()` 返回 0（关）、1（只警告）或 2（报错）；也有对应的设置函数。"),
        both("`try: return run()` with the restoring in `finally`.", "`try: return run()`，把恢复写在 `finally` 里。"),
    ),
    solution='''import torch

def repeatable(run, seed):
    before = torch.get_deterministic_debug_mode()
    torch.set_deterministic_debug_mode("error")
    torch.manual_seed(seed)
    try:
        return run()
    finally:
        torch.set_deterministic_debug_mode(before)
''',
    why=both("The debug mode tells off, warn and error apart; `are_deterministic_algorithms_enabled()` "
             "alone would lose "
             "the difference.",
             "debug mode 能区分关、警告、报错三种状态；只看 `are_deterministic_algorithms_enabled()` 会丢掉这个区别。"),
    check=checks.check_repeatable,
)

MAKE_IT_LOSE = Exercise(
    id="06-make-it-lose", lesson=LESSON, name="pair", minutes=5,
    title=both("One seed, one data set, two results", "同一个种子、同一份数据、两种结果"),
    hints=(
        both("What did the sums show: when does the number of threads reach the bits?",
             "求和实验说明了什么：线程数在什么时候才会影响结果的比特？"),
        both("`samples` must be the same on both sides, but it may be large. Or leave it, and work in "
             "`pieces`.",
             "两边的 `samples` 必须相同，但可以很大。或者不动它，改用 `pieces` 分段。"),
        both("`({\"samples\": 100_000, \"threads\": 1}, {\"samples\": 100_000, \"threads\": 2})`",
             "`({\"samples\": 100_000, \"threads\": 1}, {\"samples\": 100_000, \"threads\": 2})`"),
    ),
    solution='pair = ({"samples": 100_000, "threads": 1}, {"samples": 100_000, "threads": 4})\n',
    why=both("A seed fixes which numbers are drawn. It says nothing about the order in which they are added.",
             "种子只固定抽到哪些数，管不了它们按什么顺序相加。"),
    check=checks.check_make_it_lose,
)


# --- the checkpoint's visible smoke tests: the form of an answer, nothing about its value -----------------

def _form_of_engine(choose_engine: Callable[..., Any]) -> Verdict:
    got = choose_engine([["only", True, 3.0]], False, False, 10)
    if isinstance(got, str):
        return correct(both("The form is right: it gives back a name.", "形式正确：返回的是一个名字。"))
    return incorrect(both(f"The name of an engine is expected, not {got!r}.", f"应返回引擎的名字，而不是 {got!r}。"))


def _form_of_obstacles(obstacles: Callable[..., Any]) -> Verdict:
    run = {"seed": 1, "device": "cpu", "torch": "2.13.0", "threads": 2, "batch_size": 8, "benchmark": False,
           "deterministic_algorithms": True}
    got = obstacles(dict(run), dict(run))
    if isinstance(got, list) and all(isinstance(one, str) for one in got):
        return correct(both("The form is right: it gives back a list of names.", "形式正确：返回的是名字的列表。"))
    return incorrect(both(f"A list of names is expected, not {got!r}.", f"应返回名字的列表，而不是 {got!r}。"))


REPORT_FIELDS = ("device", "threads", "changed", "a", "b", "claim")


def _form_of_report(report: Any) -> Verdict:
    if not isinstance(report, Mapping):
        return incorrect(both("`report` is a dictionary.", "`report` 应是字典。"))
    missing = [name for name in REPORT_FIELDS if name not in report]
    if missing:
        return incorrect(both(f"Still missing in the report: {', '.join(missing)}.",
                              f"报告里还缺：{'、'.join(missing)}。"))
    return correct(both("All fields are there.", "字段齐全。"))


EXERCISES = [
    SEED_EVERYTHING, STEADY_SUM, REPEATABLE, MAKE_IT_LOSE,
    Exercise(id="06-t-engine", lesson=LESSON, name="choose_engine", check=_form_of_engine,
             title=both("Filter, then choose", "先过滤，再选择")),
    Exercise(id="06-t-obstacles", lesson=LESSON, name="obstacles", check=_form_of_obstacles,
             title=both("What stands between two runs and equal bits?", "两次运行要逐位相同，还差什么？")),
    Exercise(id="06-t-report", lesson=LESSON, name="report", check=_form_of_report,
             title=both("Report a repetition", "报告一次重复实验")),
]
