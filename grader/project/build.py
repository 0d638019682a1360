"""Make notebooks from the cells of a source: with solutions for nbgrader, without for learners; and write the learners' ones. The same
source always gives the same notebook.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from nbformat import NotebookNode, writes
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import ClearSolutions, ComputeChecksums, LockCells

from course.core.version import __version__
from course.learning.notebook_file import STUB
from course.questions.lint import Finding
from grader import project as project_files
from grader.project import LANGUAGES, Project, ProjectError, name_of
from grader.project.source import Cell, read
from grader.project.task import tasks
from grader.project.texts import MARK, bootstrap, points_by_id, prose, worth

KERNELSPEC = {"display_name": "Python 3", "language": "python", "name": "python3"}
TEXT_STUB = {"en": "YOUR ANSWER HERE", "zh": "在这里写你的回答"}
COLAB = {"en": "Open in Colab", "zh": "在 Colab 打开"}
PICTURE = "https://colab.research.google.com/assets/colab-badge.svg"
SAVE = {
    "en": "Save the notebook, then run this cell: it says what is in the file that you hand in.",
    "zh": "先保存 notebook，再运行这个单元格：它会说明要交的文件里有什么。",
}
VERBS = {"project": "lesson", "tool": "language"}
"""Kind of a notebook -> the verb that starts it, where that is another word."""
BADGE = "badge"
"""The id of the cell below the title that opens the notebook in Colab."""


def answer_id(task_id: str) -> str:
    """The grade id of the cell in which a task is answered; the task's own id is that of its graded cell."""
    return f"{task_id}-answer"


def practice_notebook(project: Project, name: str, language: str, kind: str = "lesson") -> NotebookNode:
    """The learner's notebook of a lesson, a tool (for the learner's own code) or a project. Raises ProjectError on a bad source."""
    made = _Maker(project, name, language, kind, read(project.practice_source(kind, name))).notebook()
    if address := project.colab(f"notebooks/{language}/{kind}s/{name}.ipynb"):
        made.cells.insert(1, new_markdown_cell(f"[![{COLAB[language]}]({PICTURE})]({address})", id=BADGE))
    return _release(made, language, graded=False)


def checkpoint_notebook(project: Project, lesson: str, language: str) -> NotebookNode:
    """The learner's checkpoint: exactly what ``nbgrader generate_assignment`` makes."""
    made = assignment_notebook(project, lesson, language)
    return _release(made, made.metadata.course.language, graded=True)


def assignment_notebook(project: Project, lesson: str, language: str, salt: str = "") -> NotebookNode:
    """The instructor's version of a checkpoint with solutions: the source of the nbgrader assignment.

    salt: of a release in which students have different papers. A checkpoint in one language is built in that one.
    """
    cells = read(project.checkpoint_source(lesson))
    there = {cell.language for cell in cells if cell.language}
    language = there.pop() if len(there) == 1 else language
    points = points_by_id(project, lesson)
    said = [
        replace(cell, body=cell.body.replace(MARK, worth(cells, points, cell.language)))
        if cell.kind == "markdown"
        else cell
        for cell in cells
    ]
    made = _Maker(project, lesson, language, "checkpoint", said, points, salt).notebook()
    made.cells.append(new_code_cell(f"# {SAVE[language]}\ncheck_file()", id="check-file"))
    essays = [cell.id for cell in cells if cell.kind == "essay" and cell.language == language]
    made.metadata["course"] |= {
        "questions": list(project_files.checkpoint_items(project, lesson).values()),
        "tasks": {name: task.name for name, task in tasks(project, lesson).items()},
        "version": __version__,
        **({"essays": essays} if essays else {}),
        **({"paper": salt} if salt else {}),
    }
    return made


@dataclass(frozen=True)
class _Maker:
    """Makes one notebook in one language. points: of the graded cells of a checkpoint. salt: of its release."""

    project: Project
    lesson: str
    language: str
    kind: str
    source: list[Cell]
    points: Mapping[str, float] = field(default_factory=dict)
    salt: str = ""

    def notebook(self) -> NotebookNode:
        """The notebook with its solutions."""
        course = {"kind": self.kind, "language": self.language, "lesson": self.lesson}
        made = new_notebook(
            metadata={"course": course, "kernelspec": dict(KERNELSPEC), "language_info": {"name": "python"}}
        )
        english = ""
        for cell in self.source:
            if cell.language == "en":
                english = cell.body
            if cell.language in (None, self.language):
                made.cells += self._cells(cell, english if cell.language and english else cell.body)
        _unique_ids(made)
        return made

    def _cells(self, cell: Cell, stable: str) -> list[NotebookNode]:
        """The cells of one cell of the source. stable: the text that their ids are made from, the same in both languages."""
        tags = {"tags": list(cell.tags)} if cell.tags else {}
        if cell.kind == "markdown":
            return [new_markdown_cell(prose(cell.body, self.language), id=_id("text", stable), metadata=tags)]
        if cell.kind == "bootstrap":
            verb = VERBS.get(self.kind, self.kind)
            code = bootstrap(self.project, verb, self.lesson, self.language, self.salt)
            return [new_code_cell(code, id="bootstrap", metadata=tags)]
        if cell.kind == "code":
            return [new_code_cell(cell.code(self.language), id=_id("code", stable), metadata=tags)]
        if self.kind != "checkpoint":
            name = self.project.practice_source(self.kind, self.lesson).name
            raise ProjectError(f"{name}:{cell.line}: {cell.kind} cells belong in a checkpoint")
        graded = _metadata(cell.id, grade=True, locked=cell.kind != "essay", points=self._points(cell))
        if cell.kind == "question":
            return [new_code_cell(f'question("{cell.id}")', id=cell.id, metadata=graded)]
        if cell.kind == "essay":
            asked = new_markdown_cell(prose(cell.body, self.language), id=_id("asked", cell.id))
            graded["nbgrader"]["solution"] = True
            return [asked, new_markdown_cell(TEXT_STUB[self.language], id=cell.id, metadata=graded)]
        name = answer_id(cell.id)
        answer = new_code_cell(cell.code(self.language), id=name, metadata=_metadata(name, solution=True))
        return [answer, new_code_cell(f'check("{cell.id}")', id=cell.id, metadata=graded)]

    def _points(self, cell: Cell) -> float | int:
        """The points of a question, task or essay. Raises ProjectError for an unknown id."""
        if (found := self.points.get(cell.id)) is None:
            name = self.project.checkpoint_source(self.lesson).name
            raise ProjectError(
                f"{name}:{cell.line}: {cell.id!r} is no question with points in checkpoint.yaml and no task"
            )
        return int(found) if found == int(found) else found


