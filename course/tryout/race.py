"""One loop that spends the budget: sets of blocks in turns, until what is open is settled. Pure statistics on plain numbers."""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Mapping, Sequence

from course.timing.stats import t_quantile
from course.tryout.venue import Block

AS_IS = "as it is"
FEWEST = 4
"""Sets before anything is said: each is one value."""
WARM_UPS, ROUNDS = 1, 3
"""Rounds of a set that are not counted, and the fewest that are."""
ERROR = 0.01
"""The chance that one of the likely ranges of a run misses."""
OTHERS = 4
"""What the others say of how far ratios scatter counts as so many more sets."""


class SideFailed(Exception):
    """A call raised under this name (AS_IS: not because of a setting)."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def one_set(block: Block, names: Sequence[str], seconds: float) -> tuple[dict[str, float], float]:
    """The median ratio of each name to the step as it is, taking turns in random order for so many seconds; and a call as it is in ms.

    A machine that slows down slows all of a turn. Raises SideFailed from what a call raised.
    """
    order, rounds, until = [AS_IS, *names], list[dict[str, float]](), math.inf
    while len(rounds) < WARM_UPS + ROUNDS or time.monotonic() < until:
        random.Random().shuffle(order)  # the user's own random numbers stay as they are
        rounds.append({name: _timed(block, name) for name in order})
        if len(rounds) == WARM_UPS:
            until = time.monotonic() + seconds
    counted = rounds[WARM_UPS:]
    ratios = {name: statistics.median(one[name] / one[AS_IS] for one in counted) for name in names}
    return ratios, 1e3 * statistics.median(one[AS_IS] for one in counted)


def _timed(block: Block, name: str) -> float:
    try:
        return block(name)
    except Exception as error:
        try:
            for _ in range(2):  # a step that raises after some calls raises in this one, too
                block(AS_IS)
        except Exception:  # noqa: BLE001  (the user's step)
            name = AS_IS
        raise SideFailed(name) from error


def ranges(ratios: Mapping[str, Sequence[float]]) -> dict[str, tuple[float, float, float]]:
    """For each name the ratio and its likely range, from one ratio a set: Student's t on logarithms. Names with fewer sets than FEWEST
    have none. Few sets tell little of how far one ratio scatters, and ratios that were measured side by side scatter about as far: the
    variance is drawn towards the middle one of all (G. K. Smyth, Statistical Applications in Genetics and Molecular Biology 3(1), 2004).
    """
    logs = {name: [math.log(one) for one in some] for name, some in ratios.items() if len(some) >= FEWEST}
    own = {name: statistics.variance(some) for name, some in logs.items()}
    found = {}
    for name, some in logs.items():
        freedom, more = len(some) - 1, OTHERS if len(logs) > 2 else 0
        variance = (freedom * own[name] + more * statistics.median(own.values())) / (freedom + more)
        half = t_quantile(1 - ERROR / len(ratios) / 2, freedom + more) * math.sqrt(variance / len(some))
        middle = statistics.fmean(some)
        found[name] = math.exp(middle), math.exp(middle - half), math.exp(middle + half)
    return found
