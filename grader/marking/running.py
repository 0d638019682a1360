"""Run a submission and probe its tasks, so that a dead kernel or a cell without end costs that cell alone.

The student's cells run first, in order; graded cells are not run at all. Then each part of a task is probed:
what the probe prints, shows or updates never reaches the submission, so hidden inputs cannot leak.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import output_from_msg

from course.i18n import Text, both, pick
from grader.marking.probe import probe, results
from grader.marking.step import note
from grader.sandbox.limits import Limits
from grader.sandbox.warm import Kernel, Ran, Warm
from grader.tasks.base import Case, Task

MOST_KERNELS = 4  # one submission may use up

ENDED = {
    "died": both("This cell ended the kernel. The cells before it were run again without it.",
                 "这个单元格使内核终止。已跳过它，重新运行了前面的单元格。"),
    "memory": both("This cell took more memory than there is and the kernel was ended. The cells before it were run "
                   "again without it.", "这个单元格用的内存超出上限，内核被终止。已跳过它，重新运行了前面的单元格。"),
    "stuck": both("This cell did not stop when its time was up. The cells before it were run again without it.",
                  "这个单元格超时后仍未停止。已跳过它，重新运行了前面的单元格。"),
    "flood": both("This cell printed without end and was stopped. The cells before it were run again without it.",
                  "这个单元格不停地输出，已被停止。已跳过它，重新运行了前面的单元格。"),
}
LATE = both("Its time was up, and it was interrupted.", "时间用完，已被中断。")
SKIPPED = both("This cell was not run: the time or the kernels for this notebook were used up.",
               "没有运行这个单元格：这个笔记本的时间或内核次数已用完。")
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


class Run:
    """One submission being run. ``go`` runs it; what the probes sent back comes from ``found``."""

    def __init__(self, nb: NotebookNode, tasks: dict[str, Task], drawn: Drawn, language: str, limits: Limits) -> None:
        self.nb, self.drawn, self.language, self.limits = nb, drawn, language, limits
        self._probed: dict[str, list] = {name: [] for name in drawn}
        self._waiting = [*_own_cells(nb), *_probes(tasks, drawn)]
        self._done: list[Job] = []

    def go(self, warm: Warm, files: dict[str, bytes]) -> None:
        """Use up to ``MOST_KERNELS`` kernels and the time there is. Raises Infrastructure if no kernel starts."""
        self._until = monotonic() + self.limits.total_s
        for _ in range(MOST_KERNELS):
            if not self._waiting or monotonic() > self._until:
                break
            with warm.kernel(self.limits, files) as kernel:
                self._live(kernel)
        for job in self._waiting:
            if job.cell is not None:
                job.cell.outputs = [_error("NotRun", SKIPPED, self.language)]

    def found(self) -> Found:
        """What the probes of each task sent back."""
        return {name: (cases, results(self._probed[name])) for name, cases in self.drawn.items()}

    def _live(self, kernel: Kernel) -> None:
        """One kernel: bring it to where the last one was, then go on until the jobs or the kernel end."""
        replay, self._done = self._done, []
        for job in replay:
            if self._ran(kernel, job).ended:
                return
            self._done.append(job)
        while self._waiting and monotonic() < self._until:
            job = self._waiting.pop(0)
            ran = self._ran(kernel, job)
            if job.task is not None:
                self._probed[job.task] += ran.outputs
            else:
                self._show(job, ran)
            if ran.ended:
                return
            if job.task is None:
                self._done.append(job)

    def _ran(self, kernel: Kernel, job: Job) -> Ran:
        return kernel.run(job.source, max(1.0, self._until - monotonic()))

    def _show(self, job: Job, ran: Ran) -> None:
        """Put what a cell of the student did into the notebook."""
        job.cell.outputs = [output for output in map(_sound, ran.outputs) if output is not None]
        job.cell.execution_count = ran.count
        if ran.cut:
            job.cell.outputs.append(_line(pick(CUT, self.language)))
        if ran.late and not ran.ended:
            job.cell.outputs.append(_error("TimeIsUp", LATE, self.language))
        if ran.ended:
            why = ENDED[ran.ended]
            job.cell.outputs.append(_error("KernelEnded", why, self.language))
            number = job.index + 1
            note(self.nb, both(f"Cell {number}: {why['en']}", f"第 {number} 个单元格：{why['zh']}"))


def _own_cells(nb: NotebookNode) -> list[Job]:
    """The student's code cells; graded cells are not run, they are marked from outside."""
    return [Job(cell.source, cell, index) for index, cell in enumerate(nb.cells)
            if cell.cell_type == "code" and not cell.metadata.get("nbgrader", {}).get("grade")]


def _probes(tasks: dict[str, Task], drawn: Drawn) -> list[Job]:
    return [Job(probe(tasks[name], cases, part), task=name)
            for name, cases in drawn.items() for part in tasks[name].parts or (None,)]


def _sound(output: dict[str, Any]) -> NotebookNode | None:
    """An output as nbformat wants it; None for what a submission forged so badly that it is none."""
    kind = output.get("output_type")
    try:
        made = output_from_msg({"header": {"msg_type": kind}, "content": {"metadata": {}, **output}})
    except (KeyError, ValueError, TypeError):
        return None
    texts = {"stream": [made.get("name"), made.get("text")],
             "error": [made.get("ename"), made.get("evalue"), *(made.get("traceback") or [])]}.get(kind)
    if texts is not None:
        return made if all(isinstance(text, str) for text in texts) else None
    good = isinstance(made.get("data"), dict) and isinstance(made.get("metadata"), dict)
    return made if good else None


def _line(text: str) -> NotebookNode:
    return output_from_msg({"header": {"msg_type": "stream"}, "content": {"name": "stdout", "text": text + "\n"}})


def _error(name: str, text: Text, language: str) -> NotebookNode:
    sentence = pick(text, language)
    content = {"ename": name, "evalue": sentence, "traceback": [sentence]}
    return output_from_msg({"header": {"msg_type": "error"}, "content": content})
