"""Code tasks of lesson 01: find the typo, list what leaked, change only what is named, make it lose."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from course.checking import comparison, data, form_is_fine, same_work, watched
from course.exercise import Exercise
from course.i18n import both
from course.verdict import Verdict, correct, incorrect, partly

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


STATES = ((True, True, False), (False, False, True), (True, False, True))


def _inside_block(block: Callable[[], Any], state: tuple[bool, bool, bool]) -> tuple[bool, bool, bool, bool]:
    """(enabled, benchmark, allow_tf32, deterministic) inside the learner's block, entered in ``state``."""
    import torch

    from course.flags import using

    cudnn = torch.backends.cudnn
    names = ("cudnn.enabled", "cudnn.benchmark", "cudnn.allow_tf32", "cudnn.deterministic")
    with using(dict(zip(names, (*state, False), strict=True))), block():
        return cudnn.enabled, cudnn.benchmark, cudnn.allow_tf32, cudnn.deterministic


def _after_block(
    block: Callable[[], Any], state: tuple[bool, bool, bool], crash: bool
) -> tuple[bool, bool, bool, bool]:
    """The same switches after the learner's block, entered in ``state``; ``crash``: left by an exception."""
    import torch

    from course.flags import using

    cudnn = torch.backends.cudnn
    names = ("cudnn.enabled", "cudnn.benchmark", "cudnn.allow_tf32", "cudnn.deterministic")
    with using(dict(zip(names, (*state, False), strict=True))):
        with contextlib.suppress(_Strange), block():
            if crash:
                raise _Strange
        return cudnn.enabled, cudnn.benchmark, cudnn.allow_tf32, cudnn.deterministic


def check_fill_the_blanks(deterministic_block: Callable[[], Any]) -> Verdict:
    """Enter the block in three states; inside only ``deterministic`` may differ, and afterwards nothing."""
    for state in STATES:
        *rest, deterministic = _inside_block(deterministic_block, state)
        if not deterministic:
            return incorrect(
                both("`deterministic` must be True inside.", "在里面 `deterministic` 应为 True。"),
                reason="not-deterministic",
            )
        for name, was, now in zip(("enabled", "benchmark", "allow_tf32"), state, rest, strict=True):
            if was != now:
                return incorrect(
                    both(
                        f"Entered with `{name}={was}`, the block has `{name}={now}`. Do not write a fixed value: "
                        f"hand over what the switch holds at that moment, `cudnn.{name}`.",
                        f"进入前 `{name}={was}`，里面却是 `{name}={now}`。不要写死一个值：把开关当时的值 "
                        f"`cudnn.{name}` 传进去。",
                    ),
                    reason="fixed-value",
                )
        for crash in (False, True):
            if _after_block(deterministic_block, state, crash) != (*state, False):
                return incorrect(
                    both(
                        "Inside all is well, but afterwards the switches are not what they were. `cudnn.flags(...)` "
                        "puts them back.",
                        "里面都对，但之后开关没有恢复原样。`cudnn.flags(...)` 会负责恢复。",
                    ),
                    reason="left-behind",
                )
    return correct(
        both(
            "Only what was named has changed, in every state we tried.",
            "试过的每种状态下，都只有点了名的开关发生变化。",
        )
    )


class _Strange(Exception):
    """Raised inside the learner's block, to see whether it comes out and the switches go back."""


def _panel() -> SimpleNamespace:
    return SimpleNamespace(enabled=True, benchmark=True, deterministic=False)


def _after_an_exception(only: Callable[..., Any]) -> tuple[SimpleNamespace, bool]:
    """The panel after an exception inside the block, and whether the exception came out."""
    panel = _panel()
    try:
        with only(panel, enabled=False):
            raise _Strange
    except _Strange:
        return panel, True
    return panel, False


def _after_a_typo(only: Callable[..., Any]) -> tuple[SimpleNamespace, bool]:
    """The panel after a block with a misspelt switch, and whether anything was raised (AttributeError comes by itself,
    ValueError says it in words).
    """
    panel = _panel()
    try:
        with only(panel, deterministic=True, benchmarks=False):
            pass
    except Exception:
        return panel, True
    return panel, False


