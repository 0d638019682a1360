"""Code tasks of lesson 05: count searches, find the break-even, mend a trap, make the search lose.

The checks of the practice tasks stand in ``search_checks``. The last three entries are the visible smoke
tests of the checkpoint: they look at form, not at the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from course.exercise import Exercise
from course.i18n import both
from course.lessons.l05_cudnn_benchmark import checks
from course.verdict import Verdict, correct, incorrect

LESSON = "05_cudnn_benchmark"

COUNT_SEARCHES = Exercise(
    id="05-count-searches", lesson=LESSON, name="count_searches", minutes=4,
    title=both("How many searches does one layer make?", "一个层会搜索多少次？"),
    hints=(
        both("A search happens when a key is new. What do you need to remember to know that?",
             "键是新的才搜索。要知道它新不新，得记住什么？"),
        both("A Python `set` keeps each shape once. Tuples may go into it.",
             "Python 的 `set` 对每种形状只留一份。元组可以直接放进去。"),
        both("The number of searches is the `len` of that set.", "搜索次数就是这个集合的 `len`。"),
    ),
    solution="def count_searches(shapes):\n    return len(set(shapes))\n",
    why=both("The order does not matter, only how many different keys there are: batch, channels, height, "
             "width.",
             "顺序无所谓，只看有多少个不同的键：batch、通道、高、宽都算。"),
    check=checks.check_count_searches,
)

BREAK_EVEN = Exercise(
    id="05-break-even", lesson=LESSON, name="break_even_steps", minutes=6,
    title=both("After how many steps is the search paid back?", "多少步之后搜索回本？"),
    hints=(
        both("What does one step gain? What has to be gained in all?", "一步省多少？一共要省回多少？"),
        both("`search_ms / (slow_ms - fast_ms)`, and steps are whole numbers.",
             "`search_ms / (slow_ms - fast_ms)`，而步数是整数。"),
        both("`math.ceil` rounds up. Before you divide: is there a gain at all? If not, return `None`.",
             "`math.ceil` 向上取整。做除法之前先问：真有收益吗？没有就返回 `None`。"),
    ),
    solution='''import math

def break_even_steps(search_ms, slow_ms, fast_ms):
    gain_ms = slow_ms - fast_ms
    if gain_ms <= 0:
        return None
    return math.ceil(search_ms / gain_ms)
''',
    why=both("A fixed price against a gain per step. With no gain there is no number of steps, not a large "
             "one.",
             "一笔固定成本，对上每步的收益。没有收益，就不存在“足够多的步数”。"),
    check=checks.check_break_even,
)

SEARCH_HERE = Exercise(
    id="05-search-here", lesson=LESSON, name="search_here", minutes=5,
    title=both("Mend the block that searches with cuDNN switched off", "修好那个“关着 cuDNN 搜索”的代码块"),
    hints=(
        both("`flags` sets every switch it knows. Which one has an unkind default?",
             "`flags` 会设置它管的所有开关。哪一个的默认值坑人？"),
        both("Unless you pass them, `enabled` and `deterministic` are False and `allow_tf32` is True.",
             "不传的话，`enabled` 和 `deterministic` 是 False，`allow_tf32` 是 True。"),
        both("Hand over the present values: `enabled=cudnn.enabled`; `deterministic` and `allow_tf32` likewise.",
             "把当前值传进去：`enabled=cudnn.enabled`，`deterministic` 和 `allow_tf32` 同理。"),
    ),
    solution='''import torch

def search_here(run):
    cudnn = torch.backends.cudnn
    with cudnn.flags(enabled=cudnn.enabled, benchmark=True, deterministic=cudnn.deterministic,
                     allow_tf32=cudnn.allow_tf32):
        return run()
''',
    why=both("The documented context manager sets a whole row of switches. What you do not name gets a "
             "default: `benchmark_limit` and `fp32_precision` too, so hand them over where you changed them.",
             "文档里的这个上下文管理器一次设置一整排开关。没点名的都会变成默认值，`benchmark_limit` 和 "
             "`fp32_precision` 也不例外：改过的话，同样要传进去。"),
    check=checks.check_search_here,
)

MAKE_IT_LOSE = Exercise(
    id="05-make-it-lose", lesson=LESSON, name="race", minutes=6,
    title=both("Find a schedule in which the search loses", "找一个让搜索吃亏的尺寸安排"),
    hints=(
        both("A search is paid for by the steps that come after it. Leave it none.",
             "搜索的成本要靠后面的步数赚回来。那就别给它后面的步数。"),
        both("Sizes from 8 to 64. Repeat no size, or repeat each only a few times.",
             "尺寸取 8 到 64。不要重复，或每种只重复几次。"),
        both("`sizes = list(range(20, 40))`, then run the race again.", "`sizes = list(range(20, 40))`，"
                                                                        "然后重新比赛。"),
    ),
    solution='''from course.timing import compare
from course.toy_search import run_schedule

sizes = list(range(20, 40))
race = compare({"off": lambda: run_schedule(sizes, benchmark=False),
                "on": lambda: run_schedule(sizes, benchmark=True)}, baseline="off", max_time=2)
''',
    why=both("Every size is new, so every step pays for a search and none is left to earn it back.",
             "每个尺寸都是新的，每一步都要付搜索费，没有哪一步能把钱赚回来。"),
    check=checks.check_make_it_lose,
)


# --- the checkpoint's visible smoke tests: the form of an answer, nothing about its value -----------------

def _form_of_run(searches_of_run: Callable[..., Any]) -> Verdict:
    got = searches_of_run(100, 25, 3, 2, True)
    if isinstance(got, int) and not isinstance(got, bool):
        return correct(both("The form is right: it gives back a whole number.", "形式正确：返回的是整数。"))
    return incorrect(both(f"A whole number is expected, not {got!r}.", f"应返回整数，而不是 {got!r}。"))


def _form_of_choice(choose_benchmark: Callable[..., Any]) -> Verdict:
    got = choose_benchmark([[8, 3, 64, 64]] * 5, 10.0, 4.0, 3.0)
    if isinstance(got, bool):
        return correct(both("The form is right: it gives back True or False.", "形式正确：返回 True 或 False。"))
    return incorrect(both(f"`True` or `False` is expected, not {got!r}.",
                          f"应返回 `True` 或 `False`，而不是 {got!r}。"))


REPORT_FIELDS = ("device", "fence", "first_ms", "later_ms", "low", "high", "claim")


def _form_of_report(report: Any) -> Verdict:
    if not isinstance(report, Mapping):
        return incorrect(both("`report` is a dictionary.", "`report` 应是字典。"))
    missing = [name for name in REPORT_FIELDS if name not in report]
    if missing:
        return incorrect(both(f"Still missing in the report: {', '.join(missing)}.",
                              f"报告里还缺：{'、'.join(missing)}。"))
    return correct(both("All fields are there.", "字段齐全。"))


EXERCISES = [
    COUNT_SEARCHES, BREAK_EVEN, SEARCH_HERE, MAKE_IT_LOSE,
    Exercise(id="05-t-run", lesson=LESSON, name="searches_of_run", check=_form_of_run,
             title=both("Searches of a whole training run", "整个训练过程的搜索次数")),
    Exercise(id="05-t-choice", lesson=LESSON, name="choose_benchmark", check=_form_of_choice,
             title=both("Should this job search?", "这个任务该不该搜索？")),
    Exercise(id="05-t-report", lesson=LESSON, name="report", check=_form_of_report,
             title=both("Report a first call", "报告一次测量：第一次调用")),
]
