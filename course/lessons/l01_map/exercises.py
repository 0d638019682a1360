"""Code tasks of lesson 01 on names and values: find the typo, list what leaked; the tasks of the checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from course.checking import data, form_is_fine
from course.exercise import Exercise
from course.i18n import both
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
                    "The lines are the right ones. "
                    "Hand back the names without `torch.backends.`, as they stand in `known`.",
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

EXERCISES = [FIND_TYPOS, WHAT_LEAKED, TASK_INSIDE, TASK_REPLAY]
