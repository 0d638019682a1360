"""Mark submissions in an executor: in this process, in several processes of this machine, or on the workers of a Dask scheduler.

If a process dies, its unfinished submissions are tried again; one that is lost ``MOST_TRIES`` times gets a sentence.
"""

from __future__ import annotations

import asyncio
import functools
import os
import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import forkserver, get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Union
from unittest.mock import patch

from grader.handin.guard import STEP_S, guarded, reason
from grader.project import HERE, Infrastructure, ProjectError
from grader.sandbox.launch import obstacle
from grader.sandbox.warm import shared

if TYPE_CHECKING:  # importing nbgrader takes seconds, in which others can start already
    from grader.handin.reading import Submission
    from grader.marking.mark_submission import Exam, Marked

MOST_TRIES = 3
EACH_BYTES = 1 << 29  # of memory for a marking process: 300 MB of libraries, and a submission
CONTAINER = "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"  # what a container may take
AHEAD = 4  # submissions sent to a worker at a time, so that memory does not grow with the class
PATIENCE_S = 20  # for a Dask scheduler to answer
LOST = "the marking process was ended from outside {} times"

Answer = tuple["Submission", Union["Marked", str]]


def at_once() -> int:
    """How many submissions to mark at a time: one for each processor that this process may use, while each has ``EACH_BYTES``."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    memory = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")] if hasattr(os, "sysconf") else []
    for path in map(Path, CONTAINER):
        memory += [int(said) for said in (path.read_text("ascii").split() if path.exists() else ()) if said.isdigit()]
    return max(1, min([processors, *(one // EACH_BYTES for one in memory)]))


def prepare(jobs: int) -> None:
    """Start the processes that marking needs, without waiting for them. Raises Infrastructure if there is no sandbox.

    Call it before importing nbgrader: both take seconds and can then run at the same time.
    """
    if jobs == 1:
        shared().launch()
        return
    if said := obstacle():
        raise Infrastructure(said)
    context = get_context("forkserver")
    context.set_forkserver_preload(["grader.marking.mark_submission"])
    path = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))
    with patch.dict(os.environ, PYTHONPATH=path):
        forkserver.ensure_running()


def attempt(submission: Submission, exam: Exam) -> Marked | str:
    """Mark a submission; tries once more after a failure that is not the student's, and returns a sentence if that fails too."""
    from grader.marking.mark_submission import mark

    failed: dict[str, str] = {}
    for last in (False, True):
        try:
            with guarded(submission.student, failed.__setitem__, exam.limits.longest_s + STEP_S):
                return mark(submission, exam)
        except Infrastructure as error:
            if last:
                return str(error)
        except (ProjectError, OSError) as error:  # of ours; it ends this submission's marking, never the batch
            return reason(error)
        if failed:
            break
    return failed[submission.student]


class Here(Executor):
    """Runs what is submitted at once, in this process."""

    def submit(self, call: Callable[..., Any], /, *arguments: Any) -> Future:
        future: Future = Future()
        future.set_result(call(*arguments))
        return future


