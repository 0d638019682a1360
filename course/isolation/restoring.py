"""Put back what a block of code changed: objects and tensors within reach of some roots, and the process."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any

from course.isolation.journal import Journal
from course.isolation.preserved import process_preserved
from course.isolation.saving import SavingMode


@contextmanager
def unchanged(*roots: Any, at_once: bool = False, memory: bool = True) -> Iterator[Journal]:
    """Put back after the block whatever it changed: objects and tensors within reach of `roots`, random generators, settings.

    at_once: copy the memory of all tensors before the block, so that nothing watches its operators (to time them); else a
    memory is copied just before it is first written to. memory: False for a block that writes to no tensor from outside.
    Gives the journal, with the `saving` of memory. Raises Unrestorable as `Journal.restore` does.
    """
    journal = Journal(*roots)
    saving = journal.saving = SavingMode(journal.tensors.values() if memory else ())
    with _restoring(saving, journal):
        if at_once:
            for tensor in saving.tensors:
                saving.save(tensor)
        watched = saving if memory and not at_once else nullcontext()
        with process_preserved({str(x.device) for x in saving.tensors}), watched:
            yield journal


@contextmanager
def _restoring(*kept: Any) -> Iterator[None]:
    """Call `restore()` of each after the block, all of them whatever happens; an interrupt that comes meanwhile is raised then."""
    try:
        yield
    finally:
        interrupts: list[int] = []
        main = threading.current_thread() is threading.main_thread()
        before = signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number)) if main else None
        try:
            with ExitStack() as undo:
                for one in reversed(kept):
                    undo.callback(one.restore)
        finally:
            if main:
                signal.signal(signal.SIGINT, before or signal.SIG_DFL)
            if interrupts:
                raise KeyboardInterrupt