def _on_the_real_panels(only: Callable[..., Any]) -> bool:
    """The promises on torch's own cudnn and mkldnn, whose modules are not plain ones."""
    from torch.backends import cudnn, mkldnn

    from course import flags

    with flags.preserved():
        for module, name, prefix in (
            (cudnn, "deterministic", "cudnn."),
            (mkldnn, "deterministic", "mkldnn."),
            (cudnn, "benchmark", "cudnn."),
        ):
            before = flags.snapshot()
            wanted = not getattr(module, name)
            try:
                with only(module, **{name: wanted}):
                    inside = flags.snapshot()
                    raise _Strange
            except _Strange:
                pass
            if inside != {**before, f"{prefix}{name}": wanted} or flags.snapshot() != before:
                return False
    return True


NO_BLOCK = both(
    "`only(...)` must work after `with`: put `@contextmanager` above the function and `yield` where the block runs.",
    "`only(...)` 要能放在 `with` 后面：在函数上方写 `@contextmanager`，在代码块运行的位置写 `yield`。",
)
NOT_BACK = both(
    "After the block a switch does not have its old value. Remember it with `getattr` before you change it.",
    "离开之后，有开关没有回到旧值。改之前先用 `getattr` 记住它。",
)
EXCEPTION_LEAKS = both(
    "After an exception inside the block the switch must be back and the exception must come out: `try` ... `finally`.",
    "块里抛出异常后，开关要恢复，异常也要继续往外抛：用 `try` ... `finally`。",
)
LEANS_ON_FLAGS = both(
    "The module's own `flags` sets more than is named: that is the trap above (and the stand-in tried here has none). "
    "Read the old values with `getattr`, write with `setattr`.",
    "模块自带的 `flags` 设的比点名的多，这正是上面的陷阱（这里用来试的替身也没有它）。请用 `getattr` 读旧值，用 `setattr` 写。",
)
TYPO_PASSES = both(
    "A misspelt switch should raise an exception (AttributeError, ValueError) before anything has moved: read all old values "
    "first.",
    "开关名拼错时应抛出异常（AttributeError 或 ValueError），而且什么都还没动：先把所有旧值读出来。",
)
NOT_ON_THE_REAL = both(
    "On the stand-in it works, on the real `torch.backends.cudnn` it does not: there, reading or writing more than is named "
    "fails or moves something. Touch the named switches alone, with `getattr` and `setattr`.",
    "在替身上没问题，换成真正的 `torch.backends.cudnn` 就不行：在那里，多读多写会出错，或带动别的开关。只用 "
    "`getattr`、`setattr` 碰点了名的开关。",
)


def _inside_and_after(only: Callable[..., Any]) -> tuple[dict, dict]:
    """Two panels in nested blocks, as one dict: what they hold inside, and afterwards."""
    panel, other = _panel(), SimpleNamespace(immediate=False)
    with only(panel, deterministic=True), only(other, immediate=True):
        inside = {**vars(panel), **vars(other)}
    return inside, {**vars(panel), **vars(other)}


def check_only(only: Callable[..., Any]) -> Verdict:
    """Four promises, tried on a stand-in panel of switches, one point each."""
    try:
        return _promises_kept(only)
    except AttributeError as error:
        if error.name not in ("flags", "set_flags"):
            raise
        return incorrect(LEANS_ON_FLAGS, max_points=4, reason="own-flags")