def _metadata(
    identity: str, grade: bool = False, locked: bool = False, solution: bool = False, **points: float
) -> dict:
    """nbgrader's metadata of a cell."""
    same = {"schema_version": 3, "task": False}
    return {
        "nbgrader": {"grade": grade, "grade_id": identity, "locked": locked, "solution": solution, **points, **same}
    }


def _id(prefix: str, text: str) -> str:
    return f"{prefix}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _unique_ids(notebook: NotebookNode) -> None:
    seen: dict[str, int] = {}
    for cell in notebook.cells:
        seen[cell.id] = seen.get(cell.id, 0) + 1
        if seen[cell.id] > 1:
            cell.id = f"{cell.id}-{seen[cell.id]}"


def _release(notebook: NotebookNode, language: str, graded: bool) -> NotebookNode:
    """Remove the solutions with nbgrader's own preprocessors, in the order of generate_assignment."""
    clear = ClearTasks(code_stub={"python": STUB[language]}, text_stub=TEXT_STUB[language], enforce_metadata=graded)
    for step in (LockCells(), clear, ComputeChecksums()):
        notebook, _ = step.preprocess(notebook, {})
    return notebook


class ClearTasks(ClearSolutions):
    """nbgrader's ClearSolutions; where the answer is a value and not a function, the stub does not raise.

    Inside a function the stub raises when the function is called. At the top level it would stop "Run All" there;
    the name simply stays undefined, and the check says so.
    """

    def _replace_solution_region(self, cell: NotebookNode, language: str) -> bool:
        replaced = super()._replace_solution_region(cell, language)
        if replaced:
            lines = cell.source.split("\n")
            cell.source = "\n".join(line for line in lines if not line.startswith("raise NotImplementedError"))
        return replaced


def preprocessors() -> list[str]:
    """nbgrader's own steps of generate_assignment, with ClearTasks in the place of ClearSolutions."""
    steps = [ClearTasks if step is ClearSolutions else step for step in GenerateAssignment.preprocessors.default()]
    return [f"{step.__module__}.{step.__name__}" for step in steps]


# --- all notebooks of learners ---

BUILDERS = {"checkpoints": checkpoint_notebook} | {
    f"{kind}s": partial(practice_notebook, kind=kind) for kind in ("lesson", "tool", "project")
}
"""Folder of notebooks -> what builds one; a method of Project by the folder's name lists them."""


def text_of(notebook: NotebookNode) -> str:
    """The file content of a notebook; the same notebook always gives the same text."""
    return writes(notebook) + "\n"


def build_all(project: Project) -> tuple[dict[Path, str], list[Finding]]:
    """Every learner notebook as path -> text, and a finding for each that could not be built."""
    made, problems = {}, []
    for folder in BUILDERS:
        for lesson in getattr(project, folder)():
            name = name_of(lesson) if folder == "checkpoints" else lesson
            try:
                for language in LANGUAGES:
                    path = project.notebooks / language / folder / f"{name}.ipynb"
                    made[path] = text_of(BUILDERS[folder](project, lesson, language))
            except (ProjectError, RuntimeError) as error:
                problems.append(Finding("not-built", f"{folder}/{lesson}: {error}"))
    return made, problems


def write(made: dict[Path, str]) -> list[Path]:
    """Write the files that differ from those on disk; returns their paths."""
    changed = [path for path, text in made.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in changed:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made[path], encoding="utf-8")
    return changed


def leftovers(project: Project, made: dict[Path, str]) -> list[Path]:
    """The notebooks in the generated folders that have no source."""
    folders = [project.notebooks / language / folder for language in LANGUAGES for folder in BUILDERS]
    return sorted(path for folder in folders for path in folder.glob("*.ipynb") if path not in made)
