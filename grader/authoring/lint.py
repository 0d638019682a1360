"""Check the sources of notebooks: what would break a notebook, or is missing in one language. Each finding names file, line and rule."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from course.questions import glossary
from course.questions.lint import Finding
from grader import project as files
from grader.authoring.question_check import checkpoint_findings, known_ids
from grader.project import LANGUAGES, Project, ProjectError
from grader.project.source import Cell, read
from grader.project.task import tasks

Found = tuple[int, str, str]
"""Line, rule, sentence."""

NAMED = re.compile(r'\b(?:predict|explain|answer|review|observe|check|hint|solution|question|case)\(\[?"([\w.-]+)"')
"""A verb that names an id first."""
QUICK = 30  # seeds for which variants are looked at while notebooks are built; the tests look at more


def lint(project: Project, only: str | None = None, seeds: int = QUICK, run: bool = False) -> list[Finding]:
    """All findings in the sources, each starting with ``file:line:``. only: this lesson alone; seeds: how many variants of
    each question are checked; run: also run the verify snippets of its questions.
    """
    known = known_ids(project)
    sources = [(lesson, project.lesson_source(lesson), False) for lesson in project.lessons()]
    sources += [(name, project.practice_source("project", name), False) for name in project.projects()]
    sources += [(lesson, project.checkpoint_source(lesson), True) for lesson in project.checkpoints()]
    problems: list[Finding] = []
    for lesson, path, checkpoint in sources:
        if only in (None, lesson):
            problems += _lint_file(project, path, lesson, checkpoint, known)
            problems += checkpoint_findings(project, lesson, seeds, run) if checkpoint else []
    return problems


def _lint_file(project: Project, path: Path, lesson: str, checkpoint: bool, known: set[str]) -> list[Finding]:
    try:
        cells = read(path)
        own = checkpoint and project.own_folder(lesson) is not None
        found = [*(() if own else _twins(cells)), *_code(cells), *_ids(cells, known), *_terms(cells)]
        found += _checkpoint(project, lesson, cells) if checkpoint else ()
    except ProjectError as error:
        return [Finding("not-readable", str(error))]
    return [Finding(rule, f"{path}:{line}: {sentence}") for line, rule, sentence in sorted(found)]


def _twins(cells: list[Cell]) -> Iterator[Found]:
    after = [*cells[1:], None]
    for before, cell, following in zip([None, *cells], cells, after, strict=False):
        if cell.language == "en":
            if following is None or following.language != "zh":
                yield cell.line, "twin-missing", "this English text has no Chinese twin right after it"
        if cell.language == "zh" and (before is None or before.language != "en"):
            yield cell.line, "twin-missing", "this Chinese text has no English twin right before it"


def _terms(cells: list[Cell]) -> Iterator[Found]:
    for cell in (cell for cell in cells if cell.kind == "markdown"):
        for unknown in sorted({found["id"] for found in glossary.marks(cell.body)} - set(glossary.read())):
            said = f"[[{unknown}]] is not in course/lessons/glossary.yaml: add it there, or mend the mark"
            yield cell.line, "unknown-term", said


def _code(cells: list[Cell]) -> Iterator[Found]:
    first = next((cell for cell in cells if cell.language is None), None)
    if first is None or first.kind != "bootstrap":
        yield first.line if first else 1, "bootstrap-first", "the first code cell must be `# bootstrap`"
    for cell in cells:
        try:
            for language in LANGUAGES if cell.kind in ("code", "task") else ():
                ast.parse(cell.code(language))
        except SyntaxError as error:
            yield cell.line + (error.lineno or 0), "code-syntax", f"this code does not parse: {error.msg}"


def _ids(cells: list[Cell], known: set[str]) -> Iterator[Found]:
    """The ids that a cell names through a verb, as a question, or as a task (whose visible check must exist)."""
    for cell in cells:
        named = [(0, cell.id)] if cell.kind in ("question", "task") else []
        lines = enumerate(cell.body.splitlines(), 1) if cell.kind in ("code", "task") else ()
        named += [(offset, one) for offset, line in lines for one in NAMED.findall(line)]
        for offset, identity in named:
            if identity not in known:
                yield cell.line + offset, "unknown-id", f"there is no {identity!r}"


def _checkpoint(project: Project, lesson: str, cells: list[Cell]) -> Iterator[Found]:
    known = {"question": files.checkpoint_items(project, lesson), "task": tasks(project, lesson)}
    for cell in cells:
        if cell.kind == "task" and cell.id not in known["task"]:
            yield cell.line, "task-missing", f"task {cell.id!r} is not in {project.task_module(lesson)}"
        if cell.kind == "task" and not re.search(r"### BEGIN SOLUTION.*### END SOLUTION", cell.body, re.DOTALL):
            yield cell.line, "solution-marks", f"task {cell.id!r} has no ### BEGIN SOLUTION ... ### END SOLUTION"
        if cell.id is not None and sum((other.id, other.language) == (cell.id, cell.language) for other in cells) > 1:
            yield cell.line, "asked-twice", f"{cell.id!r} stands in this checkpoint twice"
    for kind, there in known.items():
        for missing in sorted(set(there) - {cell.id for cell in cells if cell.kind == kind}):
            yield 1, "never-asked", f"{kind} {missing!r} of the checkpoint is never asked"
