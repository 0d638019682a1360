"""Code tasks of lesson 09: read the log, foresee the route, switch off cleanly, make oneDNN lose.

The last two entries are the visible smoke tests of the checkpoint: they look at form, not at the answer.
"""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from course.checking import SWALLOWED, Planned, comparison, crash, data, field, form_is_fine, form_of_report, ran_often
from course.exercise import Exercise
from course.i18n import Text, both
from course.verdict import Verdict, correct, inconclusive, incorrect, not_attempted, partly

LEAST_ROUNDS = 8
HEADER = "onednn_verbose,v1,info,oneDNN v3.12.0"
HEADERS = (
    "onednn_verbose,v1,info,cpu,runtime:OpenMP,nthr:2",
    "onednn_verbose,v1,info,gpu,runtime:none",
    "onednn_verbose,v1,primitive,info,template:operation,engine,primitive,implementation,prop_kind,memory_descriptors,"
    "attributes,auxiliary,problem_desc,exec_time",
)


# --- reorder_share ----------------------------------------------------------------------------------------


def report_line(primitive: str, time_ms: float, event: str = "exec") -> str:
    """A line of the report, made up for a check."""
    return (
        f"onednn_verbose,v1,primitive,{event},cpu,{primitive},jit:made_up,undef,src:f32::blocked:abcd::f0 "
        f"dst:f32::blocked:aBcd16b::f0,attr-scratchpad:user,,8x16x64x64,{time_ms}"
    )


REPORTS: dict[str, tuple[list[str], float]] = {
    "three lines": ([report_line("reorder", 1.0), report_line("convolution", 6.0), report_line("reorder", 1.0)], 0.25),
    "no reorder": ([report_line("matmul", 3.0)], 0.0),
    "creation": (
        [report_line("reorder", 9.0, "create:cache_miss"), report_line("reorder", 1.0), report_line("rnn", 1.0)],
        0.5,
    ),
    "real headers": ([*HEADERS, report_line("reorder", 1.5), report_line("pooling", 4.5)], 0.25),
    "header": ([HEADER, report_line("reorder", 2.0), report_line("convolution", 2.0)], 0.5),
    "empty": ([], 0.0),
}


def check_reorder_share(reorder_share: Callable[[list[str]], float]) -> Verdict:
    """Reorders among others, none at all, creation lines, a header, an empty report."""
    for name, (report, expected) in REPORTS.items():
        try:
            got = reorder_share(list(report))
        except (IndexError, ZeroDivisionError) as error:
            return _broken_share(name, error)
        if got is None or got is Ellipsis:
            return not_attempted(
                both(
                    "`reorder_share` returns nothing yet: fill in the blanks.",
                    "`reorder_share` 还没有返回值：请把空白补上。",
                ),
                reason="placeholder",
            )
        if isinstance(got, bool) or not isinstance(got, (int, float)) or not math.isclose(got, expected, abs_tol=1e-9):
            return _wrong_share(name, got, expected)
    return correct(
        both(
            "Executed lines only, reorders over all of them, and 0 where there is nothing to share.",
            "只算执行过的行，重排占全部的比例；没有内容时就是 0。",
        )
    )


def _broken_share(name: str, error: Exception) -> Verdict:
    if name == "empty":
        return partly(
            0.5,
            1.0,
            both(
                "All reports with lines are right. An empty one has a total of 0: return 0.0.",
                "有内容的报告都对了。空报告的总和是 0：请返回 0.0。",
            ),
            reason="empty-report",
        )
    return incorrect(
        both(
            f"It stopped with {type(error).__name__}. A header line has fewer fields: look at the word `exec` first.",
            f"出现了 {type(error).__name__}。标题行的字段更少：先看有没有 `exec` 这个词。",
        ),
        reason="header",
    )


