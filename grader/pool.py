"""Where submissions are marked: processes of this machine, or the workers of a Dask cluster.

Both take ``(number, submission)`` and give ``(number, Marked or a sentence)`` as each is done. A worker that dies
takes nothing with it: what it had not finished is tried again, and what is lost ``MOST_TRIES`` times is named.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Any

from grader.marking.whole import Exam, Marked, Submission, mark
from grader.project import Infrastructure

MOST_TRIES = 3
AHEAD = 4  # submissions handed out per worker: memory stays flat however large the class is
LOST = "the marking process was ended from outside {} times"

Answer = tuple[str, Marked | str]


def cores() -> int:
    """How many processes may run at once here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def attempt(submission: Submission, exam: Exam) -> Marked | str:
    """Mark, with one more try where our own machinery failed; a sentence if it failed again."""
    for last in (False, True):
        try:
            return mark(submission, exam)
        except Infrastructure as error:
            if last:
                return str(error)
        except Exception as error:  # a mistake of ours ends this submission's marking, never the batch
            return f"{type(error).__name__}: {error}"
    raise AssertionError


def here(submissions: Iterable[Submission], exam: Exam) -> Iterator[Answer]:
    """One after the other, in this process."""
    for submission in submissions:
        yield submission.student, attempt(submission, exam)


def follow() -> None:
    """End this marking process when the one that started it ends, however that ends."""

    def watch() -> None:
        parent_process().join()
        os._exit(1)

    Thread(target=watch, daemon=True).start()


class Local:
    """``jobs`` processes, each with a warm process of its own; started at the first submission."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._tries: dict[str, int] = {}

    def run(self, submissions: Iterable[Submission], exam: Exam) -> Iterator[Answer]:
        source, again = iter(submissions), []
        while True:
            running: dict[Future, Submission] = {}
            with ProcessPoolExecutor(self.jobs, get_context("spawn"), follow) as pool:
                try:
                    yield from self._drain(pool, running, again, source, exam)
                    return
                except BrokenProcessPool:
                    lost = list(running.values())
            if len(lost) == 1:
                self._tries[lost[0].student] = tries = self._tries.get(lost[0].student, 0) + 1
                if tries == MOST_TRIES:
                    yield lost.pop().student, LOST.format(tries)
            again += lost

    def _drain(self, pool: ProcessPoolExecutor, running: dict[Future, Submission], again: list[Submission],
               source: Iterator[Submission], exam: Exam) -> Iterator[Answer]:
        """Answers until all is done. After a death the lost ones go alone, so that the next death has one cause."""
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


class Cluster:
    """The workers of an existing Dask cluster; each needs this checkout, none needs our disk."""

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ModuleNotFoundError as error:
            raise Infrastructure("--cluster needs dask.distributed: pip install distributed") from error
        try:
            self._client: Any = Client(address, timeout="20s")
        except OSError as error:
            raise Infrastructure(f"no Dask scheduler answers at {address} ({error})") from error

    def run(self, submissions: Iterable[Submission], exam: Exam) -> Iterator[Answer]:
        from distributed import as_completed

        source, students = iter(submissions), {}
        shared = self._client.scatter(exam, broadcast=True)
        busy = as_completed()

        def hand_out() -> bool:
            submission = next(source, None)
            if submission is None:
                return False
            future = self._client.submit(attempt, submission, shared, pure=False, retries=MOST_TRIES)
            students[future.key] = submission.student
            busy.add(future)
            return True

        for _ in range(AHEAD * max(1, sum(self._client.nthreads().values()))):
            if not hand_out():
                break
        for future in busy:
            error = future.exception()
            yield students.pop(future.key), future.result() if error is None else f"{type(error).__name__}: {error}"
            hand_out()

    def close(self) -> None:
        self._client.close()
