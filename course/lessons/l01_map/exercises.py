"""Code tasks of lesson 01: find the typo, list what leaked, make it lose, and the tasks of its checkpoint."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from course.checking import comparison, data, form_is_fine, same_work, watched
from course.exercise import Exercise
from course.i18n import both
from course.lessons.l01_map.exercises_blocks import FILL_THE_BLANKS, ONLY
from course.verdict import Verdict, correct, incorrect

KNOWN = ["cudnn.enabled", "cudnn.benchmark", "cudnn.deterministic", "mkldnn.enabled"]
SCRIPT = [
    "torch.backends.cudnn.benchmark = True",
    "torch.backends.cudnn.determinstic = True",
    "torch.backends.mkldnn.enable = False",
    "torch.backends.mkldnn.enabled = True",
]


def check_find_typos(find_typos: Callable[[list[str], list[str]], list[str]]) -> Verdict:
    """Three scripts: the one shown, one without typos, one without spaces around the equals sign."""
    cases = [
        (SCRIPT, ["cudnn.determinstic", "mkldnn.enable"]),
        (SCRIPT[:1], []),
        (["torch.backends.cudnn.benchmarks=True", "torch.backends.cudnn.enabled=False"], ["cudnn.benchmarks"]),
    ]
    for lines, expected in cases:
        got = find_typos(list(lines), list(KNOWN))
        if isinstance(got, str):
            return incorrect(
                both(
                    "A list of names was expected. It was a single text.", "应当返回名字的列表，得到的却是一个字符串。"
                ),
                reason="text",
            )
        got = got if got is None else list(got)
        if got == expected:
            continue
        if got == [f"torch.backends.{name}" for name in expected] and expected:
            return incorrect(
                both(
                    "The lines are the right ones. Hand back the names without "
                    "`torch.backends.`, as they stand in `known`.",
                    "行找对了。返回名字时去掉 `torch.backends.`，写法要与 `known` 里的一致。",
                ),
                reason="long-names",
            )
        if got == [name + " " for name in expected]:
            return incorrect(
                both(
                    "A space stayed at the end of each name: `.strip()` takes it off.",
                    "每个名字末尾多了一个空格：用 `.strip()` 去掉。",
                ),
                reason="space",
            )
        return incorrect(
            both(
                f"For the script {lines!r} the wrong names are {expected!r}, not {got!r}.",
                f"对于脚本 {lines!r}，拼错的名字应是 {expected!r}，而不是 {got!r}。",
            ),
            reason="wrong-names",
        )
    return correct(both("Every typo found, and no false alarm.", "拼写错误全部找到，也没有误报。"))


def check_what_leaked(what_leaked: Callable[[dict, dict], dict]) -> Verdict:
    """Changed values, nothing changed, and values that only look alike to a careless test."""
    before = {"cudnn.enabled": True, "cudnn.benchmark": False, "mkldnn.enabled": True, "quantized.engine": "x86"}
    cases = [
        (before, {**before, "cudnn.benchmark": True}, {"cudnn.benchmark": (False, True)}),
        (before, dict(before), {}),
        (
            before,
            {**before, "cudnn.enabled": False, "quantized.engine": "onednn"},
            {"cudnn.enabled": (True, False), "quantized.engine": ("x86", "onednn")},
        ),
    ]
    for old, new, expected in cases:
        kept = dict(old), dict(new)
        got = what_leaked(old, new)
        if (old, new) != kept:
            return incorrect(
                both(
                    "Your function changed the dictionaries it was given. Build a new one instead.",
                    "你的函数改动了传入的字典。请新建一个字典返回。",
                ),
                reason="input-changed",
            )
        if not isinstance(got, Mapping):
            return incorrect(
                both(
                    f"A dict was expected: name -> (before, after). It was a {type(got).__name__}.",
                    f"应返回字典：名字 -> (之前, 之后)，得到的却是 {type(got).__name__}。",
                ),
                reason="no-dictionary",
            )
        pairs = {name: tuple(pair) if isinstance(pair, (list, tuple)) else pair for name, pair in got.items()}
        if pairs == {name: pair[::-1] for name, pair in expected.items()} != expected:
            return incorrect(
                both(
                    "The right switches, but the pair is turned round: first before, then after.",
                    "开关找对了，但一对值写反了：先写之前，再写之后。",
                ),
                reason="reversed",
            )
        if pairs != expected:
            return incorrect(
                both(
                    f"Before {old!r}, after {new!r}: expected {expected!r}, not {got!r}.",
                    f"之前是 {old!r}，之后是 {new!r}：应为 {expected!r}，而不是 {got!r}。",
                ),
                reason="wrong-pairs",
            )
    return correct(both("Your leak detector works.", "你的泄漏检测器可以用了。"))


LEAST_ROUNDS = 10
PRICES = 4  # a gap of fewer prices of the empty block may be that block alone


def _price_of_asking_ms() -> float:
    """Milliseconds that the polite request takes around nothing, here and now."""
    import torch

    from course.timing import measure

    def nothing() -> None:
        with torch.backends.mkldnn.flags(deterministic=True):
            pass

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return measure(nothing, max_time=0.05, calibrate=None).median_ms


def check_make_it_lose(evidence: Any) -> Verdict:
    """A Comparison whose interval excludes 1, or (without oneDNN) the two states as a dict."""
    from torch.backends import mkldnn

    if isinstance(evidence, Mapping) and not mkldnn.is_available():
        return _check_states(evidence)
    pairs = getattr(evidence, "pairs", None)
    if not pairs:
        return incorrect(
            both(
                "Hand in what `compare(...)` gives back: `my_comparison = compare({...})`.",
                "请交上 `compare(...)` 的返回值：`my_comparison = compare({...})`。",
            ),
            reason="no-comparison",
        )
    if len(pairs) != 1:
        return incorrect(
            both(
                "Compare two functions: one plain, one inside `flags(deterministic=True)`.",
                "比较两个函数：一个原样，一个放进 `flags(deterministic=True)`。",
            ),
            reason="two-functions",
        )
    if fault := _not_the_request(evidence):
        return fault
    pair = next(iter(pairs.values()))
    interval = {"ratio": pair.ratio, "low": pair.low, "high": pair.high}
    if len(pair.ratios) < LEAST_ROUNDS:
        return incorrect(
            both(
                f"Only {len(pair.ratios)} rounds fitted into the time; at least {LEAST_ROUNDS} "
                "are needed. Make the work smaller or raise `max_time`.",
                f"时间内只测了 {len(pair.ratios)} 轮，至少需要 {LEAST_ROUNDS} 轮。请减小工作量，或调大 `max_time`。",
            ),
            **interval,
            reason="rounds",
        )
    if pair.low <= 1 <= pair.high:
        return Verdict(
            "inconclusive",
            messages=(
                both(
                    f"The interval [{pair.low:.3f}, {pair.high:.3f}] contains 1: this run shows no difference. "
                    "Choose an operation that oneDNN computes (a convolution, an LSTM), or measure longer.",
                    f"区间 [{pair.low:.3f}, {pair.high:.3f}] 包含 1：这次测不出差别。换一个由 oneDNN 计算的算子（卷"
                    "积、LSTM），或者测久一点。",
                ),
            ),
            evidence=interval,
            reason="undecided",
        )
    price_ms, gap_ms = _price_of_asking_ms(), abs(pair.ratio - 1) * evidence.medians_ms[evidence.baseline]
    if gap_ms < PRICES * price_ms:
        return incorrect(
            both(
                f"The gap of {gap_ms * 1e3:.3g} µs is about what the `with` line itself takes ({price_ms * 1e3:.3g} µs, around "
                "nothing at all): that is Python, no kernel. Give it more work, and work that oneDNN does.",
                f"相差 {gap_ms * 1e3:.3g} µs，跟 `with` 这一行本身的开销（什么都不做也要 {price_ms * 1e3:.3g} µs）差不多：这是 Python "
                "的耗时，不是 kernel 的。请加大工作量，并选 oneDNN 会算的算子。",
            ),
            reason="price",
            **interval,
        )
    return correct(
        both(
            f"Time ratio {pair.ratio:.2f}, interval [{pair.low:.2f}, {pair.high:.2f}]: without "
            "1. So `deterministic=True` was not the only thing that changed. The advice lost.",
            f"耗时比 {pair.ratio:.2f}，区间 [{pair.low:.2f}, {pair.high:.2f}] 不含 1。可见变的不"
            "只是 `deterministic=True`。这条建议输了。",
        ),
        **interval,
    )


def _not_the_request(evidence: Any) -> Verdict | None:
    """What is wrong with the two functions themselves: the same work, one of them inside the request; None if nothing."""
    found = comparison(evidence)
    if found is None:
        return incorrect(
            both(
                "Hand in what `compare(...)` gave back for two functions.",
                "请交上 `compare(...)` 比较两个函数的返回值。",
            ),
            reason="no-comparison",
        )
    steps = [watched(call, "mkldnn.deterministic") for call in found.functions.values()]
    asked = [sorted({step.switches["mkldnn.deterministic"] for step in one}) for one in steps]
    if not all(steps):
        return incorrect(
            both("One of the two functions computes nothing with torch.", "两个函数里有一个没有用 torch 算任何东西。"),
            reason="no-work",
        )
    if sorted(asked) != [[False], [True]]:
        return incorrect(
            both(
                "The request is not what differs: in one function every operation should run inside "
                "`torch.backends.mkldnn.flags(deterministic=True)`, in the other none.",
                "两者的差别不在那句请求上：应当一个函数的每个算子都在 "
                "`torch.backends.mkldnn.flags(deterministic=True)` 里运行，"
                "另一个都不在。",
            ),
            reason="switch",
        )
    if not same_work(*steps):
        return incorrect(
            both(
                "The two functions do not compute the same, so their times say nothing about the request.",
                "两个函数算的不是同一件事，耗时就说明不了那句请求。",
            ),
            reason="other-work",
        )
    return None


def _check_states(states: Mapping[str, Any]) -> Verdict:
    """{"named": [...], "before": {...}, "inside": {...}}: a switch moved that was not named."""
    with contextlib.suppress(KeyError, TypeError, AttributeError):
        before, inside = states["before"], states["inside"]
        moved = [name for name in before if before[name] != inside[name] and name not in states["named"]]
        if moved:
            return correct(
                both(f"Not named and yet moved: {', '.join(moved)}.", f"没点名却动了：{'、'.join(moved)}。"),
                moved=moved,
            )
        return incorrect(
            both("In these two states nothing moved that was not named.", "这两个状态之间，没点名的开关都没有动。"),
            reason="nothing-moved",
        )
    return incorrect(
        both(
            'Use the keys "named" (a list), "before" and "inside" (switch -> value).',
            "字典里要有 “named”（列表）、“before” 和 “inside”（开关 -> 值）这三个 key。",
        ),
        reason="no-states",
    )


def check_inside_flags(inside_flags: Callable[..., dict]) -> Verdict:
    """The visible example alone: the hidden cases try more."""
    got = data(
        inside_flags(
            {"enabled": True, "deterministic": False},
            {"enabled": False, "deterministic": False},
            {"deterministic": True},
        )
    )
    if got == {"enabled": False, "deterministic": True}:
        return form_is_fine(both("The example comes out right.", "示例正确。"))
    return incorrect(
        both(
            f"For the example of the task, {{'enabled': False, 'deterministic': True}} is right, not {got!r}.",
            f"题目中的示例应得到 {{'enabled': False, 'deterministic': True}}，而不是 {got!r}。",
        ),
        reason="example",
    )


EXAMPLE_EVENTS = [["set", "main", True], ["spawn", "main", "worker"], ["read", "main"], ["read", "worker"]]


def check_replay(replay: Callable[[list], list]) -> Verdict:
    """The visible example alone: the hidden cases try more."""
    got = data(replay([list(event) for event in EXAMPLE_EVENTS]))
    if isinstance(got, (list, tuple)) and list(got) == [True, False]:
        return form_is_fine(both("The example comes out right.", "示例正确。"))
    return incorrect(
        both(
            f"For the example of the task [True, False] is right, not {got!r}.",
            f"题目中的示例应得到 [True, False]，而不是 {got!r}。",
        ),
        reason="example",
    )


# --- the exercises ---

LESSON = "01_map"

FIND_TYPOS = Exercise(
    id="01-find-typos",
    lesson=LESSON,
    name="find_typos",
    minutes=5,
    title=both("Find the names that are no switches", "找出那些不是开关的名字"),
    hints=(
        both(
            "Left of the `=` stands the name. How do you cut a text at a sign?",
            "`=` 左边就是名字。怎样在某个符号处切开字符串？",
        ),
        both(
            '`line.split("=")[0].strip()` is the name; `.removeprefix("torch.backends.")` shortens it.',
            '`line.split("=")[0].strip()` 得到名字；`.removeprefix("torch.backends.")` 去掉前缀。',
        ),
        both(
            "Collect the shortened names in a list, and keep those with `name not in known`.",
            "把去掉前缀的名字收进列表，只保留 `name not in known` 的。",
        ),
    ),
    solution="""def find_typos(lines, known):
    names = [line.split("=")[0].strip().removeprefix("torch.backends.") for line in lines]
    return [name for name in names if name not in known]
