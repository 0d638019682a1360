"""Run a submission and probe its tasks, so that a dead kernel or a cell without end costs that cell alone.

The student's cells run first, in order; graded cells are not run at all. Then each task is probed, the calls of its
parts mixed; where a call ends the kernel or the time, the rest of its part is lost and the other parts go on. What a
probe prints, shows or updates never reaches the submission, so hidden inputs cannot leak.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from time import monotonic
from typing import Any

from nbformat import NotebookNode

from course.i18n import Text, both, pick
from grader.marking.outputs import sound
from grader.marking.probe import probe, results
from grader.marking.step import note, state
from grader.marking.verdicts import OF_KERNEL, WORDS
from grader.sandbox.kernel import Kernel, Ran
from grader.sandbox.limits import Limits
from grader.sandbox.warm import Warm
from grader.task import Case, Task

MOST_KERNELS = 4  # the cells of one submission may use up, and its probes as many again

ENDED = {
    "died": both(
        "This cell ended the kernel. The cells before it were run again without it.",
        "这个单元格使内核终止。已跳过它，重新运行了前面的单元格。",
    ),
    "memory": both(
        "This cell took more memory than there is and the kernel was ended. "
        "The cells before it were run again without it.",
        "这个单元格用的内存超出上限，内核被终止。已跳过它，重新运行了前面的单元格。",
    ),
    "stuck": both(
        "This cell did not stop when its time was up. The cells before it were run again without it.",
        "这个单元格超时后仍未停止。已跳过它，重新运行了前面的单元格。",
    ),
    "flood": both(
        "This cell printed without end and was stopped. The cells before it were run again without it.",
        "这个单元格不停地输出，已被停止。已跳过它，重新运行了前面的单元格。",
    ),
}
LATE = both("Its time was up, and it was interrupted.", "时间用完，已被中断。")
FEWER = both(
    "All processes it started took more memory together than there is, and were ended.",
    "它启动的所有进程合计占用的内存超出上限，已被终止。",
)
SKIPPED = both(
    "This cell was not run: the time or the kernels for this notebook were used up.",
    "没有运行这个单元格：这个 notebook 的时间或内核次数已用完。",
)
STATE_OF = {"killed": "unreached", "timeout": "late", "memory": "memory", "output": "output"}  # word -> of a call
SKIPPED_NOTE = both(
    "Some cells were not run: the time or the kernels for this notebook were used up.",
    "有些单元格没有运行：这个 notebook 的时间或内核次数已用完。",
)
CUT = both("... the rest of this output was cut ...", "……其余输出已截断……")

Drawn = dict[str, list[Case] | None]  # task id -> the calls, None for a value
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
    """One submission being run. ``go`` runs it; what the probes sent back comes from ``found``."""

    def __init__(self, nb: NotebookNode, tasks: dict[str, Task], drawn: Drawn, language: str, limits: Limits) -> None:
        self.nb, self.tasks, self.drawn, self.language, self.limits = nb, tasks, drawn, language, limits
        self._probed: dict[str, list] = {name: [] for name in drawn}
        self._waiting = [*own_cells(nb), *probes(tasks, drawn)]
        self._done: list[Job] = []
        self._shown: list[tuple[NotebookNode, Ran, list[NotebookNode]]] = []
        self._deaths = {"cells": 0, "probes": 0}
        self._unreached: dict[str, dict[int, dict[str, Any]]] = {name: {} for name in drawn}
        self._room = limits.notebook_chars
        self._left = float(limits.total_s)  # seconds of the submission's own
        self.disturbed = False  # it ran out of time while other work kept the machine from running it
        self.words: set[str] = set()  # of ``verdicts``: what happened while running

    def go(self, warm: Warm, files: dict[str, bytes]) -> None:
        """Use the kernels and the time there are. Raises Infrastructure if no kernel starts."""
        self._until = monotonic() + self.limits.longest_s
        while self._waiting and self._in_time():
            with warm.kernel(self.limits, files) as kernel:
                self._live(kernel)
            kind = "cells" if self._waiting and self._waiting[0].cell is not None else "probes"
            self._deaths[kind] += 1
            if self._deaths[kind] == MOST_KERNELS:
                self._drop([job for job in self._waiting if (job.cell is not None) == (kind == "cells")], "killed")
        self.disturbed |= bool(self._waiting) and self._left > 0
        self._drop(list(self._waiting), "timeout")
        state(self.nb)["happened"] = sorted({*state(self.nb).get("happened", ()), *self.words})

    def _in_time(self) -> bool:
        return self._left > 0 and monotonic() < self._until

    def _drop(self, jobs: list[Job], word: str) -> None:
        """Leave these unrun, and say so."""
        for job in jobs:
            self._waiting.remove(job)
            self.words.add(word)
            if job.cell is not None:
                job.cell.outputs = [_error("NotRun", SKIPPED, self.language)]
            else:
                self._miss(job, word)
        if jobs and jobs[0].cell is not None:
            note(self.nb, "skipped", SKIPPED_NOTE)

    def _stopped(self, job: Job, back: dict[int, dict[str, Any]], word: str) -> None:
        """A probe that did not get to its end: the part of the call that stopped it is lost, the others are tried again."""
        self._miss(job, word)
        cases = self.drawn[job.task]
        open_calls = [number for number in job.calls if back.get(number, {}).get("state") in (None, "late")]
        if cases is None or not open_calls:
            return
        rest = [number for number in open_calls if cases[number].part != cases[open_calls[0]].part]
        if rest:
            self._waiting.insert(0, probe_job(self.tasks[job.task], cases, rest))

    def _miss(self, job: Job, word: str) -> None:
        """Remember why calls of a probe have no result."""
        for number in job.calls:
            self._unreached[job.task][number] = {"state": STATE_OF[word]}

    def found(self) -> Found:
        """What the probes of each task sent back."""
        return {
            name: (cases, {**self._unreached[name], **results(self._probed[name])})
            for name, cases in self.drawn.items()
        }

    def _live(self, kernel: Kernel) -> None:
        """One kernel: bring it to where the last one was, then go on until the jobs or the kernel end."""
        replay, self._done, self._shown = self._done, [], []
        for job in replay:
            if self._ran(kernel, job).ended:
                return
            self._done.append(job)
        while self._waiting and self._in_time():
            job = self._waiting.pop(0)
            if job.task is not None:
                self._settle()
            ran = self._ran(kernel, job)
            if job.task is not None:
                self._probed[job.task] += ran.outputs
                word = OF_KERNEL.get(ran.ended) or (
                    "timeout" if ran.late else "output" if ran.cut else "memory" if ran.fewer else ""
                )
                if word:
                    self.words.add(word)
                    self._stopped(job, results(ran.outputs), word)
            else:
                self._show(job, ran)
            if ran.ended:
                break
            if job.task is None:
                self._done.append(job)
        self._settle()

    def _settle(self) -> None:
        """Later cells may have updated what earlier ones display; from here on a probe might, and must not."""
        for cell, ran, said in self._shown:
            cell.outputs = [*_sounds(ran), *said]
        self._shown = []

    def _ran(self, kernel: Kernel, job: Job) -> Ran:
        ran = kernel.run(job.source, max(1.0, self._left))
        self._left -= ran.seconds
        self.disturbed |= ran.disturbed
        return ran

    def _show(self, job: Job, ran: Ran) -> None:
        """Put what a cell of the student did into the notebook."""
        outputs, said = _sounds(ran), []
        job.cell.execution_count = ran.count
        self._room -= sum(map(len, map(str, outputs)))
        if self._room < 0:
            outputs, ran.outputs, ran.cut = [], [], True
        if ran.cut:
            self.words.add("output")
            said.append(_line(pick(CUT, self.language)))
        if ran.error is not None:
            self.words.add("memory" if _no_memory(ran) else "raised")
        if ran.late and not ran.ended:
            said.append(_error("TimeIsUp", LATE, self.language))
            self._note(job, "timeout", LATE)
        if ran.fewer:
            said.append(_error("OutOfMemory", FEWER, self.language))
            self._note(job, "memory", FEWER)
        if ran.ended:
            why = ENDED[ran.ended]
            said.append(_error("KernelEnded", why, self.language))
            self._note(job, OF_KERNEL[ran.ended], why)
        job.cell.outputs = [*outputs, *said]
        self._shown.append((job.cell, ran, said))

    def _note(self, job: Job, word: str, why: Text) -> None:
        """A sentence for the student and the summary: which cell, what it was in a word, and more."""
        self.words.add(word)
        number, said = job.index + 1, WORDS[word]
        note(
            self.nb,
            word,
            both(f"Cell {number}, {said['en']}: {why['en']}", f"第 {number} 个单元格，{said['zh']}：{why['zh']}"),
        )


def _sounds(ran: Ran) -> list[NotebookNode]:
    return [output for output in map(sound, ran.outputs) if output is not None]


def _no_memory(ran: Ran) -> bool:
    """Whether a cell failed for want of memory: Python says MemoryError, torch a RuntimeError of its own."""
    return ran.error == "MemoryError" or any(
        "can't allocate memory" in str(output.get("evalue")) for output in ran.outputs
    )


def own_cells(nb: NotebookNode) -> list[Job]:
    """The student's code cells; graded cells are not run, they are marked from outside."""
    return [
        Job(cell.source, cell, index)
        for index, cell in enumerate(nb.cells)
        if cell.cell_type == "code" and not cell.metadata.get("nbgrader", {}).get("grade")
    ]


def probes(tasks: dict[str, Task], drawn: Drawn) -> list[Job]:
    """The hidden tests: a probe for each task, in which the calls of all parts are mixed."""
    return [
        probe_job(tasks[name], cases, range(len(cases)) if cases is not None else (0,)) for name, cases in drawn.items()
    ]


def probe_job(task: Task, cases: list[Case] | None, calls: Iterable[int]) -> Job:
    """The probe that makes these calls of a task, numbered as drawn; of a value that is call 0."""
    calls = tuple(calls)
    return Job(probe(task, cases, calls), task=task.id, calls=calls)


def _line(text: str) -> NotebookNode:
    return NotebookNode(output_type="stream", name="stdout", text=text + "\n")


def _error(name: str, text: Text, language: str) -> NotebookNode:
    sentence = pick(text, language)
    return NotebookNode(output_type="error", ename=name, evalue=sentence, traceback=[sentence])