def _wrong_share(name: str, got: Any, expected: float) -> Verdict:
    if isinstance(got, (int, float)) and not isinstance(got, bool):
        if name == "three lines" and math.isclose(got, 2 / 3):
            return incorrect(
                both(
                    "2/3 counts lines. The question is about time: sum the last field.",
                    "2/3 是按行数算的。问的是时间：请把最后一个字段加起来。",
                ),
                reason="lines",
            )
        if name == "three lines" and math.isclose(got, 2.0):
            return incorrect(
                both("2.0 is milliseconds of reorders. Divide by the total.", "2.0 是重排的毫秒数，还要除以总和。"),
                reason="milliseconds",
            )
        if name == "three lines" and math.isclose(got, 1 / 3):
            return incorrect(
                both(
                    "1/3 is reorders over the rest. A share is taken of the whole, reorders included.",
                    "1/3 是重排比其余。比例的分母是全部，重排也算在内。",
                ),
                reason="of-the-rest",
            )
        if name == "creation":
            return incorrect(
                both(
                    f"{got:g}: a `create:` line is the price of making a primitive, not of running it. Take "
                    f"`exec` lines only.",
                    f"{got:g}：`create:` 行是制作 primitive 的成本，不是执行。只取 `exec` 行。",
                ),
                reason="creation",
            )
    return incorrect(
        both(
            f"For the case “{name}” the share is {expected:g}, not {got!r}.",
            f"对于“{name}”这一例，比例应是 {expected:g}，而不是 {got!r}。",
        ),
        reason="wrong-share",
    )


# --- goes_to_onednn ---------------------------------------------------------------------------------------

SMALL = 20480  # pixels times channels of one image, up to which a plain small convolution stays with ATen


def rule(batch: int, channels: int, height: int, width: int, kernel: int, groups: int = 1) -> bool:
    """ConvParams::use_mkldnn for a float32 convolution with stride 1, no dilation and a kernel of at least 3."""
    return groups > 1 or kernel > 3 or batch > 1 or batch * channels * height * width > SMALL


CONVOLUTIONS = {
    "one small image": (1, 3, 32, 32, 3),
    "one large image": (1, 3, 224, 224, 3),
    "two small images": (2, 3, 32, 32, 3),
    "a 5x5 kernel": (1, 3, 32, 32, 5),
    "groups": (1, 16, 32, 32, 3, 16),
    "exactly at the limit": (1, 20, 32, 32, 3),
    "one row above the limit": (1, 20, 33, 32, 3),
    "one column above the limit": (1, 20, 32, 33, 3),
    "a 4x4 kernel": (1, 3, 32, 32, 4),
    "two groups": (1, 16, 32, 32, 3, 2),
    "wide and low": (1, 3, 8, 900, 3),
    "many channels": (1, 64, 18, 18, 3),
    "one number above the limit": (1, 1, 6827, 3, 3),
}


