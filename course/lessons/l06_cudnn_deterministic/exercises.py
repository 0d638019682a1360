"""Code tasks of lesson 06: seed, run repeatably, and make a seeded run differ."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from course.exercises.checking import Planned
from course.exercises.told import Told, listed

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


def check_seed_everything(seed_everything: Callable[[int], Any]) -> None:
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
        raise Told("no-seed, mode on" if mode else "no-seed")
    if loose:
        raise Told("some-seeds", loose=listed(loose))
    if stuck:
        raise Told("fixed-seed", stuck=listed(stuck))


# --- repeatable -------------------------------------------------------------------------------------------


def check_repeatable(repeatable: Callable[..., Any]) -> None:
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
        raise Told("no-result")
    if not first[0]:
        raise Told("mode-off")
    if first[1]:
        raise Told("warn-only")
    if first[2] != second[2]:
        raise Told("no-seed")
    if first[2] == other[2]:
        raise Told("fixed-seed")
    if any(after[before] != before for before in after):
        raise Told("left-behind")
    if after_crash != 0:
        raise Told("exception")


# --- make it lose -----------------------------------------------------------------------------------------


def check_make_it_lose(pair: Any) -> dict[str, float]:
    """Two settings of `small_training` with one seed: each repeats itself, and still their bits differ."""
    _two_settings(pair)
    from course.lessons.l06_cudnn_deterministic.training import small_training

    results = []
    for one in pair:
        runs = [small_training(**one) for _ in range(3)]
        if any(not run.equal(runs[0]) for run in runs):
            raise Told("no-repeat", one=one)
        results.append(runs[0])
    gap = float((results[0] - results[1]).abs().max())
    if gap == 0:
        raise Told("same-bits")
    if gap > 1e-3:
        raise Told("other-work", gap=gap)
    return {"gap": gap}


def _two_settings(pair: Any) -> None:
    """Raises Told unless these are two settings of `small_training` with the same seed and samples."""
    if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and all(isinstance(one, dict) for one in pair)):
        raise Told("two-settings")
    one, other = pair
    if strange := sorted((set(one) | set(other)) - {"seed", "threads", "samples", "pieces"}):
        raise Told("unknown-setting", strange=listed(strange))
    for name, default in (("seed", 0), ("samples", 256)):
        if one.get(name, default) != other.get(name, default):
            raise Told("other-experiment", name=name)


CHECKS = {
    "06-seed-everything": check_seed_everything,
    "06-repeatable": check_repeatable,
    "06-make-it-lose": check_make_it_lose,
}