""",
    why=both(
        "Python does not check the names, so you do: against a list of the switches that exist.",
        "Python 不检查名字，那就自己查：和真正存在的开关列表对照。",
    ),
    check=check_find_typos,
)

WHAT_LEAKED = Exercise(
    id="01-what-leaked",
    lesson=LESSON,
    name="what_leaked",
    minutes=5,
    title=both("List the switches that somebody left turned", "列出被人拨动后没有恢复的开关"),
    hints=(
        both("Go through the names of `before` and compare two values.", "遍历 `before` 里的名字，比较两个值。"),
        both(
            "A dictionary comprehension with an `if` keeps only the differences.",
            "带 `if` 的字典推导式可以只保留有差别的。",
        ),
        both(
            "`{name: (before[name], after[name]) for name in before if ...}`",
            "`{name: (before[name], after[name]) for name in before if ...}`",
        ),
    ),
    solution="""def what_leaked(before, after):
    return {name: (before[name], after[name]) for name in before if before[name] != after[name]}
""",
    why=both(
        "A global switch leaves no trace but its value: two snapshots and a comparison are all there is.",
        "全局开关除了自己的值，什么痕迹都不留：拍两张快照，再比较，别无他法。",
    ),
    check=check_what_leaked,
)

MAKE_IT_LOSE = Exercise(
    id="01-make-it-lose",
    lesson=LESSON,
    name="my_comparison",
    minutes=8,
    title=both(
        "Make it lose: “asking for deterministic costs nothing on a CPU”",
        "让它输：“在 CPU 上要求 deterministic 没有任何代价”",
    ),
    hints=(
        both(
            "The advice fails where oneDNN does the work: without it, another kernel takes over.",
            "只要计算由 oneDNN 完成，这条建议就会失败：关掉它，就换成另一个 kernel。",
        ),
        both(
            "Two functions: `plain` calls the layer; `asked` calls it inside "
            "`with torch.backends.mkldnn.flags(deterministic=True):`.",
            "写两个函数：`plain` 直接调用这一层；`asked` 在 "
            "`with torch.backends.mkldnn.flags(deterministic=True):` 里调用。",
        ),
        both(
            "`torch.nn.LSTM(64, 128)` on a `(16, 8, 64)` tensor, under `torch.inference_mode()`. If the "
            "interval stays wide, the machine is busy: measure longer.",
            "在 `torch.inference_mode()` 下，用 `torch.nn.LSTM(64, 128)` 处理 `(16, 8, 64)` 的张量。如果区间"
            "一直很宽，说明机器太忙：测久一点。",
        ),
    ),
    solution="""layer, x = torch.nn.LSTM(64, 128), torch.randn(16, 8, 64)

def plain():
    with torch.inference_mode():
        layer(x)

def asked():
    with torch.backends.mkldnn.flags(deterministic=True):
        plain()

my_comparison = compare({"plain": plain, "asked": asked}, max_time=3)
""",
    why=both(
        "`deterministic` has no reader on a CPU, so the time can only differ because something else moved.",
        "在 CPU 上没人读 `deterministic`，耗时有差别，只可能是别的东西动了。",
    ),
    check=check_make_it_lose,
)

TASK_INSIDE = Exercise(
    id="01-t-inside-flags",
    lesson=LESSON,
    name="inside_flags",
    check=check_inside_flags,
    title=both("Predict the state inside `flags(...)`", "推算 `flags(...)` 里面的状态"),
)
TASK_REPLAY = Exercise(
    id="01-t-replay",
    lesson=LESSON,
    name="replay",
    check=check_replay,
    title=both("Who reads what: threads, forks, spawns", "谁读到什么：线程、fork、spawn"),
)

EXERCISES = [FIND_TYPOS, WHAT_LEAKED, FILL_THE_BLANKS, ONLY, MAKE_IT_LOSE, TASK_INSIDE, TASK_REPLAY]