def check_goes_to_onednn(goes_to_onednn: Callable[..., bool]) -> Verdict:
    """One case for each condition, one that meets none, and both sides of the limit."""
    wrong = []
    for name, case in CONVOLUTIONS.items():
        got = goes_to_onednn(*case)
        if got is None or got is Ellipsis:
            return not_attempted(
                both("`goes_to_onednn` returns nothing yet.", "`goes_to_onednn` 还没有返回值。"), reason="placeholder"
            )
        if not isinstance(got, bool):
            return incorrect(
                both(f"`True` or `False` is expected, not {got!r}.", f"应返回 `True` 或 `False`，而不是 {got!r}。"),
                reason="no-bool",
            )
        if got != rule(*case):
            wrong.append(name)
    if not wrong:
        draw = random.Random(9)
        for _ in range(60):  # mostly one small image: what the size alone decides
            case = (
                draw.choice([1, 1, 1, 2]),
                draw.choice([2, 4, 16, 40]),
                draw.randint(5, 60),
                draw.randint(5, 60),
                draw.choice([3, 3, 3, 4, 5]),
                draw.choice([1, 1, 1, 2]),
            )
            if goes_to_onednn(*case) is not rule(*case):
                return incorrect(
                    both(
                        f"`goes_to_onednn{case}` should be {rule(*case)}.",
                        f"`goes_to_onednn{case}` 应为 {rule(*case)}。",
                    ),
                    reason="drawn",
                )
        return correct(
            both(
                "One of the four conditions is enough; the limit itself is still small.",
                "四个条件满足一个就够；正好等于上限仍算“小”。",
            )
        )
    if wrong == ["exactly at the limit"]:
        return partly(
            0.5,
            1.0,
            both(
                "All right but the edge: at exactly 20480 numbers the image still counts as small.",
                "只差边界：正好 20480 个数时仍算小图像。",
            ),
            reason="limit",
        )
    first = wrong[0]
    arguments = ", ".join(map(str, CONVOLUTIONS[first]))
    answer = rule(*CONVOLUTIONS[first])
    reason, because = _because(first)
    return incorrect(
        both(
            f"{first}: `goes_to_onednn({arguments})` should be {answer}. {because['en']}",
            f"`goes_to_onednn({arguments})` 应为 {answer}。{because['zh']}",
        ),
        reason=reason,
    )


def _because(case: str) -> tuple[str, Text]:
    if case == "one small image":
        return "none-holds", both("Not one of the four conditions holds.", "四个条件一个也不满足。")
    if case in (
        "one row above the limit",
        "one column above the limit",
        "wide and low",
        "many channels",
        "one number above the limit",
    ):
        return "size", both("Channels count too: channels * height * width.", "通道也要算：channels * height * width。")
    return "one-is-enough", both(
        "One condition alone is enough: join them with `or`.", "满足一个条件就够：用 `or` 连接。"
    )


# --- without_onednn ---------------------------------------------------------------------------------------

NAMES = ("enabled", "deterministic")


def _state() -> dict[str, Any]:
    from torch.backends import mkldnn

    return {name: getattr(mkldnn, name) for name in NAMES}


