"""The verb ``try_switches``: which settings make the user's own step faster, here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course.tryout.result import Tried


def try_switches(
    work: Any = None, *inputs: Any, only: str | Sequence[str] | None = None, budget: float = 90.0
) -> Tried:
    """Try every setting that can matter for this step on this machine, one at a time, then the faster ones together.

    >>> try_switches(step)                       # a function without arguments, such as a training step     # doctest: +SKIP
    >>> try_switches(model, x)                   # model(x)
    >>> try_switches(step, only="threads")

    One look at the operators that ran says which settings can matter. Those are compared with the step as it is in several sets of new
    processes, all in turns and in random order, because a script is a new process, too. What may yet differ by more than a tenth gets
    more sets, until it is settled or the budget is used.
    "Take it": the whole likely range of the time ratio lies below 0.98, begins below 0.95, is no wider than a factor of 2, and the result
    is about as exact as before, compared with float64. On a machine that other programs keep busy, threads are not judged.

    New processes get copies of the step: nothing runs in yours. What cannot be copied, such as a step that holds a lock or a generator, is
    refused. What it prints is hidden.
    only: names of settings, families or switches, such as "channels_last", "threads", "mkldnn.enabled"; "compile", torch.compile, is
    tried only where it is named. budget: seconds for all of it, about.
    Returns a `Tried`: a sentence, in a notebook a picture, a table, the lines to paste; .rows(), .lines(). Raises
    TimingError, in a sentence.
    """
    from course.tryout.running import run  # with torch, which a card does not need

    return run(work, inputs, only, budget)
