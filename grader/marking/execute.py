"""Replaces nbgrader's Execute: the submission runs in a fork of the warm process, in the sandbox."""

from __future__ import annotations

import hashlib
from pathlib import Path

from nbformat import NotebookNode
from nbgrader.preprocessors import Execute
from traitlets import Bool, Integer

from grader.ingest import beside
from grader.marking.probe import seed
from grader.marking.running import Drawn, Run
from grader.marking.step import CourseStep
from grader.project import Infrastructure
from grader.sandbox.launch import out_of_sight
from grader.sandbox.limits import Limits
from grader.sandbox.shared import shared
from grader.task import Task

DISTURBED = (
    "this machine was too busy with other work to run it, so it would have lost points it does not deserve to lose; "
    "mark it again when the machine is quiet"
)
PROBES = "course_probes"  # key in the resources: task id -> (cases, results)


class CourseExecute(CourseStep, Execute):
    """Runs a submission under stock nbgrader commands and formgrader's button as ``python -m grader autograde`` does."""

    sandbox = Bool(True, help="False runs student code with your own rights").tag(config=True)
    timeout = Integer(
        round(Limits.cell_s), allow_none=True, help="seconds of its own time for one cell; None: total_timeout"
    ).tag(config=True)
    total_timeout = Integer(Limits.total_s, help="seconds of its own time for one notebook").tag(config=True)
    max_output = Integer(Limits.output_chars, help="characters of output stored for one cell").tag(config=True)
    memory_mb = Integer(Limits.memory_mb, help="memory of one submission").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict, km: None = None) -> tuple[NotebookNode, dict]:
        """Run every cell of the student, then every probe. The results go to ``resources["course_probes"]``.

        Raises Infrastructure if no kernel starts.
        """
        if not self.ours(resources):
            return super().preprocess(nb, resources, km)
        if self.sandbox:
            out_of_sight(Path(self.course_root))
        folder, data, tasks = Path(resources["metadata"]["path"]), resources["nbgrader"], self.tasks(resources)
        stamp = folder / "timestamp.txt"
        when = stamp.read_text(encoding="utf-8", errors="replace") if stamp.exists() else ""
        files, key = beside(folder), secret(Path(self.course_root))
        drawn = draw(tasks, key, data["assignment"], data["student"], when, content(nb, files, data["assignment"]))
        run = Run(nb, tasks, drawn, self.language(nb), self.limits)
        run.go(shared(self.sandbox), files)
        if run.disturbed:  # stock nbgrader cannot mark this submission again at the end, as autograde does
            raise Infrastructure(DISTURBED)
        resources[PROBES] = run.found()
        return nb, resources

    @property
    def limits(self) -> Limits:
        """The limits of a submission, from the settings of this course."""
        return Limits(
            cell_s=self.timeout or self.total_timeout,
            total_s=self.total_timeout,
            output_chars=self.max_output,
            memory_mb=self.memory_mb,
        )


def secret(course: Path) -> bytes:
    """The secret of a course, with which hidden inputs and papers are drawn. Raises Infrastructure if the file is missing."""
    path = course / "marking_secret"
    if not path.exists():
        raise Infrastructure(f"{path} is missing; run `python -m grader init {course}` again")
    return path.read_bytes()


def content(nb: NotebookNode, files: dict[str, bytes], lesson: str) -> str:
    """A hash of all inputs of a run: the cells, and the files beside the notebook.

    The hidden inputs are drawn from it, so a changed submission gets other hidden inputs, even if the student keeps the time
    stamp: what one submission finds out about its inputs does not help the next.
    """
    whole = hashlib.sha256("\0".join(cell.source for cell in nb.cells).encode("utf-8", "replace"))
    for name in sorted({*files} - {f"{lesson}.ipynb", "timestamp.txt"}):
        whole.update(f"\0{name}\0".encode("utf-8", "surrogateescape") + hashlib.sha256(files[name]).digest())
    return whole.hexdigest()


def draw(tasks: dict[str, Task], key: bytes, lesson: str, student: str, when: str, content: str) -> Drawn:
    """Draw the hidden inputs: task id -> the calls of its function, None for a task on a value.

    The same submission gets the same inputs whenever it is marked.
    """
    return {
        name: None if task.judge is not None else task.draw(seed(key, lesson, student, when, content, name))
        for name, task in tasks.items()
    }
