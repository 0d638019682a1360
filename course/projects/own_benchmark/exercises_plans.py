"""Checks of the project, part 3: the key of a plan, the cache, the bill of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from course.i18n import Text, both
from course.slips import data
from course.verdict import Verdict, correct, incorrect, partly

if TYPE_CHECKING:
    from torch import Tensor

# --- own-key ----------------------------------------------------------------------------------------------

WHY: dict[str, Text] = {
    "batch": both("the batch, of 2 and of 3", "batch：2 和 3"),
    "size": both("the width of the image, 8 and 9", "图的宽：8 和 9"),
    "channels": both("the channels of the image and the kernel, 4 and 6", "图和核的输入通道数：4 和 6"),
    "outputs": both("the channels that come out, 4 and 5", "输出通道数：4 和 5"),
    "kernel": both("the kernel, 3 × 3 and 3 × 1", "核：3 × 3 和 3 × 1"),
    "dtype": both("the data type, float32 and float64", "数据类型：float32 和 float64"),
    "stride": both("the stride, 1 and 2", "stride：1 和 2"),
    "padding": both("the padding, 0 and 1", "padding：0 和 1"),
    "dilation": both("the dilation, 1 and 2", "dilation：1 和 2"),
    "groups": both("the groups, 1 and 2", "groups：1 和 2"),
    "memory-format": both("the memory format, channels first and channels_last", "内存布局：通道在前和 channels_last"),
    "device": both("the device: one is on the CPU, one is not", "设备：一个在 CPU 上，另一个不在"),
    "threads": both("the number of threads, 1 and 2", "线程数：1 和 2"),
    "grad": both(
        "whether a gradient of the weight is wanted (then each way keeps more in memory)",
        "要不要权重的梯度（要的话，各算法都得多留些内存）",
    ),
    "image-grad": both("whether a gradient of the image is wanted", "要不要图的梯度"),
}
"""What two problems differ in, one thing each."""


def _problems() -> Iterator[tuple[str, Tensor, Tensor, dict[str, int], int]]:
    """(what is changed, image, weight, setting, threads); the first is the plain one."""
    import torch

    def image(*shape: int, **more: Any) -> Tensor:
        return torch.zeros(shape or (2, 4, 8, 8), **more)

    def kernel(*shape: int, **more: Any) -> Tensor:
        return torch.zeros(shape or (4, 4, 3, 3), **more)

    yield "plain", image(), kernel(), {}, 1
    yield "batch", image(3, 4, 8, 8), kernel(), {}, 1
    yield "size", image(2, 4, 8, 9), kernel(), {}, 1
    yield "channels", image(2, 6, 8, 8), kernel(4, 6, 3, 3), {}, 1
    yield "outputs", image(), kernel(5, 4, 3, 3), {}, 1
    yield "kernel", image(), kernel(4, 4, 3, 1), {}, 1
    yield "dtype", image(dtype=torch.float64), kernel(dtype=torch.float64), {}, 1
    for name, value in (("stride", 2), ("padding", 1), ("dilation", 2), ("groups", 2)):
        yield name, image(), kernel(4, 2, 3, 3) if name == "groups" else kernel(), {name: value}, 1
    yield "memory-format", image().to(memory_format=torch.channels_last), kernel(), {}, 1
    yield "device", image(device="meta"), kernel(device="meta"), {}, 1
    yield "threads", image(), kernel(), {}, 2
    yield "grad", image(), kernel().requires_grad_(), {}, 1
    yield "image-grad", image().requires_grad_(), kernel(), {}, 1


def check_key(key_of: Callable[..., Any]) -> Verdict:
    """Two problems that differ in one thing need two keys; two layers of the same problem need one."""
    import torch

    from course import flags

    keys, problems = {}, list(_problems())  # all alive at once, so that each has an id() of its own
    with flags.preserved(), torch.enable_grad():
        for name, x, weight, setting, threads in problems:
            torch.set_num_threads(threads)
            keys[name] = key_of(x, weight, dict(setting))
        torch.set_num_threads(1)
        twin = key_of(torch.ones(2, 4, 8, 8), torch.ones(4, 4, 3, 3), {})
        with torch.no_grad():
            quiet = key_of(torch.zeros(2, 4, 8, 8), torch.zeros(4, 4, 3, 3, requires_grad=True), {})
    if not isinstance(keys["plain"], str):
        got = type(keys["plain"]).__name__
        return incorrect(
            both(
                f"The key goes into a JSON file later, so it is a string, and not a {got}: `str(...)` or `repr(...)`.",
                f"key 以后要写进 JSON 文件，所以应是字符串，而不是 {got}：用 `str(...)` 或 `repr(...)`。",
            ),
            reason="no-string",
        )
    if keys["plain"] != twin:
        return incorrect(
            both(
                "Two layers, the same problem, other numbers in the tensors: your keys differ, so every layer and every batch searches. "
                "Neither the numbers nor the object belong in a key.",
                "两个层，同一个卷积配置，只是张量里的数不同：你的 key 却不一样，于是每一层、每一批都要搜索。数值和对象本身都不该进 key。",
            ),
            reason="too-much",
        )
    missing = [name for name in WHY if keys[name] == keys["plain"]]
    if missing:
        return _missing(missing)
    if quiet != keys["plain"]:
        return partly(
            0.5,
            1.0,
            both(
                "Everything is in the key. One thing too much: under `torch.no_grad()` a weight with `requires_grad` computes no "
                "gradient; `torch.is_grad_enabled()` tells.",
                "该有的都有了，只多了一点：在 `torch.no_grad()` 里，带 `requires_grad` 的权重也不算梯度，要问 `torch.is_grad_enabled()`。",
            ),
            reason="no-grad",
        )
    return correct(
        both(
            f"{len(WHY)} changes, {len(WHY)} other keys; another layer with the same problem, the same key.",
            f"{len(WHY)} 种改动，key 全都变了；换一层、配置相同，key 不变。",
        )
    )


def _missing(missing: list[str]) -> Verdict:
    first = WHY[missing[0]]
    more = both(
        f" Of the {len(WHY)} changes your key misses {len(missing) - 1} more." if missing[1:] else "",
        f"{len(WHY)} 种改动里，另外还漏了 {len(missing) - 1} 种。" if missing[1:] else "",
    )
    return incorrect(
        both(
            f"Two problems have the same key, and they differ in {first['en']}: the second runs with the plan of the first.{more['en']}",
            f"两个卷积配置只差{first['zh']}，key 却相同：第二个会沿用第一个的计划。{more['zh']}",
        ),
        reason=f"missing-{missing[0]}",
        missing=missing,
    )


# --- own-cache --------------------------------------------------------------------------------------------


def check_cache(tuned: Callable[..., Any]) -> Verdict:
    """Keys a, b, a, a, b with two other plans; then a plan that came from a file, and one whose way no longer exists."""
    winners, searched, seen = {"a": "quick", "b": "small"}, [], []

    def search(x: str, weight: str, setting: dict[str, int]) -> str:
        searched.append(x)
        return winners[x]

    def way(name: str) -> Callable[..., tuple]:
        def run(x: str, weight: str, **setting: int) -> tuple:
            seen.append((name, x, weight, setting))
            return name, x

        return run

    def key_of(x: str, weight: str, setting: dict[str, int]) -> str:
        return f"key of {x}"

    ways, plans, wanted = {name: way(name) for name in ("small", "quick")}, {}, {"stride": 2}
    got = [tuned(x, "w", dict(wanted), ways, plans, key_of, search) for x in "abaab"]
    if got[0] is None or got[0] is Ellipsis:
        return incorrect(
            both("Give back what the way of the plan computed.", "请返回所选算法算出的结果。"), reason="no-result"
        )
    if len(searched) > 2:
        return incorrect(
            both(
                f"Problems a, b, a, a, b: two searches are needed, and there were {len(searched)}. What was found has to be kept in "
                "`plans`, under its key.",
                f"依次是 a、b、a、a、b：只该搜索 2 次，实际 {len(searched)} 次。找到的要存进 `plans`，用它的 key。",
            ),
            reason="every-call",
        )
    if len(searched) < 2:
        return incorrect(
            both(
                "Problem b ran with the plan of a. Look up `key_of(x, weight, setting)`.",
                "b 用了 a 的计划。请按 `key_of(x, weight, setting)` 来查。",
            ),
            reason="one-plan",
        )
    if plans != {"key of a": "quick", "key of b": "small"}:
        return incorrect(
            both(
                f"`plans` should be {{'key of a': 'quick', 'key of b': 'small'}}: key -> name of the way. It is {plans!r}.",
                f"`plans` 应是 {{'key of a': 'quick', 'key of b': 'small'}}（key -> 算法的名字），现在是 {plans!r}。",
            ),
            reason="plans",
        )
    if got != [(winners[x], x) for x in "abaab"] or {len(one[3]) and one[3]["stride"] for one in seen} != {2}:
        return incorrect(
            both(
                "Call the way whose name is in the plan with `x`, `weight` and `**setting`, and give back its result.",
                "请用 `x`、`weight` 和 `**setting` 调用计划里那个算法，并返回它的结果。",
            ),
            reason="call",
        )
    return _old_plans(tuned, ways, key_of, search, searched)


def _old_plans(tuned: Callable, ways: dict, key_of: Callable, search: Callable, searched: list[str]) -> Verdict:
    """Plans that were there before the first call."""
    searched.clear()
    found = tuned("a", "w", {}, ways, {"key of a": "small"}, key_of, search)
    if searched or found[0] != "small":
        return incorrect(
            both(
                "A plan that is in `plans` already (from a file) is used, without a search.",
                "`plans` 里已有的计划（从文件读来的）应直接用，不再搜索。",
            ),
            reason="file",
        )
    plans = {"key of a": "winograd"}
    try:
        found = tuned("a", "w", {}, ways, plans, key_of, search)
    except KeyError:
        found = ()
    if found and plans == {"key of a": "quick"}:
        return correct(
            both(
                "One search for each key, old plans are used, and a plan whose way is gone is searched again.",
                "每个 key 只搜索一次；旧计划照用；计划里的算法已经没有了，就重新搜索。",
            )
        )
    return partly(
        0.5,
        1.0,
        both(
            'The cache works. One case is left: the file names a way that you have since removed, "winograd". Ask whether the plan is '
            "one of `ways`, and search again if not.",
            "缓存没问题，还差一种情况：文件里写着 “winograd”，而这个算法你已经删了。先问计划在不在 `ways` 里，不在就重新搜索。",
        ),
        reason="gone",
    )


# --- own-bill ---------------------------------------------------------------------------------------------

TIMES = {"a": (10.0, 5.0, 2.0), "b": (15.0, 4.0, 4.0), "c": (7.0, 6.0, 1.0)}
"""key -> ms of its search, of a step without the tuner, of a step with the best way."""
RUNS = (("aaaaaaaa", 14.0), ("aaaaaaaabba", 2.0), ("abcabc", -16.0), ("abacaba", -15.0), ("", 0.0), ("bbb", -15.0))
"""Steps of a run -> ms that the tuner saves."""


def check_bill(bill: Callable[..., Any]) -> Verdict:
    """One size all the time, sizes that come back, a size without gain, no step at all."""
    for steps, saved in RUNS:
        times = dict(TIMES)
        got = data(bill(list(steps), times))
        if isinstance(got, bool) or not isinstance(got, (int, float)):
            return incorrect(
                both(f"A number is expected, not {got!r}.", f"应返回数字，而不是 {got!r}。"), reason="form"
            )
        if abs(got - saved) > 1e-6:
            return _wrong_bill(steps, got, saved)
    return correct(
        both(
            "Each step brings its gain, each new key costs its search, once.",
            "每一步挣它的收益；每个新 key 付一次搜索费，只付一次。",
        )
    )


def _wrong_bill(steps: str, got: float, saved: float) -> Verdict:
    gained = sum(TIMES[one][1] - TIMES[one][2] for one in steps)
    changes = [one for one, before in zip(steps, " " + steps, strict=False) if one != before]
    slips: dict[str, tuple[float, Text]] = {
        "sign": (-saved, both("The sign is the other way round: saved is positive.", "符号反了：省下的是正数。")),
        "free": (gained, both("The searches are missing.", "没有算搜索费。")),
        "every-step": (
            gained - sum(TIMES[one][0] for one in steps),
            both(
                "Every step pays for a search: only the first of its key does.",
                "每一步都付了搜索费：只有每个 key 的第一步才付。",
            ),
        ),
        "every-change": (
            gained - sum(TIMES[one][0] for one in changes),
            both(
                "Every change of size pays for a search, also back to a size that is known.",
                "每次换尺寸都付了搜索费，连换回见过的尺寸也付了。",
            ),
        ),
        "one-search": (
            gained - (TIMES[steps[0]][0] if steps else 0),
            both("Only the first key pays for its search.", "只有第一个 key 付了搜索费。"),
        ),
        "all-keys": (
            gained - sum(one[0] for one in TIMES.values()),
            both("Keys that the run never meets pay, too.", "没遇到过的 key 也付了搜索费。"),
        ),
        "no-gain": (
            -sum(TIMES[one][0] for one in set(steps)),
            both("The gain of the steps is missing.", "没有算每步的收益。"),
        ),
    }
    reason, said = next(
        ((name, text) for name, (value, text) in slips.items() if abs(got - value) < 1e-6), ("numbers", both("", ""))
    )
    shown = both(
        f"Steps {', '.join(steps) or '(none)'} save {saved:g} ms, not {got:g}. {said['en']}".strip(),
        f"步骤 {'、'.join(steps) or '（没有）'} 共省 {saved:g} ms，而不是 {got:g}。{said['zh']}",
    )
    return incorrect(shown, reason=reason)


CHECKS = {"own-key": check_key, "own-cache": check_cache, "own-bill": check_bill}
