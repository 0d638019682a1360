"""Run the snippet of an item that computes its key. Its side effects are undone, and its time is limited."""

from __future__ import annotations

import copy
import os
import random
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NamedTuple

from course.questions.items import Item, within

LIMIT_S = 60.0


class Verification(NamedTuple):
    """Whether the computed result agrees with the key. message: the computed result and the key in a sentence."""

    ok: bool
    message: str
    got: Any = None


class _TooLong(BaseException):
    """The time is up. Not an Exception, so that ``except Exception`` in a snippet does not catch it."""


def run_verify(
    item: Item, around: Callable[[], AbstractContextManager[Any]] = nullcontext, limit_s: float = LIMIT_S
) -> Verification:
    """Execute ``item.verify`` in this process and compare its variable ``result`` with the key. Its variables are the values
    drawn for a variant.

    around: a context manager that restores more state afterwards, such as ``course.experiment.base.restored`` for the
    switches, threads and random state of torch. Environment, working folder, ``random`` and numpy's random state are
    always restored. limit_s: seconds after which the snippet is stopped (in the main thread, where the system has
    timers; a call that never returns to Python cannot be stopped). Never raises, except for Ctrl-C: for a snippet that fails,
    is stopped or leaves no ``result``, the Verification is not ok.
    """
    if not item.verify:
        return Verification(False, f"{item.id} has no verify snippet.")
    space: dict[str, Any] = {"__name__": f"verify_{item.id.replace('-', '_')}", **copy.deepcopy(dict(item.values))}
    what = f"The verify snippet of {item.id}"
    try:
        with around(), _preserved(), _limit(limit_s):
            exec(compile(item.verify, f"<verify of {item.id}>", "exec"), space)
    except _TooLong:
        return Verification(False, f"{what} was cut after {limit_s:g} s; make it shorter.")
    except Exception as error:
        return Verification(False, f"{what} stopped with {type(error).__name__}: {error}.")
    except SystemExit:
        return Verification(False, f"{what} called exit; leave the answer in `result` instead.")
    if "result" not in space:
        return Verification(False, f"{what} leaves no variable named result.")
    got, key = space["result"], _key(item)
    ok = _agrees(item, got)
    return Verification(ok, f"{item.id}: the snippet computed {got!r}, the key says {key!r}.", got)


@contextmanager
def _preserved() -> Iterator[None]:
    """Restore environment, working folder, import path and random states after the block."""
    environment, folder, path, rng = dict(os.environ), os.getcwd(), list(sys.path), random.getstate()
    numpy = sys.modules.get("numpy")
    numpy_state = numpy.random.get_state() if numpy else None
    try:
        yield
    finally:
        os.chdir(folder)
        sys.path[:] = path
        random.setstate(rng)
        if numpy and numpy_state:
            numpy.random.set_state(numpy_state)
        if dict(os.environ) != environment:
            os.environ.clear()
            os.environ.update(environment)


@contextmanager
def _limit(seconds: float) -> Iterator[None]:
    """Raise _TooLong in the block after so many seconds, where that is possible."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(*_: Any) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.2)  # rings again, in case the first was swallowed
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _key(item: Item) -> Any:
    if item.kind == "number":
        return item.number.value
    return list(item.order if item.kind == "order" else item.correct)


def _agrees(item: Item, got: Any) -> bool:
    if item.kind == "number":
        try:
            return within(float(got), item.number.low, item.number.high)
        except (TypeError, ValueError):
            return False
    if not isinstance(got, (str, list, tuple, set)):
        return False
    ids = [got] if isinstance(got, str) else [str(one) for one in got]
    return ids == list(item.order) if item.kind == "order" else sorted(ids) == sorted(item.correct)
