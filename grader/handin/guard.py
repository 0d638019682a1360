"""``guarded`` runs a step for one student, so that its failure does not stop the others. Used by collect, autograde,
feedback, report and export.

An exception, or a step that takes too long, becomes a sentence about that student, and the run goes on with the next
one. Faults that would hit every student (a full disk, a locked gradebook, wrong settings, Ctrl-C) are raised and end the run.
"""

from __future__ import annotations

import contextlib
import errno
import signal
import sys
import threading
from collections.abc import Callable, Iterator

from grader.project import Infrastructure, ProjectError

STEP_S = 120  # for one step of one student outside the sandbox; most take a tenth of a second
AGAIN_S = 2  # before a step that ignored the interrupt is interrupted again
OUR_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
LONGEST = 300  # characters of a reason
TOO_LONG = "it took longer than {:g} seconds and was stopped"


class OutOfTime(Exception):
    """A step of one student took longer than it may."""


@contextlib.contextmanager
def guarded(student: str, failed: Callable[[str, str], object], seconds: float = STEP_S) -> Iterator[None]:
    """Run a block for one student. If it fails, ``failed(student, sentence)`` is called and the exception is dropped.

    seconds: how long it may take before it is interrupted. Enforced in the main thread only, because only there signals arrive.
    """
    try:
        with _alarm(seconds):
            yield
    except (ProjectError, Infrastructure, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # SystemExit too: nbgrader's steps end themselves in that way
        if everybodys(error):
            raise
        failed(student, reason(error))


def everybodys(error: BaseException) -> bool:
    """Whether the fault would hit every student: a full disk, a locked gradebook."""
    if isinstance(error, OSError) and error.errno in OUR_DISK:
        return True
    database = sys.modules.get("sqlalchemy.exc")
    return (
        database is not None
        and isinstance(error, (database.OperationalError, database.DatabaseError))
        and not isinstance(error, (database.DataError, database.IntegrityError, database.ProgrammingError))
    )


def reason(error: BaseException) -> str:
    """An exception in one line."""
    text = " ".join(str(error).split()).encode("utf-8", "replace").decode("utf-8")
    said = text if isinstance(error, OutOfTime) else f"{type(error).__name__}: {text}" if text else type(error).__name__
    return said if len(said) <= LONGEST else said[:LONGEST] + " ..."


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(*_: object) -> None:
        raise OutOfTime(TOO_LONG.format(seconds))

    before = signal.signal(signal.SIGALRM, ring)
    left, every = signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if left:
            signal.setitimer(signal.ITIMER_REAL, left, every)
