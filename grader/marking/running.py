"""Run a submission and probe its tasks. A cell that ends the kernel, or does not end, loses nothing but its own result.

The student's cells run first, in order; graded cells are not run. Then each task is probed, with the calls of all its
parts in mixed order. If a call ends the kernel or uses up the time, the rest of its part is lost and the other parts are tried
again. What a probe prints, shows or updates is not copied into the notebook, so hidden inputs cannot leak.

A cell below a task may take a name that its function needs (``sum = 0``), so that calls which worked at its check raise at the end.
Such a task is probed once more in a fresh kernel that runs the notebook only up to the check.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from nbformat import NotebookNode

from course.core.i18n import Text, both, pick
from grader.marking.machine import Raised
from grader.marking.outputs import sayable, sound
from grader.marking.probe import Drawn, probe, results
from grader.marking.said import OF_KERNEL, WORDS, say
from grader.marking.step import grade_id, note, state
from grader.marking.tasks import settled, spoilt
from grader.project import Infrastructure
from grader.project.task import Case, Task
from grader.sandbox.kernel import DISTURBED, Kernel, Ran
from grader.sandbox.limits import Limits
from grader.sandbox.warm import Warm

MOST_TOLD, LONGEST_LINE = 3, 300  # errors named in the summary, characters of each
LOOKS = re.compile(r"(?:#.*\n)*check_file\([^()\n]*\)\s*")  # a cell that does nothing else
MOST_KERNELS = 4  # so many may be ended by the cells of one submission, and as many by its probes

Found = dict[str, tuple[list[Case] | None, dict[int, dict[str, Any]]]]  # task id -> (the calls, what came back)


@dataclass
class Job:
    """One piece of code to run: a cell of the student (``cell``), or a probe of the task ``task``."""

    source: str
    cell: NotebookNode | None = None
    index: int = 0
    task: str | None = None
    calls: tuple[int, ...] = ()


class Run:
    """The run of one submission. ``go`` runs it; ``found`` then returns the results of the probes."""

    def __init__(self, nb: NotebookNode, tasks: dict[str, Task], drawn: Drawn, language: str, limits: Limits) -> None:
        self.nb, self.tasks, self.drawn, self.language, self.limits = nb, tasks, drawn, language, limits
        self._probed: dict[str, list] = {name: [] for name in drawn}
        self._waiting = [*own_cells(nb), *probes(tasks, drawn)]
        self._done: list[Job] = []
        self._deaths = {"cells": 0, "probes": 0}
        self._unreached: dict[str, dict[int, dict[str, Any]]] = {name: {} for name in drawn}
        self._at_its_check: dict[str, dict[int, dict[str, Any]]] = {}
        self._output_left = limits.notebook_chars
        self._left = float(limits.total_s)  # seconds of its own time that are left
        self.words: set[str] = set()  # words of ``said.WORDS``: what happened in the run
        self.raised: dict[int, Raised] = {}  # index of a cell -> how it ended

    def go(self, warm: Warm, files: dict[str, bytes]) -> None:
        """Run all cells and probes, in new kernels where one ends, until the time is used up. files: path -> bytes, put into
        the working folder. Raises Infrastructure if no kernel starts, or the machine is too busy to run it.
        """
        self._until = monotonic() + self.limits.longest_s
        while self._waiting and self._in_time():
            with warm.kernel(self.limits, files) as kernel:
                self._live(kernel)
            kind = "cells" if self._waiting and self._waiting[0].cell is not None else "probes"
            self._deaths[kind] += 1
            if self._deaths[kind] == MOST_KERNELS:
                self._drop([job for job in self._waiting if (job.cell is not None) == (kind == "cells")], "killed")
        if self._waiting and self._left > 0:
            raise Infrastructure(DISTURBED)
        self._drop(list(self._waiting), "timeout")
        for identity in self.drawn:
            self._probe_at_its_check(identity, warm, files)
        state(self.nb)["happened"] = sorted({*state(self.nb).get("happened", ()), *self.words})

    def _probe_at_its_check(self, identity: str, warm: Warm, files: dict[str, bytes]) -> None:
        """Make the calls of a task once more without the cells below its check, where there are such cells and they may have spoilt
        what the calls need (``tasks.spoilt``).
        """
        cases, back = self.found()[identity]
        place = next((n for n, cell in enumerate(self.nb.cells) if grade_id(cell) == identity), len(self.nb.cells))
        if not spoilt(cases, back) or not self._in_time() or not any(job.index > place for job in own_cells(self.nb)):
            return
        above = [NotebookNode(cell, outputs=[]) for cell in self.nb.cells[:place]]
        limits = replace(self.limits, total_s=max(1, round(self._left)))
        run = Run(NotebookNode(cells=above, metadata={}), self.tasks, {identity: cases}, self.language, limits)
        run.go(warm, files)
        self._left -= limits.total_s - run._left
        self._at_its_check[identity] = run.found()[identity][1]

    def _in_time(self) -> bool:
        return self._left > 0 and monotonic() < self._until

    def _drop(self, jobs: list[Job], word: str) -> None:
        """Give up these jobs and note why: ``word`` of ``said.WORDS``."""
        for job in jobs:
            self._waiting.remove(job)
            self.words.add(word)
            if job.cell is not None:
                job.cell.outputs = [_error("NotRun", say("run.skipped"), self.language)]
                self.raised[job.index] = Raised()
            else:
                self._miss(job, word)
        if jobs and jobs[0].cell is not None:
            note(self.nb, "skipped", say("run.skipped-note"))

    def _stopped(self, job: Job, back: dict[int, dict[str, Any]], word: str) -> None:
        """Handle a probe that was stopped: the part of the call that stopped it is lost, the calls of other parts are tried
        again. back: the results it had sent.
        """
        self._miss(job, word)
        cases = self.drawn[job.task]
        open_calls = [number for number in job.calls if back.get(number, {}).get("state") in (None, "timeout")]
        if cases is None or not open_calls:
            return
        rest = [number for number in open_calls if cases[number].part != cases[open_calls[0]].part]
        if rest:
            self._waiting.insert(0, probe_job(self.tasks[job.task], cases, rest))

    def _miss(self, job: Job, word: str) -> None:
        """Store why the calls of a probe have no result."""
        for number in job.calls:
            self._unreached[job.task][number] = {"state": word}

    def found(self) -> Found:
        """The results of the probes: task id -> (the calls, call number -> result)."""
        found = {}
        for name, cases in self.drawn.items():
            back = {**self._unreached[name], **results(self._probed[name])}
            if name in self._at_its_check:
                back = settled(self.tasks[name], cases, back, self._at_its_check[name])
            found[name] = cases, back
        return found

    def _live(self, kernel: Kernel) -> None:
        """Use one kernel: run the finished cells again without showing them, then go on until the jobs or the kernel end."""
        replay, self._done = self._done, []
        for job in replay:
            if self._ran(kernel, job).ended:
                return
            self._done.append(job)
        while self._waiting and self._in_time():
            job = self._waiting.pop(0)
            ran = self._ran(kernel, job)
            if job.task is not None:
                self._probed[job.task] += ran.outputs
                word = OF_KERNEL.get(ran.ended) or ("timeout" if ran.late else "output" if ran.cut else "")
                if word:
                    self.words.add(word)
                    self._stopped(job, results(ran.outputs), word)
            else:
                self._show(job, ran)
            if ran.ended:
                break
            if job.task is None:
                self._done.append(job)

    def _ran(self, kernel: Kernel, job: Job) -> Ran:
        ran = kernel.run(job.source, max(1.0, self._left))
        self._left -= ran.seconds
        return ran

    def _show(self, job: Job, ran: Ran) -> None:
        """Write the outputs of a student's cell into the notebook, with a sentence where it was stopped."""
        outputs, said = [output for output in map(sound, ran.outputs) if output is not None], []
        job.cell.execution_count = len(self._done) + 1
        self._output_left -= sum(map(len, map(str, outputs)))
        if self._output_left < 0:
            outputs, ran.cut = [], True
        if ran.cut:
            self.words.add("output")
            said.append(_line(pick(say("run.cut"), self.language)))
        if ran.error is not None:
            self.words.add("memory" if _no_memory(ran) else "raised")
            self._raised(job, ran)
        elif ran.late or ran.ended:
            self.raised[job.index] = Raised()
        if ran.late and not ran.ended:
            said.append(self._told(job, "TimeIsUp", "timeout", say("run.late")))
        if ran.ended:
            said.append(self._told(job, "KernelEnded", OF_KERNEL[ran.ended], say(f"run.{ran.ended}")))
        job.cell.outputs = [*outputs, *said]

    def _raised(self, job: Job, ran: Ran) -> None:
        """Remember how a cell ended; the first ones are told in the summary, with the last line of the traceback."""
        message = next((str(one.get("evalue")) for one in ran.outputs if one.get("output_type") == "error"), "")
        error = Raised(sayable(str(ran.error))[:LONGEST_LINE], sayable(message)[:LONGEST_LINE])
        self.raised[job.index] = error
        if len(self.raised) <= MOST_TOLD and not ran.late and not ran.ended:
            self._note(job, "raised", both(error.line[:LONGEST_LINE], error.line[:LONGEST_LINE]))

    def _note(self, job: Job, word: str, why: Text) -> None:
        """Note for the student and the summary what happened to a cell: its number, ``word`` in words, and why."""
        self.words.add(word)
        note(self.nb, word, say("run.cell", number=job.index + 1, word=WORDS[word], why=why))

    def _told(self, job: Job, name: str, word: str, why: Text) -> NotebookNode:
        """The same, as an output below the cell."""
        self._note(job, word, why)
        return _error(name, why, self.language)