class Machine:
    """Marks in ``jobs`` processes of this machine, with one of them in this process. They are kept for the next checkpoint."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs

    def submit(self, submission: Submission, exam: Exam) -> Future:
        return self._executor().submit(attempt, submission, exam)

    def answer(self, future: Future) -> Marked | str:
        return future.result()

    def renew(self) -> None:
        """Have new processes after one has died."""
        self._executor().shutdown()
        _processes.cache_clear()

    def close(self) -> None:
        """Nothing to do: the processes end with this one."""

    def _executor(self) -> Executor:
        return Here() if self.jobs == 1 else _processes(self.jobs, os.getpid())


class Scheduler:
    """Marks on the workers of the Dask scheduler at an address, each started in a checkout like this one; no shared disk is needed.

    Raises Infrastructure where none answers.
    """

    def __init__(self, address: str) -> None:
        self._client = _connected(address)
        self._executor = self._client.get_executor(pure=False, retries=MOST_TRIES)
        self.jobs = max(2, sum(self._client.nthreads().values()))

    def submit(self, submission: Submission, exam: Exam) -> Future:
        return self._executor.submit(_travelling(), pickle.dumps((submission, exam)))

    def answer(self, future: Future) -> Marked | str:
        """What a worker sent back. Raises Infrastructure where none can mark."""
        try:
            return pickle.loads(future.result())
        except (CancelledError, asyncio.CancelledError, OSError) as gone:
            raise Infrastructure("the Dask scheduler is gone; what is marked is kept, run again for the rest") from gone
        except (Infrastructure, ImportError) as unfit:  # with this worker the rest would fail, too
            raise Infrastructure(
                f"a Dask worker cannot mark: {unfit}; start it in the folder of a checkout at this commit, with the same packages"
            ) from unfit
        except Exception as error:  # a worker that died with this submission, several times
            return reason(error)

    def close(self) -> None:
        self._client.close()


def mark_all(workers: Machine | Scheduler, submissions: Iterable[Submission], exam: Exam) -> Iterator[Answer]:
    """Mark submissions, and yield each as it is done. Raises Infrastructure where no worker can mark.

    After a process has died, its submissions are tried one at a time, so that the next death shows which one is the cause.
    """
    source, again, tries = iter(submissions), [], Counter()
    while True:
        running: dict[Future, Submission] = {}
        try:
            yield from _drain(workers, running, again, source, exam)
            return
        except BrokenProcessPool:
            workers.renew()
            lost = list(running.values())
        finally:
            for future in running:
                future.cancel()
        if len(lost) == 1:
            tries[lost[0].student] += 1
            if tries[lost[0].student] == MOST_TRIES:
                yield lost.pop(), LOST.format(MOST_TRIES)
        again += lost


def _drain(
    workers: Machine | Scheduler,
    running: dict[Future, Submission],
    again: list[Submission],
    source: Iterator[Submission],
    exam: Exam,
) -> Iterator[Answer]:
    while True:
        at_a_time = 1 if again or workers.jobs == 1 else AHEAD * workers.jobs
        while len(running) < at_a_time and (one := again.pop() if again else next(source, None)) is not None:
            running[workers.submit(one, exam)] = one
        if not running:
            return
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            yield running.pop(future), workers.answer(future)


def _connected(address: str) -> Any:
    """The Dask client of a scheduler that has a worker. Raises Infrastructure."""
    try:
        from distributed import Client
    except ModuleNotFoundError as error:
        raise Infrastructure("--cluster needs dask.distributed: pip install distributed") from error
    client = None
    try:
        client = Client(address, timeout=PATIENCE_S)
        client.wait_for_workers(1, timeout=PATIENCE_S)
        return client
    except (OSError, ValueError, TypeError, RuntimeError, TimeoutError, asyncio.TimeoutError) as error:
        if client is not None:
            client.close()
        raise Infrastructure(
            f"no Dask scheduler with a worker answers at {address} ({error or type(error).__name__}); start one with "
            f"`dask scheduler`, and in a checkout of the course `dask worker {address}`; or leave --cluster out"
        ) from error


def _travelling() -> Callable[[bytes], bytes]:
    """The function that is sent to the workers. It is defined inside a function, so that it is sent as code and neither the
    scheduler nor a worker needs to import it.
    """

    def mark_there(packed: bytes) -> bytes:
        import os
        import sys

        if os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())
        from grader.marking.pool import at_worker

        return at_worker(packed)

    return mark_there


def at_worker(packed: bytes) -> bytes:
    """Runs on a worker: mark with the worker's checkout. Raises Infrastructure if that checkout would mark differently."""
    submission, exam = pickle.loads(packed)
    if said := _unfit(exam):
        raise Infrastructure(said)
    return pickle.dumps(attempt(submission, exam))


@functools.cache
def _unfit(exam: Exam) -> str | None:
    from grader.marking.mark_submission import of_program, of_questions

    if (of_program(), of_questions(exam.project, exam.lesson)) != (exam.program, exam.questions):
        return f"its checkout, {HERE}, has other keys, tests or marking code"
    return obstacle()


def begin() -> None:
    """Called at the start of a marking process: makes it end with its parent in any case, and starts its warm process."""

    def watch() -> None:
        parent_process().join()
        os._exit(1)

    Thread(target=watch, daemon=True).start()
    try:
        shared().launch()
    except Infrastructure:  # said again, and heard, with the first submission
        pass


@functools.cache
def _processes(jobs: int, _process: int) -> ProcessPoolExecutor:
    """A pool of marking processes, used again for the next checkpoint; each has a warm process."""
    prepare(jobs)
    return ProcessPoolExecutor(jobs, get_context("forkserver"), begin)
