"""Run a submission and probe its tasks, so that a dead kernel or a cell without end costs that cell alone.

The student's cells run first, in order; graded cells are not run at all. Then each part of a task is probed
in a scratch notebook: what the probe prints, shows or updates never reaches the submission, so hidden inputs
cannot leak.
"""

from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output
from nbgrader.preprocessors import Execute
from traitlets import Integer, default

from course.i18n import Text, both, pick
from grader.marking.probe import probe, results, seed
from grader.marking.step import CourseStep, note
from grader.project import HERE, Infrastructure

PROBES = "course_probes"  # key in the resources: task id -> (cases, results)

DIED = both(
    "This cell ended the kernel. The cells before it were run again without it.",
    "这个单元格使内核终止。已跳过它，重新运行了前面的单元格。",
)
STUCK = both(
    "This cell did not stop when its time was up. The cells before it were run again without it.",
    "这个单元格超时后仍未停止。已跳过它，重新运行了前面的单元格。",
)
SKIPPED = both(
    "This cell was not run: the time or the kernels for this notebook were used up.",
    "没有运行这个单元格：这个笔记本的时间或内核次数已用完。",
)
CUT = both("... the rest of this output was cut ...", "……其余输出已截断……")


@dataclass
class Job:
    """One cell to run: where it stands, and which task it probes (None: a cell of the student)."""

    cell: NotebookNode
    index: int
    task: str | None = None


