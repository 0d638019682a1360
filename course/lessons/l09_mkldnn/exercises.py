"""Code tasks of lesson 09: read the log, foresee the route, switch off cleanly, make oneDNN lose.

The checks of the practice tasks stand in ``onednn_checks``. The last two entries are the visible smoke tests of
the checkpoint: they look at form, not at the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from course.exercise import Exercise
from course.i18n import both
from course.lessons.l09_mkldnn import checks
from course.verdict import Verdict, correct, incorrect

LESSON = "09_mkldnn"

REORDER_SHARE = Exercise(
    id="09-reorder-share", lesson=LESSON, name="reorder_share", minutes=5,
    title=both("Which share of the time goes into reorders?", "重排占了多少时间？"),
    hints=(
        both("Split a line at its commas. Which field names the primitive, which one is the time?",
             "把一行按逗号拆开。哪个字段是 primitive 的名字，哪个是时间？"),
        both("Field 3 is the event, field 5 the primitive, the last one (`fields[-1]`) milliseconds.",
             "第 3 个字段是事件，第 5 个是 primitive，最后一个（`fields[-1]`）是毫秒数。"),
        both("Sum `float(fields[-1])` of all `exec` lines, and of the reorders among them. No total: 0.0.",
             "对所有 `exec` 行累加 `float(fields[-1])`，再单独累加其中的重排。总和为 0 就返回 0.0。"),
    ),
    solution='''def reorder_share(report):
    total_ms = reorder_ms = 0.0
    for line in report:
        fields = line.split(",")
        if "exec" not in fields:
            continue
        total_ms += float(fields[-1])
        if fields[5] == "reorder":
            reorder_ms += float(fields[-1])
    return reorder_ms / total_ms if total_ms else 0.0
''',
    why=both("A report is a table with commas. Lines are not time: one long line outweighs nine short ones.",
             "报告就是一张用逗号分隔的表。行数不等于时间：一行长的抵得过九行短的。"),
    check=checks.check_reorder_share,
)

GOES = Exercise(
    id="09-goes-to-onednn", lesson=LESSON, name="goes_to_onednn", minutes=5,
    title=both("Foresee the route of a convolution", "预言一个卷积的去向"),
    hints=(
        both("Four conditions, and one of them is enough.", "四个条件，满足一个就够。"),
        both("`groups > 1 or kernel > 3 or batch > 1 or ...`", "`groups > 1 or kernel > 3 or batch > 1 or ...`"),
        both("The last one: more than 20480 numbers, `channels * height * width > 20480`.",
             "最后一个：数的个数超过 20480，即 `channels * height * width > 20480`。"),
    ),
    solution='''def goes_to_onednn(batch, channels, height, width, kernel, groups=1):
    return groups > 1 or kernel > 3 or batch > 1 or channels * height * width > 20480
''',
    why=both("For one small image PyTorch's own code is taken. The source says in a comment: for some case, native is "
             "faster.",
             "只有一张小图时用 PyTorch 自己的代码。源码里有句注释：某些情况下原生实现更快。"),
    check=checks.check_goes_to_onednn,
)

WITHOUT = Exercise(
    id="09-without-onednn", lesson=LESSON, name="without_onednn", minutes=5,
    title=both("Run something without oneDNN, and leave no trace", "关着 oneDNN 跑一段代码，不留痕迹"),
    hints=(
        both("Three moments matter: inside, afterwards, and after an exception.", "三个时刻都要对：里面、之后、抛异常之后。"),
        both("Remember the old value before you change it; put it back in `finally`.",
             "改之前先记住旧值，在 `finally` 里放回去。"),
        both('Or let the course do it: `with flags.using({"mkldnn.enabled": False}):` from `course`.',
             '也可以用课程工具：从 `course` 导入 `flags`，`with flags.using({"mkldnn.enabled": False}):`。'),
    ),
    solution='''from torch.backends import mkldnn

def without_onednn(run):
    before = mkldnn.enabled
    mkldnn.enabled = False
    try:
        return run()
    finally:
        mkldnn.enabled = before
''',
    why=both("The documented `flags(enabled=False)` would move `deterministic` and a precision switch along with it.",
             "文档里的 `flags(enabled=False)` 会顺带改动 `deterministic` 和一个精度开关。"),
    check=checks.check_without_onednn,
)

LOSE = Exercise(
    id="09-make-it-lose", lesson=LESSON, name="losing", minutes=6,
    title=both("Find a call that is slower with oneDNN", "找一个开着 oneDNN 反而更慢的调用"),
    hints=(
        both("The log shows what oneDNN does besides computing. Choose a call with much of that and little to compute.",
             "日志告诉你 oneDNN 在计算之外还做什么。挑一个这部分多、计算少的调用。"),
        both("Two roads: one step of a wide LSTM (its weights are repacked at every call), or a new shape at each call.",
             "两条路：宽 LSTM 只走一步（每次调用都要重新打包权重），或者每次调用都换新形状。"),
        both("`layer = torch.nn.LSTM(256, 512); x = torch.randn(1, 1, 256); call = lambda: layer(x)`",
             "`layer = torch.nn.LSTM(256, 512); x = torch.randn(1, 1, 256); call = lambda: layer(x)`"),
    ),
    solution='''import torch
from course.onednn_log import on_off

layer, x = torch.nn.LSTM(256, 512), torch.randn(1, 1, 256)
call = lambda: layer(x)
losing = {"call": call, "race": on_off(call)}
''',
    why=both("Fixed costs (repacking, making a primitive) need work to hide behind. One step has none.",
             "固定成本（重新打包、制作 primitive）要靠计算量来摊薄。只有一步，就没得摊。"),
    check=checks.check_losing,
)


# --- the checkpoint's visible smoke tests: the form of an answer, nothing about its value -----------------

def _form_of_time(time_by_primitive: Callable[..., Any]) -> Verdict:
    got = time_by_primitive([checks.report_line("convolution", 2.5)])
    if isinstance(got, Mapping) and all(isinstance(v, (int, float)) for v in got.values()):
        return correct(both("The form is right: a dictionary from name to milliseconds.", "形式正确：名字到毫秒数的字典。"))
    return incorrect(both(f"A dictionary from name to milliseconds is expected, not {got!r}.",
                          f"应返回“名字到毫秒数”的字典，而不是 {got!r}。"))


REPORT_FIELDS = ("layer", "threads", "lines", "on_ms", "off_ms", "low", "high", "claim")


def _form_of_report(report: Any) -> Verdict:
    if not isinstance(report, Mapping):
        return incorrect(both("`report` is a dictionary.", "`report` 应是字典。"))
    missing = [name for name in REPORT_FIELDS if name not in report]
    if missing:
        return incorrect(both(f"Still missing in the report: {', '.join(missing)}.", f"报告里还缺：{'、'.join(missing)}。"))
    return correct(both("All fields are there.", "字段齐全。"))


EXERCISES = [
    REORDER_SHARE, GOES, WITHOUT, LOSE,
    Exercise(id="09-t-time", lesson=LESSON, name="time_by_primitive", check=_form_of_time,
             title=both("Time by primitive", "按 primitive 汇总时间")),
    Exercise(id="09-t-report", lesson=LESSON, name="report", check=_form_of_report,
             title=both("Report a race: on against off", "报告一次开与关的比赛")),
]
