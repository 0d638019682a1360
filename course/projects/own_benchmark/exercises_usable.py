"""Checks of the project, part 5: which ways may race. Some of those tried here stop with an error, compute nonsense or need too much."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from course.i18n import Text, both
from course.verdict import Verdict, correct, incorrect, partly

if TYPE_CHECKING:
    from torch import Tensor

LIMIT = 1000
NEEDS = {"rounded": 900, "exactly": LIMIT, "huge": LIMIT + 1}
"""Planted bytes of workspace; the others need none."""


class Planned(RuntimeError):
    """Raised by a way of the check."""


def _ways(called: list[str]) -> dict[str, Callable[..., Tensor]]:
    import torch.nn.functional as F

    def changed(name: str, change: Callable[[Tensor], Tensor]) -> Callable[..., Tensor]:
        def way(x: Tensor, weight: Tensor, **setting: int) -> Tensor:
            called.append(name)
            return change(F.conv2d(x, weight, **setting))

        return way

    def cannot(right: Tensor) -> Tensor:
        raise Planned("this way knows no groups")

    def stopped(right: Tensor) -> Tensor:
        raise KeyboardInterrupt

    changes = {
        "rounded": lambda right: right * (1 + 5e-5),
        "cannot": cannot,
        "pytorch": lambda right: right,
        "wrong": lambda right: right + 0.5,
        "not-a-number": lambda right: right * float("nan"),
        "one-number": lambda right: right.mean().reshape(1),
        "huge": lambda right: right,
        "exactly": lambda right: right,
        "stopped": stopped,
    }
    return {name: changed(name, change) for name, change in changes.items()}


SLIPS: dict[str, tuple[str, Text]] = {
    "cannot": (
        "failing",
        both("`cannot` stops with an error, and it is among the usable ones.", "`cannot` 会报错，却还算可用。"),
    ),
    "wrong": (
        "wrong-numbers",
        both("`wrong` is 0.5 off everywhere, and it may race.", "`wrong` 处处差 0.5，却能参赛。"),
    ),
    "not-a-number": (
        "wrong-numbers",
        both("`not-a-number` gives NaN, and it may race.", "`not-a-number` 全是 NaN，却能参赛。"),
    ),
    "one-number": (
        "shape",
        both(
            "`one-number` gives a tensor of one number, which `allclose` stretches over all of them: compare the shapes first.",
            "`one-number` 只给出一个数，`allclose` 会把它扩展开来比：请先比形状。",
        ),
    ),
    "huge": (
        "memory",
        both(
            f"`huge` needs {LIMIT + 1} bytes of workspace; the limit is {LIMIT}, and it may race.",
            f"`huge` 要 {LIMIT + 1} 字节的工作区，上限是 {LIMIT}，却能参赛。",
        ),
    ),
}


def check_usable(usable: Callable[..., Any]) -> Verdict:
    """Nine ways: right ones with other rounding and on the limit, wrong ones of each kind, and a Ctrl-C."""
    import torch

    called: list[str] = []
    ways = _ways(called)
    # all results are equal, so that a single number, stretched, would look right
    x, weight = torch.ones(1, 2, 5, 5), torch.ones(3, 2, 3, 3)

    def asked(names: tuple[str, ...]) -> list[str]:
        kept: Mapping[str, Any] = {name: ways[name] for name in names}
        found = usable(kept, x, weight, {}, lambda name, *_: NEEDS.get(name, 0), LIMIT)
        return list(found)

    try:
        found = asked(tuple(name for name in ways if name != "stopped"))
    except Planned as error:
        return incorrect(
            both(
                f"One way stopped with `{error}`, and the whole tuner with it. Catch it and go on with the others.",
                f"一个算法报了错 `{error}`，整个调优器也跟着停了。捕获它，接着试别的。",
            ),
            reason="failing",
        )
    except TypeError:
        return incorrect(
            both("Give back the list of the names of the usable ways.", "请返回可用算法名字的列表。"), reason="form"
        )
    if "huge" in called:
        return incorrect(
            both(
                "`huge` needs more memory than there is, and it was run: ask `workspace` before, not after.",
                "`huge` 要的内存超出上限，却还是运行了：要先问 `workspace`，不能事后再问。",
            ),
            reason="memory",
        )
    for name, (reason, said) in SLIPS.items():
        if name in found:
            return incorrect(said, reason=reason)
    if "rounded" not in found:
        return incorrect(
            both(
                "`rounded` differs in the fifth digit, as another order of the sum or an FFT does. That is no fault: compare with a "
                "tolerance of a thousandth.",
                "`rounded` 第五位数字不同，换个求和顺序、改用 FFT 都会这样，不算错：比较时要留千分之一的容差。",
            ),
            reason="exact",
        )
    if "exactly" not in found:
        return incorrect(
            both("`exactly` needs just what the limit allows, so it may race.", "`exactly` 正好等于上限，可以参赛。"),
            reason="limit",
        )
    if sorted(found) != ["exactly", "pytorch", "rounded"]:
        return incorrect(
            both(
                f"`pytorch`, `rounded` and `exactly` are usable, each once; you give back {found!r}.",
                f"可用的是 `pytorch`、`rounded`、`exactly`，各一次；返回的是 {found!r}。",
            ),
            reason="names",
        )
    return _stopped(asked)


def _stopped(asked: Callable[[tuple[str, ...]], list[str]]) -> Verdict:
    try:
        asked(("pytorch", "stopped"))
    except KeyboardInterrupt:
        return correct(
            both(
                "Whatever a way does, the tuner goes on, and only right numbers may race.",
                "不管某个算法怎么闹，调优器都能继续；只有算对的才能参赛。",
            )
        )
    return partly(
        0.5,
        1.0,
        both(
            "One thing too much: `except:` also catches Ctrl-C and the stop button. Write `except Exception:`.",
            "只多管了一件事：`except:` 连 Ctrl-C 和停止按钮也一并吃掉。请写 `except Exception:`。",
        ),
        reason="interrupt",
    )


CHECKS = {"own-usable": check_usable}