@contextlib.contextmanager
def _set(**wanted: bool) -> Iterator[None]:
    """Two oneDNN switches for one block, put back whatever the learner's function left behind."""
    from torch.backends import mkldnn

    before = _state()
    try:
        for name, value in wanted.items():
            setattr(mkldnn, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(mkldnn, name, value)


def check_without_onednn(without_onednn: Callable[[Callable[[], Any]], Any]) -> Verdict:
    """Off inside, the result handed back, all else untouched, and everything back: also after an exception."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runs, swallowed = [], True

        def look() -> dict[str, Any]:
            runs.append(1)
            return _state()

        with _set(enabled=True, deterministic=True):
            inside = without_onednn(look)
            after = _state()
        with _set(enabled=True, deterministic=True):
            try:
                without_onednn(crash)
            except Planned:
                swallowed = False
            after_crash = _state()
        with _set(enabled=False, deterministic=False):
            without_onednn(_state)
            after_off = _state()
    if not isinstance(inside, Mapping):
        return incorrect(
            both("Hand back what `run()` returned.", "请把 `run()` 的返回值返回出来。"), reason="no-result"
        )
    if inside["enabled"]:
        return incorrect(
            both("oneDNN is still on while `run()` runs.", "`run()` 执行时 oneDNN 还开着。"), reason="still-on"
        )
    if not after["enabled"] or not after["deterministic"]:
        return incorrect(
            both(
                "Afterwards the switches are not what they were: oneDNN should be on again.",
                "结束后开关没有恢复原样：oneDNN 应该重新打开。",
            ),
            reason="left-behind",
        )
    if not after_crash["enabled"]:
        return partly(
            0.5,
            1.0,
            both(
                "Right as long as nothing goes wrong. When `run()` raises, oneDNN stays off: use "
                "`try`/`finally` or `with`.",
                "一切顺利时没问题。但 `run()` 一抛异常，oneDNN 就一直关着：请用 `try`/`finally` 或 `with`。",
            ),
            reason="exception",
        )
    if after_off["enabled"]:
        return partly(
            0.5,
            1.0,
            both(
                "It was off before, and you switched it on. Restore what was there, not the default.",
                "原本就是关着的，你却把它打开了。要恢复原值，而不是默认值。",
            ),
            reason="forced-on",
        )
    if not inside["deterministic"]:
        return partly(
            0.5,
            1.0,
            both(
                "Off inside and restored. But `flags` also moved `deterministic`, which you did not "
                "name: change one switch only.",
                "里面关了，也恢复了。但 `flags` 顺带改了你没点名的 `deterministic`：请只动一个开关。",
            ),
            reason="moved",
        )
    if swallowed:
        return partly(0.5, 1.0, SWALLOWED, reason="swallowed")
    if len(runs) != 1:
        return partly(0.5, 1.0, ran_often(len(runs)), reason="runs")
    return correct(
        both(
            "One switch, one block, and everything back, whatever happens.",
            "只动一个开关、一个代码块，无论发生什么都恢复原样。",
        )
    )


# --- make it lose -----------------------------------------------------------------------------------------


def check_losing(losing: Any) -> Verdict:
    """Accept on evidence: time(on) / time(off) above 1, enough rounds, and oneDNN really ran in the call."""
    from torch.backends import mkldnn

    if not mkldnn.is_available():
        return inconclusive(
            both(
                "This build of PyTorch has no oneDNN, so nothing can lose by it here. In `09-one-step`, "
                'replayed above, a call loses; `solution("09-make-it-lose")` shows how to prove it.',
                "这个 PyTorch 不带 oneDNN，在这里没有什么会因它变慢。上面回放的 `09-one-step` 里就有输掉的调用；"
                '`solution("09-make-it-lose")` 展示怎么证明。',
            ),
            reason="no-onednn",
        )
    try:
        call, race = losing["call"], losing["race"]
        low, high, rounds = (float(field(race, name)) for name in ("low", "high", "rounds"))
    except (AttributeError, KeyError, TypeError, ValueError):
        return incorrect(
            both(
                '`losing` should be `{"call": call, "race": on_off(call)}`.',
                '`losing` 应是 `{"call": call, "race": on_off(call)}`。',
            ),
            reason="no-dictionary",
        )
    if call is Ellipsis or not callable(call):
        return not_attempted(
            both(
                "`call` is still empty: a function without arguments belongs there.",
                "`call` 还是空的：那里要放一个不带参数的函数。",
            ),
            reason="placeholder",
        )
    raced = comparison(race)
    if raced is None:
        return incorrect(
            both("`race` should be what `on_off(call)` gave back.", "`race` 应是 `on_off(call)` 的返回值。"),
            reason="no-race",
        )
    if raced.baseline != "off" or list(raced.pairs) != ["on"]:
        return incorrect(
            both(
                'The race should have "off" as its baseline: use `on_off(call)`.',
                '比赛应以 "off" 为基准：请用 `on_off(call)`。',
            ),
            reason="baseline",
        )
    if high < 1:
        return incorrect(
            both(
                f"oneDNN won: [{low:.2f}, {high:.2f}] lies below 1. What does it do at each call, however "
                f"little there is to compute?",
                f"oneDNN 赢了：[{low:.2f}, {high:.2f}] 在 1 之下。想一想，无论计算多少，它每次调用都要做什么？",
            ),
            reason="faster",
        )
    if rounds < LEAST_ROUNDS or low <= 1:
        return inconclusive(
            both(
                f"[{low:.2f}, {high:.2f}] from {rounds:.0f} rounds is no evidence yet. Take a clearer case or "
                f"give it more time.",
                f"{rounds:.0f} 轮测得 [{low:.2f}, {high:.2f}]，还不足为凭。换一个更极端的例子，或多给些时间。",
            ),
            reason="undecided",
        )
    if not _used(raced.functions["on"]):
        return incorrect(
            both(
                "The interval is above 1, but oneDNN left no line in this call: both sides ran the same "
                "code. Look with `log_of(call)`.",
                "区间在 1 之上，但这次调用里 oneDNN 一行日志也没有：两边跑的是同一份代码。用 `log_of(call)` 看看。",
            ),
            reason="no-line",
        )
    return correct(
        both(
            f"Accepted: with oneDNN it takes {low:.2f} to {high:.2f} times as long, and the log proves it ran.",
            f"通过：开 oneDNN 的耗时是不开的 {low:.2f} 到 {high:.2f} 倍，日志也证明它确实跑了。",
        )
    )


def _used(call: Callable[[], Any]) -> Sequence[Any]:
    import torch

    from course import flags
    from course.onednn_log import log_of

    with flags.using({"mkldnn.enabled": True}), torch.inference_mode():
        return log_of(call).lines


# --- the exercises ---

LESSON = "09_mkldnn"

REORDER_SHARE = Exercise(
    id="09-reorder-share",
    lesson=LESSON,
    name="reorder_share",
    minutes=5,
    title=both("Which share of the time goes into reorders?", "重排占了多少时间？"),
    hints=(
        both(
            "Split a line at its commas. Which field names the primitive, which one is the time?",
            "把一行按逗号拆开。哪个字段是 primitive 的名字，哪个是时间？",
        ),
        both(
            "Field 3 is the event, field 5 the primitive, the last one (`fields[-1]`) milliseconds.",
            "第 3 个字段是事件，第 5 个是 primitive，最后一个（`fields[-1]`）是毫秒数。",
        ),
        both(
            "Sum `float(fields[-1])` of all `exec` lines, and of the reorders among them. No total: 0.0.",
            "对所有 `exec` 行累加 `float(fields[-1])`，再单独累加其中的重排。总和为 0 就返回 0.0。",
        ),
    ),
    solution="""def reorder_share(report):
    total_ms = reorder_ms = 0.0
    for line in report:
        fields = line.split(",")
        if "exec" not in fields:
            continue
        total_ms += float(fields[-1])
        if fields[5] == "reorder":
            reorder_ms += float(fields[-1])
    return reorder_ms / total_ms if total_ms else 0.0
""",
    why=both(
        "A report is a table with commas. Lines are not time: one long line outweighs nine short ones.",
        "报告就是一张用逗号分隔的表。行数不等于时间：一行长的抵得过九行短的。",
    ),
    check=check_reorder_share,
)

GOES = Exercise(
    id="09-goes-to-onednn",
    lesson=LESSON,
    name="goes_to_onednn",
    minutes=5,
    title=both("Foresee the route of a convolution", "预言一个卷积的去向"),
    hints=(
        both("Four conditions, and one of them is enough.", "四个条件，满足一个就够。"),
        both("`groups > 1 or kernel > 3 or batch > 1 or ...`", "`groups > 1 or kernel > 3 or batch > 1 or ...`"),
        both(
            "The last one: more than 20480 numbers, `channels * height * width > 20480`.",
            "最后一个：数的个数超过 20480，即 `channels * height * width > 20480`。",
        ),
    ),
    solution="""def goes_to_onednn(batch, channels, height, width, kernel, groups=1):
    return groups > 1 or kernel > 3 or batch > 1 or channels * height * width > 20480
""",
    why=both(
        "For one small image PyTorch's own code is taken. The source says in a comment: for some case, native is "
        "faster.",
        "只有一张小图时用 PyTorch 自己的代码。源码里有句注释：某些情况下原生实现更快。",
    ),
    check=check_goes_to_onednn,
)

WITHOUT = Exercise(
    id="09-without-onednn",
    lesson=LESSON,
    name="without_onednn",
    minutes=5,
    title=both("Run something without oneDNN, and leave no trace", "关着 oneDNN 跑一段代码，不留痕迹"),
    hints=(
        both(
            "Three moments matter: inside, afterwards, and after an exception.",
            "三个时刻都要对：里面、之后、抛异常之后。",
        ),
        both(
            "Remember the old value before you change it; put it back in `finally`.",
            "改之前先记住旧值，在 `finally` 里放回去。",
        ),
        both(
            'Or let the course do it: `with flags.using({"mkldnn.enabled": False}):` from `course`.',
            '也可以用课程工具：从 `course` 导入 `flags`，`with flags.using({"mkldnn.enabled": False}):`。',
        ),
    ),
    solution="""from torch.backends import mkldnn

def without_onednn(run):
    before = mkldnn.enabled
    mkldnn.enabled = False
    try:
        return run()
    finally:
        mkldnn.enabled = before
""",
    why=both(
        "The documented `flags(enabled=False)` would move `deterministic` and a precision switch along with it.",
        "文档里的 `flags(enabled=False)` 会顺带改动 `deterministic` 和一个精度开关。",
    ),
    check=check_without_onednn,
)

LOSE = Exercise(
    id="09-make-it-lose",
    lesson=LESSON,
    name="losing",
    minutes=6,
    title=both("Find a call that is slower with oneDNN", "找一个开着 oneDNN 反而更慢的调用"),
    hints=(
        both(
            "The log shows what oneDNN does besides computing. Choose a call with much of that and little to compute.",
            "日志告诉你 oneDNN 在计算之外还做什么。挑一个这部分多、计算少的调用。",
        ),
        both(
            "Two roads: one step of a wide LSTM (its weights are repacked at every call), or a new shape at each call.",
            "两条路：宽 LSTM 只走一步（每次调用都要重新打包权重），或者每次调用都换新形状。",
        ),
        both(
            "`layer = torch.nn.LSTM(256, 512); x = torch.randn(1, 1, 256); call = lambda: layer(x)`",
            "`layer = torch.nn.LSTM(256, 512); x = torch.randn(1, 1, 256); call = lambda: layer(x)`",
        ),
    ),
    solution="""import torch
from course.onednn_log import on_off

layer, x = torch.nn.LSTM(256, 512), torch.randn(1, 1, 256)
call = lambda: layer(x)
losing = {"call": call, "race": on_off(call)}
""",
    why=both(
        "Fixed costs (repacking, making a primitive) need work to hide behind. One step has none.",
        "固定成本（重新打包、制作 primitive）要靠计算量来摊薄。只有一步，就没得摊。",
    ),
    check=check_losing,
)


# --- the checkpoint's visible smoke tests: the form of an answer, nothing about its value -----------------


def _form_of_time(time_by_primitive: Callable[..., Any]) -> Verdict:
    got = data(time_by_primitive([report_line("convolution", 2.5)]))
    if isinstance(got, Mapping) and all(isinstance(v, (int, float)) for v in got.values()):
        return form_is_fine(
            both("The form is right: a dictionary from name to milliseconds.", "形式正确：名字到毫秒数的字典。")
        )
    return incorrect(
        both(
            f"A dictionary from name to milliseconds is expected, not {got!r}.",
            f"应返回“名字到毫秒数”的字典，而不是 {got!r}。",
        ),
        reason="form",
    )


REPORT_FIELDS = ("layer", "threads", "lines", "on_ms", "off_ms", "low", "high", "claim")


EXERCISES = [
    REORDER_SHARE,
    GOES,
    WITHOUT,
    LOSE,
    Exercise(
        id="09-t-time",
        lesson=LESSON,
        name="time_by_primitive",
        check=_form_of_time,
        title=both("Time by primitive", "按 primitive 汇总时间"),
    ),
    Exercise(
        id="09-t-report",
        lesson=LESSON,
        name="report",
        check=form_of_report(REPORT_FIELDS),
        title=both("Report a race: on against off", "报告一次开与关的比赛"),
    ),
]
