"""Mark many submissions in parallel: in processes of this machine, or on the workers of a Dask cluster.

Each way takes submissions and yields (student, ``Marked`` or a sentence) as each one is done. If a worker dies, its unfinished
submissions are tried again; one that is lost ``MOST_TRIES`` times gets a sentence.
"""

from __future__ import annotations

import asyncio
import functools
import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import forkserver, get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Union

from grader.guard import STEP_S, guarded, reason
from grader.project import HERE, Infrastructure, ProjectError
from grader.sandbox.shared import connect, fork_server, shared

if TYPE_CHECKING:  # importing nbgrader takes seconds, in which others can start already
    from grader.marking.whole import Exam, Marked, Submission

MOST_TRIES = 3
AHEAD = 4  # submissions sent to a worker at a time, so that memory does not grow with the class
PATIENCE_S = 20  # for a Dask scheduler to answer
LOST = "the marking process was ended from outside {} times"

Answer = tuple[str, Union["Marked", str]]
Run = Callable[[Iterable["Submission"], "Exam"], Iterator[Answer]]


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def prepare(jobs: int, sandbox: bool) -> None:
    """Start the processes that marking needs, without waiting for them. Raises Infrastructure if there is no sandbox.

    Call it before importing nbgrader: both take seconds and can then run at the same time.
    """
    if jobs == 1:
        shared(sandbox).launch()
        return
    context = get_context("forkserver")
    context.set_forkserver_preload(["grader.marking.whole"])
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(HERE), before]))
    try:
        forkserver.ensure_running()
    finally:
        os.environ.pop("PYTHONPATH") if before is None else os.environ.update(PYTHONPATH=before)
    if sandbox:
        fork_server(sandbox).launch()


def attempt(submission: Submission, exam: Exam) -> Marked | str:
    """Mark a submission; tries once more after a failure that is not the student's, and returns a sentence if that fails too."""
    from grader.marking.whole import mark

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


def here(submissions: Iterable[Submission], exam: Exam) -> Iterator[Answer]:
    """Mark submissions one after the other in this process."""
    for submission in submissions:
        yield submission.student, attempt(submission, exam)


def begin(sandbox: bool, address: str | None) -> None:
    """Called at the start of a marking process: makes it end with its parent in any case, and starts its warm process."""

    def watch() -> None:
        parent_process().join()
        os._exit(1)

    Thread(target=watch, daemon=True).start()
    connect(sandbox, address)
    try:
        shared(sandbox).launch()
    except Infrastructure:  # said again, and heard, with the first submission
        pass


@functools.cache
def _processes(jobs: int, sandbox: bool, _process: int) -> ProcessPoolExecutor:
    """A pool of marking processes, used again for the next checkpoint; each starts when it is needed."""
    prepare(jobs, sandbox)
    return ProcessPoolExecutor(jobs, get_context("forkserver"), begin, (sandbox, fork_server(sandbox).address))


class Local:
    """Marks in ``jobs`` processes. Each has its own warm process, forked from this process's fork server."""

    def __init__(self, jobs: int, sandbox: bool = True) -> None:
        self.jobs, self.sandbox = jobs, sandbox
        self._tries: dict[str, int] = {}

    def run(self, submissions: Iterable[Submission], exam: Exam) -> Iterator[Answer]:
        source, again = iter(submissions), []
        while True:
            running: dict[Future, Submission] = {}
            try:
                yield from self._drain(_processes(self.jobs, self.sandbox, os.getpid()), running, again, source, exam)
                return
            except BrokenProcessPool:
                _processes(self.jobs, self.sandbox, os.getpid()).shutdown()
                _processes.cache_clear()
                lost = list(running.values())
            finally:
                for future in running:
                    future.cancel()
            if len(lost) == 1:
                self._tries[lost[0].student] = tries = self._tries.get(lost[0].student, 0) + 1
                if tries == MOST_TRIES:
                    yield lost.pop().student, LOST.format(tries)
            again += lost

    def _drain(
        self,
        pool: ProcessPoolExecutor,
        running: dict[Future, Submission],
        again: list[Submission],
        source: Iterator[Submission],
        exam: Exam,
    ) -> Iterator[Answer]:
        """Yield results until all are done. After a process has died, its submissions are tried one at a time, so that the next
        death shows which one is the cause.
        """
        while True:
            while len(running) < (1 if again else AHEAD * self.jobs):
                submission = again.pop() if again else next(source, None)
                if submission is None:
                    break
                running[pool.submit(attempt, submission, exam)] = submission
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                answer = future.result()
                yield running.pop(future).student, answer


def at_worker(packed: bytes) -> bytes:
    """Runs on a worker: mark with the worker's checkout. Returns ``Unfit`` if that checkout would mark differently."""
    from distributed import get_worker

    submission, exam, here = pickle.loads(packed)
    reason = _unfit(exam, here)
    return pickle.dumps(
        Unfit(f"the Dask worker {get_worker().address} cannot mark: {reason}") if reason else attempt(submission, exam)
    )


