"""Code tasks of lesson 06: seed, run repeatably, and make a seeded run differ."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from course.core.i18n import both
from course.core.verdict import Verdict, correct, inconclusive, incorrect, partly
from course.exercises.blocks import Planned

SOURCES = ("random", "numpy", "torch")


@contextlib.contextmanager
def _world_preserved() -> Iterator[None]:
    """Random states and the deterministic mode as before, whatever the learner's code did."""
    import numpy
    import torch

    states = random.getstate(), numpy.random.get_state(), torch.get_rng_state()
    mode, threads = torch.get_deterministic_debug_mode(), torch.get_num_threads()
    cudnn = torch.backends.cudnn
    flags = cudnn.benchmark, cudnn.deterministic
    try:
        yield
    finally:
        random.setstate(states[0])
        numpy.random.set_state(states[1])
        torch.set_rng_state(states[2])
        torch.set_deterministic_debug_mode(mode)
        torch.set_num_threads(threads)
        cudnn.benchmark, cudnn.deterministic = flags


def _draw() -> dict[str, float]:
    import numpy
    import torch

    return {"random": random.random(), "numpy": float(numpy.random.rand()), "torch": torch.rand(()).item()}


def _different(one: Mapping[str, float], other: Mapping[str, float]) -> list[str]:
    return [source for source in SOURCES if one[source] != other[source]]


# --- seed_everything --------------------------------------------------------------------------------------


def check_seed_everything(seed_everything: Callable[[int], Any]) -> Verdict:
    """The three sources repeat for equal seeds, and move for different ones."""
    import torch

    with _world_preserved():
        draws = []
        for seed in (11, 12, 11):
            seed_everything(seed)
            draws.append(_draw())
        mode = torch.are_deterministic_algorithms_enabled()
    loose, stuck = _different(draws[0], draws[2]), [s for s in SOURCES if draws[0][s] == draws[1][s]]
    if len(loose) == 3:
        hint = both("", "")
        if mode:
            hint = both(
                " The deterministic mode is on now, but it sets no seed.", "确定性模式是打开了，但它不设任何种子。"
            )
        return incorrect(
            both(
                f"Called twice with seed 11, none of the three sources repeats.{hint['en']}",
                f"用种子 11 调用两次，三个随机源一个也没有重复。{hint['zh']}",
            ),
            reason="no-seed",
        )
    if loose:
        return partly(
            0.5,
            1.0,
            both(
                f"Not seeded yet: {', '.join(loose)}. Each library keeps a generator of its own.",
                f"还没设种子的：{'、'.join(loose)}。每个库都有自己的随机数生成器。",
            ),
            reason="some-seeds",
        )
    if stuck:
        return incorrect(
            both(
                f"Seeds 11 and 12 give the same numbers for {', '.join(stuck)}: use the argument.",
                f"种子 11 和 12 给出同样的数（{'、'.join(stuck)}）：要用到传入的参数。",
            ),
            reason="fixed-seed",
        )
    return correct(
        both(
            "Three generators, one seed. Loader workers get theirs from torch's.",
            "三个生成器，一个种子。DataLoader 的 worker 从 torch 的种子派生。",
        )
    )


# --- repeatable -------------------------------------------------------------------------------------------


def check_repeatable(repeatable: Callable[..., Any]) -> Verdict:
    """The mode and the seed inside; result handed back; the mode as before afterwards, in every case."""
    import torch

    def look() -> tuple[bool, bool, float]:
        return (
            torch.are_deterministic_algorithms_enabled(),
            torch.is_deterministic_algorithms_warn_only_enabled(),
            torch.rand(()).item(),
        )

    def crash() -> None:
        raise Planned

    with _world_preserved():
        after = {}
        for before in (1, 0):
            torch.set_deterministic_debug_mode(before)
            first = repeatable(look, 7)
            after[before] = torch.get_deterministic_debug_mode()
            torch.set_deterministic_debug_mode(before)
        second, other = repeatable(look, 7), repeatable(look, 8)
        torch.set_deterministic_debug_mode(0)
        with contextlib.suppress(Planned):
            repeatable(crash, 7)
        after_crash = torch.get_deterministic_debug_mode()
    if not (isinstance(first, tuple) and len(first) == 3):
        return incorrect(
            both("Hand back what `run()` returned.", "请把 `run()` 的返回值返回出来。"), reason="no-result"
        )
    return _judge_repeatable(first, second, other, after, after_crash)