def _no_memory(ran: Ran) -> bool:
    """Whether a cell failed because memory was used up: Python raises MemoryError, torch a RuntimeError."""
    return ran.error == "MemoryError" or any(
        "can't allocate memory" in str(output.get("evalue")) for output in ran.outputs
    )


def own_cells(nb: NotebookNode) -> list[Job]:
    """The student's code cells. Graded cells are left out: they are marked outside the kernel. So is the last cell of a checkpoint,
    which only looks at the file.
    """
    return [
        Job(cell.source, cell, index)
        for index, cell in enumerate(nb.cells)
        if cell.cell_type == "code"
        and not cell.metadata.get("nbgrader", {}).get("grade")
        and not LOOKS.fullmatch(cell.source)
    ]


def probes(tasks: dict[str, Task], drawn: Drawn) -> list[Job]:
    """One probe for each task, with the calls of all its parts."""
    return [
        probe_job(tasks[name], cases, range(len(cases)) if cases is not None else (0,)) for name, cases in drawn.items()
    ]


def probe_job(task: Task, cases: list[Case] | None, calls: Iterable[int]) -> Job:
    """The probe that makes these calls of a task; for a task on a value, call 0 reads the value."""
    calls = tuple(calls)
    return Job(probe(task, cases, calls), task=task.id, calls=calls)


def _line(text: str) -> NotebookNode:
    return NotebookNode(output_type="stream", name="stdout", text=text + "\n")


def _error(name: str, text: Text, language: str) -> NotebookNode:
    sentence = pick(text, language)
    return NotebookNode(output_type="error", ename=name, evalue=sentence, traceback=[sentence])