def undisturbed(run: Run) -> Run:
    """Wrap ``run``: a submission that ran out of time while other programs used the processors is marked once more at the end,
    alone. If that happens again, it stays without a grade.
    """

    def gone_through(submissions: Iterable[Submission], exam: Exam) -> Iterator[Answer]:
        from grader.marking.execute import DISTURBED
        from grader.marking.whole import Marked

        out: dict[str, Submission] = {}

        def noted() -> Iterator[Submission]:
            for submission in submissions:
                out[submission.student] = submission
                yield submission

        later = []
        for student, answer in run(noted(), exam):
            submission = out.pop(student)
            if isinstance(answer, Marked) and answer.disturbed:
                later.append(submission)
            else:
                yield student, answer
        for submission in later:
            for student, answer in run([submission], exam):
                yield student, DISTURBED if isinstance(answer, Marked) and answer.disturbed else answer

    return gone_through


@dataclass(frozen=True)
class Unfit:
    """A sentence that says why a worker cannot mark."""

    sentence: str


@functools.cache
def _unfit(exam: Exam, here: str) -> str | None:
    from grader.sandbox.launch import obstacle

    try:
        there = _rests_on(exam)
    except Exception as error:  # keys or tests that cannot be read
        there = str(error)
    if there != here:
        return (
            f"its checkout, {HERE}, has other keys, tests or marking code than this one; "
            "bring both to the same commit and start the worker again"
        )
    return obstacle() if exam.sandbox else None


def _rests_on(exam: Exam) -> str:
    from grader.marking.fingerprints import of_program, of_questions

    return of_program() + of_questions(exam.project, exam.lesson)


def _travelling() -> Callable[[bytes], bytes]:
    """The function that is sent to the workers. It is defined inside a function, so that it is sent as code and neither the
    scheduler nor a worker needs to import it.
    """

    def mark_there(packed: bytes) -> bytes:
        import os
        import pickle
        import sys

        if os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())
        try:
            from grader.pool import at_worker
        except ModuleNotFoundError as error:
            said = (
                f"the Dask worker in {os.getcwd()} of {os.uname().nodename} finds no {error.name}; "
                "start it in the folder of this checkout, with the same Python packages"
            )
            return pickle.dumps(said.encode())
        return at_worker(packed)

    return mark_there


@dataclass(frozen=True)
class Tls:
    """The PEM files for an encrypted Dask cluster: its certificate authority, and our certificate and key."""

    ca: Path
    cert: Path
    key: Path

    def security(self) -> Any:
        """The settings for Dask, which require encryption. Raises Infrastructure for a missing file."""
        from distributed.security import Security

        if missing := [str(path) for path in (self.ca, self.cert, self.key) if not path.is_file()]:
            raise Infrastructure(
                f"no such file: {', '.join(missing)}; --tls-ca, --tls-cert and --tls-key name PEM files"
            )
        return Security(
            require_encryption=True,
            tls_ca_file=str(self.ca),
            tls_client_cert=str(self.cert),
            tls_client_key=str(self.key),
        )


class Cluster:
    """Marks on the workers of an existing Dask cluster. Each is started in a checkout like this one; no shared disk is needed.

    tls: for an address ``tls://...``; without it Dask's own settings (``distributed.comm.tls``) are used.
    """

    def __init__(self, address: str, tls: Tls | None = None) -> None:
        try:
            from distributed import Client
        except ModuleNotFoundError as error:
            raise Infrastructure("--cluster needs dask.distributed: pip install distributed") from error
        try:
            self._client: Any = Client(address, timeout=PATIENCE_S, security=None if tls is None else tls.security())
        except (TypeError, RuntimeError) as error:  # what distributed says of certificates
            raise Infrastructure(
                f"{address} cannot be reached safely ({error}); give an address tls://... together with --tls-ca, "
                "--tls-cert and --tls-key"
            ) from error
        except (OSError, ValueError, TimeoutError, asyncio.TimeoutError) as error:
            raise Infrastructure(
                f"no Dask scheduler answers at {address} ({error or type(error).__name__}); "
                "start one with `dask scheduler`, or leave --cluster out"
            ) from error
        try:
            self._client.wait_for_workers(1, timeout=PATIENCE_S)
        except (TimeoutError, asyncio.TimeoutError):
            self._client.close()
            raise Infrastructure(
                f"the Dask scheduler at {address} has no worker; in a checkout of the course start one with `dask worker {address}`"
            ) from None

    def run(self, submissions: Iterable[Submission], exam: Exam) -> Iterator[Answer]:
        from distributed import as_completed

        source, students, here = iter(submissions), {}, _rests_on(exam)
        busy, mark_there = as_completed(), _travelling()

        def hand_out() -> bool:
            submission = next(source, None)
            if submission is None:
                return False
            packed = pickle.dumps((submission, exam, here))
            future = self._client.submit(mark_there, packed, pure=False, retries=MOST_TRIES)
            students[future.key] = submission.student
            busy.add(future)
            return True

        for _ in range(AHEAD * max(1, sum(self._client.nthreads().values()))):
            if not hand_out():
                break
        for future in busy:
            try:
                error = future.exception()
            except (CancelledError, asyncio.CancelledError, OSError) as gone:
                raise Infrastructure(
                    "the Dask scheduler is gone; what is marked is kept, run again for the rest"
                ) from gone
            answer = f"{type(error).__name__}: {error}" if error is not None else pickle.loads(future.result())
            if isinstance(answer, (Unfit, bytes)):  # with this worker the rest would fail, too
                raise Infrastructure(answer.sentence if isinstance(answer, Unfit) else answer.decode())
            yield students.pop(future.key), answer
            hand_out()

    def close(self) -> None:
        self._client.close()