def _judge_repeatable(first: tuple, second: tuple, other: tuple, after: dict[int, int], after_crash: int) -> Verdict:
    if not first[0]:
        return incorrect(
            both(
                "While `run()` works, the deterministic mode is off. `cudnn.deterministic` alone does not turn it on.",
                "`run()` 运行时确定性模式没有打开。单设 `cudnn.deterministic` 是打不开它的。",
            ),
            reason="mode-off",
        )
    if first[1]:
        return incorrect(
            both(
                "Inside, warn_only is on: then the nondeterministic kernel runs, with a warning.",
                "块内开着 warn_only：那样非确定性的 kernel 照样运行，只是多一条警告。",
            ),
            reason="warn-only",
        )
    if first[2] != second[2]:
        return incorrect(
            both(
                "The mode is on, but `run()` draws other numbers the second time: the mode sets no seed.",
                "确定性模式打开了，但第二次 `run()` 抽到的随机数不同：这个模式不设种子。",
            ),
            reason="no-seed",
        )
    if first[2] == other[2]:
        return incorrect(
            both(
                "Seeds 7 and 8 give the same numbers: use the argument.", "种子 7 和 8 给出同样的数：要用到传入的参数。"
            ),
            reason="fixed-seed",
        )
    if any(after[before] != before for before in after):
        return partly(
            0.5,
            1.0,
            both(
                "Inside all is well. "
                "Afterwards the mode is not what it was before the call (it may have been `warn_only`).",
                "块内都对。但结束后确定性模式没有恢复成调用前的样子（原来也可能是 `warn_only`）。",
            ),
            reason="left-behind",
        )
    if after_crash != 0:
        return partly(
            0.5,
            1.0,
            both(
                "All is well, except after an exception in `run()`: then the mode stays on.",
                "都对，只有一处：`run()` 抛异常之后，确定性模式没有关掉。",
            ),
            reason="exception",
        )
    return correct(
        both(
            "Mode on, seed set, result handed back, and the old mode returned in every case.",
            "确定性模式打开、种子设好、结果返回，而且无论如何都恢复原来的模式。",
        )
    )


# --- make it lose -----------------------------------------------------------------------------------------


def check_make_it_lose(pair: Any) -> Verdict:
    """Two settings of `small_training` with one seed: each repeats itself, and still their bits differ."""
    settings = _two_settings(pair)
    if isinstance(settings, Verdict):
        return settings
    from course.lessons.l06_cudnn_deterministic.training import small_training

    results = []
    for one in settings:
        runs = [small_training(**one) for _ in range(3)]
        if any(not run.equal(runs[0]) for run in runs):
            return inconclusive(
                both(
                    f"{one} does not even repeat itself here, so it is no clean evidence. Try another.",
                    f"{one} 在这里连自己都不能重复，算不上干净的证据。换一个试试。",
                ),
                reason="no-repeat",
            )
        results.append(runs[0])
    gap = float((results[0] - results[1]).abs().max())
    if gap == 0:
        return incorrect(
            both(
                "Same bits, three times each. "
                "Perhaps the work was too small to be shared out: how many numbers does it take?",
                "各跑三次，逐位一致。也许工作量太小，不值得分给多个线程：要多少个数才会分？",
            ),
            reason="same-bits",
        )
    if gap > 1e-3:
        return incorrect(
            both(
                f"The results are {gap:.2g} apart: that is another computation, not another order.",
                f"结果相差 {gap:.2g}：这是另一个计算，不只是换了顺序。",
            ),
            reason="other-work",
        )
    return correct(
        both(
            "Accepted: the same seed, the same data, each side repeats itself three times, "
            f"and yet the results differ, by {gap:.2g} at most.",
            f"通过：种子相同、数据相同，两边各自重复三次都一致，彼此却不同，最多相差 {gap:.2g}。",
        ),
        gap=gap,
    )


def _two_settings(pair: Any) -> tuple[dict, dict] | Verdict:
    if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and all(isinstance(one, dict) for one in pair)):
        return incorrect(
            both(
                "`pair` holds two dictionaries of settings for `small_training`.",
                "`pair` 应是两个字典，即 `small_training` 的两组设置。",
            ),
            reason="two-settings",
        )
    one, other = pair
    strange = sorted((set(one) | set(other)) - {"seed", "threads", "samples", "pieces"})
    if strange:
        return incorrect(
            both(
                f"`small_training` has no setting {', '.join(strange)}.",
                f"`small_training` 没有这个设置：{'、'.join(strange)}。",
            ),
            reason="unknown-setting",
        )
    for name, default in (("seed", 0), ("samples", 256)):
        if one.get(name, default) != other.get(name, default):
            return incorrect(
                both(
                    f"`{name}` differs: other numbers, another experiment. Only `threads` and `pieces` may differ.",
                    f"`{name}` 不一样：数都变了，是另一个实验。只有 `threads` 和 `pieces` 可以不同。",
                ),
                reason="other-experiment",
            )
    return one, other


CHECKS = {
    "06-seed-everything": check_seed_everything,
    "06-repeatable": check_repeatable,
    "06-make-it-lose": check_make_it_lose,
}
