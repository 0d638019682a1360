"""What the builder writes into the texts and cells of a notebook: marks in a text, the points of a checkpoint, the first code cell.

A term ``[[plan]]`` or ``[[plan|plans]]`` becomes its word with the meaning on hover: plain HTML that JupyterLab, VS Code and Colab all
show. ``{{worth}}`` becomes the sentence on the points of a checkpoint.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from course.questions import glossary
from grader.project import Project, checkpoint_items
from grader.project.source import Cell, read
from grader.project.task import tasks

Found = tuple[int, str, str]
"""Line, code of the rule (``course.questions.lint``), sentence."""


@lru_cache(maxsize=1)
def _terms() -> dict[str, glossary.Term]:
    return glossary.read()


def prose(text: str, language: str) -> str:
    """The text of a cell with its marks replaced, as it goes into the notebook. An unknown mark stays; ``faults`` reports it."""
    terms = _terms()

    def term(found: re.Match[str]) -> str:
        known = terms.get(found["id"])
        return glossary.hover(known, found["words"], language) if known else found[0]

    return glossary.replace_marks(text, term)


def faults(cells: list[Cell]) -> Iterator[Found]:
    """(line, rule, sentence) for each unknown term."""
    for cell in (cell for cell in cells if cell.kind == "markdown"):
        for unknown in sorted({found["id"] for found in glossary.marks(cell.body)} - set(_terms())):
            said = f"[[{unknown}]] is not in course/lessons/glossary.yaml: add it there, or mend the mark"
            yield cell.line, "unknown-term", said


# --- the points of a checkpoint ---

MARK = "{{worth}}"
KINDS = {"question": ("question", "道题"), "task": ("code task", "个编程任务"), "essay": ("text", "段短文")}


def points_by_id(project: Project, lesson: str) -> dict[str, float]:
    """Graded cell -> points, from the questions and tasks of the checkpoint."""
    found = {
        name: float(item["points"]) for name, item in checkpoint_items(project, lesson).items() if "points" in item
    }
    found |= {name: float(task.points) for name, task in tasks(project, lesson).items()}
    source = project.checkpoint_source(lesson)
    return found | {cell.id: cell.points for cell in (read(source) if source.exists() else ()) if cell.kind == "essay"}


def worth(cells: list[Cell], points: Mapping[str, float], language: str) -> str:
    """``**18 points**: 6 questions (6 points), 3 code tasks (12 points).`` Cells worth 0 are left out."""
    parts, total = [], 0.0
    for kind, (english, chinese) in KINDS.items():
        own = [cell for cell in cells if cell.kind == kind and cell.language in (None, language)]
        each = [points[cell.id] for cell in own if points.get(cell.id)]
        total += sum(each)
        if each and language == "en":
            parts.append(f"{len(each)} {english}{'s' * (len(each) > 1)} ({_points(sum(each))})")
        elif each:
            parts.append(f"{len(each)} {chinese}（{sum(each):g} 分）")
    if language == "zh":
        return f"**共 {total:g} 分**：{'，'.join(parts)}。"
    return f"**{_points(total)}**: {', '.join(parts)}."


def _points(value: float) -> str:
    return f"{value:g} point{'' if value == 1 else 's'}"


# --- the first code cell of every notebook; only lesson and language differ ---

MISSING = {"en": "`{missing.name}` is not installed in this kernel.", "zh": "当前内核里没有安装 `{missing.name}`。"}
FROM_REPOSITORY = {
    "en": ['Run `%pip install "torch-backends-course[course]@git+{url}"`,'],
    "zh": ['请运行 `%pip install "torch-backends-course[course]@git+{url}"`，'],
}
FROM_FOLDER = {
    "en": ["Choose the kernel `.venv`, or run", '`%pip install "FOLDER[course]"` (the course folder),'],
    "zh": ["请选择内核 `.venv`，或运行", '`%pip install "文件夹[course]"`（文件夹：课程路径），'],
}
THEN = {"en": "restart the kernel, run this cell again.", "zh": "重启内核，再运行这个单元格。"}

ABSENT = "except ModuleNotFoundError as missing:"


def how_to_install(project: Project, language: str) -> list[str]:
    """The lines that install the course with its extra for learners: from the repository named in pyproject.toml, else from the
    checkout.

    Never by name alone: the course is on no package index, so a stranger could publish code there under its name.
    """
    url = project.repository
    return [one.format(url=url) for one in FROM_REPOSITORY[language]] if url else FROM_FOLDER[language]


def bootstrap(project: Project, verb: str, lesson: str, language: str, salt: str = "") -> str:
    """The code of the cell: import torch (in a lesson) and the verbs and start the notebook, or say how to install the course.

    salt: of a release in which each student has another paper. It is written in the code, because a kernel cannot read its
    notebook in every front end.
    """
    paper = f', paper="{salt}"' if salt else ""
    said = ",\n          ".join(map(repr, [*how_to_install(project, language), THEN[language]]))
    return "\n".join(
        [
            "try:",
            *(["    import torch"] if verb == "lesson" else []),
            "    from course import *",
            f'    {verb}("{lesson}", language="{language}"{paper})',
            ABSENT,
            f'    print(f"{MISSING[language]}",',
            f"          {said})",
        ]
    )