class CourseExecute(CourseStep, Execute):
    """nbgrader's Execute with a second life for the rest of the notebook."""

    max_kernels = Integer(4, help="kernels one submission may use up").tag(config=True)
    total_timeout = Integer(300, help="seconds for one notebook in all").tag(config=True)
    max_output = Integer(1_000_000, help="characters of output kept for one cell").tag(config=True)

    @default("shutdown_kernel")
    def _shutdown_default(self) -> str:
        return "immediate"

    @default("iopub_timeout")
    def _iopub_default(self) -> int:
        return 10

    def preprocess(self, nb: NotebookNode, resources: dict, km: None = None) -> tuple[NotebookNode, dict]:
        """Run every cell of the student, then every probe; results under ``resources["course_probes"]``.

        Raises Infrastructure if no kernel starts.
        """
        if not self.ours(resources):
            return super().preprocess(nb, resources, km)
        self._check_assign_resources(resources)
        tasks = self.tasks(resources)
        drawn = {name: self._draw(task, resources) for name, task in tasks.items()}
        probes = [
            Job(new_code_cell(probe(tasks[name], cases, part)), 0, name)
            for name, cases in drawn.items()
            for part in tasks[name].parts or (None,)
        ]
        self._run(nb, [*_own_cells(nb), *probes])
        resources[PROBES] = {
            name: (
                cases,
                results([output for job in probes if job.task == name for output in job.cell.outputs]),
            )
            for name, cases in drawn.items()
        }
        return nb, resources

    def _draw(self, task, resources: dict):
        if task.judge is not None:
            return None
        data = resources["nbgrader"]
        stamp = Path(resources["metadata"]["path"]) / "timestamp.txt"
        when = stamp.read_text(encoding="utf-8", errors="replace") if stamp.exists() else ""
        return task.draw(seed(self._secret(), data["assignment"], data["student"], when, task.id))

    def _secret(self) -> bytes:
        path = Path(self.course_root) / "marking_secret"
        if not path.exists():
            raise Infrastructure(f"{path} is missing; run `python -m grader init {self.course_root}` again")
        return path.read_bytes()

    def _run(self, nb: NotebookNode, jobs: list[Job]) -> None:
        language, until = self.language(nb), monotonic() + self.total_timeout
        done: list[Job] = []
        with workroom() as environment:
            for _ in range(self.max_kernels):
                if not jobs or monotonic() > until:
                    break
                with self._kernel(nb, environment):
                    self._live(nb, jobs, done, until, language)
        for job in jobs:
            job.cell.outputs = [_error("NotRun", SKIPPED, language)]

    @contextmanager
    def _kernel(self, nb: NotebookNode, environment: dict[str, str]) -> Iterator[None]:
        self.nb = nb
        self.reset_execution_trackers()
        self._seen: dict[int, int] = {}
        room = self.setup_kernel(env=environment)
        try:
            room.__enter__()
        except Exception as error:
            raise Infrastructure(f"no kernel started: {type(error).__name__}: {error}") from error
        try:
            yield
        finally:
            room.__exit__(None, None, None)

    def _live(self, nb: NotebookNode, jobs: list[Job], done: list[Job], until: float, language: str) -> None:
        """One kernel: bring it to where the last one was, then go on until the jobs or the kernel end."""
        replay = list(done)
        done.clear()
        for job in replay:
            if not self._survives(nb, Job(copy.deepcopy(job.cell), job.index), language, scratch=True):
                return
            done.append(job)
        while jobs and monotonic() < until:
            job = jobs.pop(0)
            if not self._survives(nb, job, language, scratch=job.task is not None):
                return
            if job.task is None:
                done.append(job)

    def _survives(self, nb: NotebookNode, job: Job, language: str, scratch: bool) -> bool:
        """Run one cell; False if the kernel cannot be used any more."""
        if scratch:
            self.nb = NotebookNode(nb, cells=[job.cell] * max(1, len(nb.cells)))
            self._display_id_map, shown = {}, self._display_id_map
        try:
            self._seen.pop(job.index, None)
            self.execute_cell(job.cell, job.index)
            return True
        except DeadKernelError:
            why = DIED
        except CellTimeoutError:
            why = STUCK
        except Exception as error:  # whatever a broken kernel sends
            why = both(f"{DIED['en']} ({type(error).__name__})", f"{DIED['zh']}（{type(error).__name__}）")
        finally:
            if scratch:
                self.nb, self._display_id_map = nb, shown
        if not scratch:
            job.cell.outputs.append(_error("KernelEnded", why, language))
            note(nb, both(f"Cell {job.index + 1}: {why['en']}", f"第 {job.index + 1} 个单元格：{why['zh']}"))
        return False

    def process_message(self, msg: dict, cell: NotebookNode, cell_index: int) -> NotebookNode | None:
        """As nbclient does, but what goes beyond ``max_output`` is dropped as it comes."""
        if msg["msg_type"] in ("stream", "display_data", "execute_result", "update_display_data"):
            before = self._seen.get(cell_index, 0)
            self._seen[cell_index] = before + len(str(msg["content"]))
            if before > self.max_output:
                return None
            if self._seen[cell_index] > self.max_output:
                cell.outputs.append(
                    new_output("stream", name="stdout", text=pick(CUT, self.language(self.nb)) + "\n")
                )
                return None
        return super().process_message(msg, cell, cell_index)


def _own_cells(nb: NotebookNode) -> list[Job]:
    """The student's code cells; graded cells are not run, they are marked from outside."""
    return [
        Job(cell, index)
        for index, cell in enumerate(nb.cells)
        if cell.cell_type == "code" and not cell.metadata.get("nbgrader", {}).get("grade")
    ]


def _error(name: str, text: Text, language: str) -> NotebookNode:
    sentence = pick(text, language)
    return new_output("error", ename=name, evalue=sentence, traceback=[sentence])


@contextmanager
def workroom() -> Iterator[dict[str, str]]:
    """The environment of a submission's kernel: the course can be imported, the grader is not on the path."""
    with tempfile.TemporaryDirectory(prefix="course-kernel-") as folder:
        (Path(folder) / "course").symlink_to(HERE / "course", target_is_directory=True)
        inherited = [
            part
            for part in os.environ.get("PYTHONPATH", "").split(os.pathsep)
            if part and Path(part).resolve() != HERE
        ]
        yield {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([folder, *inherited]),
            "COURSE_HOME": str(Path(folder) / "home"),
        }
