"""Code tasks of lesson 01 on names and values: find the typo, list what leaked; the tasks of the checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Mapping

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


CHECKS = {"01-find-typos": check_find_typos, "01-what-leaked": check_what_leaked}