def _promises_kept(only: Callable[..., Any]) -> Verdict:
    if not hasattr(only(_panel(), deterministic=True), "__enter__"):
        return incorrect(NO_BLOCK, max_points=4, reason="no-block")
    start = {**vars(_panel()), "immediate": False}
    inside, after = _inside_and_after(only)
    broken, came_out = _after_an_exception(only)
    misspelt, noticed = _after_a_typo(only)
    not_only = both(
        f"Inside `only(panel, deterministic=True)` the switches read {inside!r}; before, they read "
        f"{start!r}. "
        "Only what is named should differ.",
        f"在 `only(panel, deterministic=True)` 里，开关是 {inside!r}；之前是 {start!r}。应当只有点名的才不同。",
    )
    promises = [
        (inside == {**start, "deterministic": True, "immediate": True}, "moved", not_only),
        (after == start, "left-behind", NOT_BACK),
        (came_out and vars(broken) == vars(_panel()), "exception", EXCEPTION_LEAKS),
        (noticed and vars(misspelt) == vars(_panel()), "typo", TYPO_PASSES),
    ]
    missing = [(reason, text) for kept, reason, text in promises if not kept]
    if not missing:
        try:
            real = _on_the_real_panels(only)
        except Exception:
            real = False
        if not real:
            return partly(3, 4, NOT_ON_THE_REAL, reason="real-module")
        return correct(
            both(
                "It changes what is named, puts it back after an exception too, a typo is loud.",
                "点名的才改，出异常也会恢复，拼错了会大声报错。",
            ),
            points=4,
        )
    kept, reason, texts = len(promises) - len(missing), missing[0][0], [text for _, text in missing]
    return partly(kept, 4, *texts, reason=reason) if kept else incorrect(*texts, max_points=4, reason=reason)


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

FILL_THE_BLANKS = Exercise(
    id="01-fill-the-blanks",
    lesson=LESSON,
    name="deterministic_block",
    minutes=4,
    title=both("Fill two blanks, so that only one switch moves", "填两个空，让 `flags` 只拨动一个开关"),
    hints=(
        both(
            "A fixed True is right only while the switch happens to be True.", "写死 True，只有开关恰好是 True 时才对。"
        ),
        both(
            "Look at the line for `allow_tf32`: it hands over the present value.",
            "看 `allow_tf32` 那一行：它传的是当前值。",
        ),
        both("`enabled=cudnn.enabled`, and the other one likewise.", "`enabled=cudnn.enabled`，另一个同理。"),
    ),
    solution="""def deterministic_block():
    cudnn = torch.backends.cudnn
    return cudnn.flags(enabled=cudnn.enabled, benchmark=cudnn.benchmark,
                       allow_tf32=cudnn.allow_tf32, deterministic=True)
""",
    why=both(
        "`flags` sets everything it knows, so everything you want to keep must be handed over.",
        "`flags` 会设置它管的所有开关，想保留的都得亲手传进去。",
    ),
    check=check_fill_the_blanks,
)

ONLY = Exercise(
    id="01-only",
    lesson=LESSON,
    name="only",
    minutes=10,
    title=both("A context manager that changes only what is named", "写一个只改动点名开关的上下文管理器"),
    hints=(
        both(
            "Three steps: remember, change, put back. Which of them must happen come what may?",
            "三步：记住、改动、恢复。其中哪一步是无论如何都要做的？",
        ),
        both(
            "`old = {name: getattr(module, name) for name in changes}` remembers, and is loud about a typo. "
            "Then `try:`, `yield`, `finally:`.",
            "`old = {name: getattr(module, name) for name in changes}` 负责记住旧值，拼错了也会报错。接着是 "
            "`try:`、`yield`、`finally:`。",
        ),
        both(
            "In `try`: `setattr(module, name, value)` for each change, then `yield`. In `finally`: "
            "`setattr` with the old values.",
            "在 `try` 里：对每一项执行 `setattr(module, name, value)`，然后 `yield`。在 `finally` 里：用旧"
            "值 `setattr`。",
        ),
    ),
    solution="""@contextmanager
def only(module, **changes):
    old = {name: getattr(module, name) for name in changes}
    try:
        for name, value in changes.items():
            setattr(module, name, value)
        yield
    finally:
        for name, value in old.items():
            setattr(module, name, value)
""",
    why=both(
        "Reading before writing does two jobs: it remembers, and it notices a name that does not exist.",
        "先读后写一举两得：既记住了旧值，又能发现不存在的名字。",
    ),
    check=check_only,
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
