"""Where the parts of a checkout are (``Project``), how they are read (sources, checkpoint items, keys), and the notebooks built of them.

Everything takes a ``Project``, so that the same code works on another checkout (the tests build small ones).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course.core.catalog import checkpoint_names
from course.core.i18n import LANGUAGES as LANGUAGES
from course.core.i18n import Text
from course.questions import bank
from course.questions.items import BankError, Item, completed

HERE = Path(__file__).resolve().parents[2]
MOST_REMEDIES = 2  # experiments and questions named for one belief


class ProjectError(Exception):
    """A file of the project or of the course directory has a fault; the message names the file and the next step."""


class Infrastructure(Exception):
    """The grader itself failed, not the student: the submission gets no grade and is tried again."""


@dataclass(frozen=True)
class Project:
    """One checkout of the course. root: the folder with course/, grader/ and notebooks/. own: the folder with the instructor's
    own checkpoints (``checkpoints/`` of the course directory), each in a folder with all its files.
    """

    root: Path = HERE
    own: Path | None = None

    @property
    def notebooks(self) -> Path:
        return self.root / "notebooks"

    @property
    def repository(self) -> str:
        """The address of the repository, from pyproject.toml; empty where none is given."""
        path = self.root / "pyproject.toml"
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        found = re.search(r'^[Rr]epository = "([^"]+)"', text, re.MULTILINE)
        return found[1] if found else ""

    def colab(self, file: str) -> str:
        """The address at which Colab opens a notebook of the repository; empty where that is not on GitHub. file: its path there."""
        name = re.fullmatch(r"https://github\.com/([\w.-]+/[\w.-]+?)(?:\.git)?/?", self.repository)
        return f"https://colab.research.google.com/github/{name[1]}/blob/main/{file}" if name else ""

    @property
    def learner_folder(self) -> Path:
        """The folder with what learners get of each lesson, and with the misconceptions of all lessons."""
        return self.root / "course" / "lessons"

    @property
    def instructor_folder(self) -> Path:
        """The folder with what learners do not get: notebook sources with solutions, keys, hidden tests."""
        return self.root / "grader" / "lessons"

    def checkpoints(self) -> list[str]:
        """The lessons that have a checkpoint source, in order."""
        return sorted({*self._with(self.instructor_folder, "checkpoint.md"), *self.own_checkpoints()})

    def own_checkpoints(self) -> list[str]:
        """The instructor's own checkpoints, in order."""
        return self._with(self.own, "checkpoint.md") if self.own else []

    def own_folder(self, lesson: str) -> Path | None:
        """The folder of one of the instructor's own checkpoints; None for other checkpoints."""
        folder = self.own / f"l{lesson}" if self.own else None
        return folder if folder is not None and (folder / "checkpoint.md").exists() else None

    def _folder_of(self, lesson: str, otherwise: Path) -> Path:
        return self.own_folder(lesson) or otherwise / f"l{lesson}"

    def lessons(self) -> list[str]:
        """The lessons that have a notebook source, in order."""
        return self._with(self.instructor_folder, "lesson.md")

    def tools(self) -> list[str]:
        """The notebooks on the tools, which belong to no lesson."""
        return sorted(path.stem for path in (self.instructor_folder / "tools").glob("*.md"))

    def projects(self) -> list[str]:
        """The optional notebooks with exercises that belong to no lesson."""
        return sorted(path.stem for path in (self.instructor_folder / "projects").glob("*.md"))

    def _with(self, folder: Path, name: str) -> list[str]:
        return sorted(path.parent.name.removeprefix("l") for path in folder.glob(f"l*/{name}"))

    def checkpoint_source(self, lesson: str) -> Path:
        return self._folder_of(lesson, self.instructor_folder) / "checkpoint.md"

    def lesson_source(self, lesson: str) -> Path:
        return self.instructor_folder / f"l{lesson}" / "lesson.md"

    def practice_source(self, kind: str, name: str) -> Path:
        """The source of a notebook that is no checkpoint; kind: lesson, tool or project."""
        return self.lesson_source(name) if kind == "lesson" else self.instructor_folder / f"{kind}s" / f"{name}.md"

    def keys(self, lesson: str) -> Path:
        return self._folder_of(lesson, self.instructor_folder) / "keys.yaml"

    def task_module(self, lesson: str) -> Path:
        return self._folder_of(lesson, self.instructor_folder) / "tasks.py"

    def items(self, lesson: str) -> Path:
        """The practice questions of a lesson."""
        return self.learner_folder / f"l{lesson}" / "items.yaml"

    def checkpoint_items(self, lesson: str) -> Path:
        """The questions of a checkpoint, without their keys."""
        return self._folder_of(lesson, self.learner_folder) / "checkpoint.yaml"


def read_yaml(path: Path) -> Any:
    """The data of a YAML file; None where there is no such file. Raises ProjectError with file and line on bad YAML."""
    try:
        return bank.read_yaml(path) if path.exists() else None
    except BankError as error:
        raise ProjectError(str(error)) from error


def as_of(*paths: Path) -> tuple[int, ...]:
    """When these files were written last: what was read of them holds as long."""
    return tuple(path.stat().st_mtime_ns if path.exists() else 0 for path in paths)


def checkpoint_items(project: Project, lesson: str) -> dict[str, dict]:
    """The items of a checkpoint by id, with their lesson (no keys). Empty where there is no file."""
    path = project.checkpoint_items(lesson)
    rows = read_yaml(path) or []
    if not isinstance(rows, list) or not all(isinstance(row, dict) and "id" in row for row in rows):
        raise ProjectError(f"{path}: expected a list of items, each with an id")
    return {row["id"]: completed(row, lesson, checkpoint=True) for row in rows}


def beliefs(project: Project) -> dict[str, Text]:
    """The misconceptions that questions may name: id -> statement."""
    return bank.Bank(project.learner_folder).misconceptions()


def met_in(project: Project) -> dict[str, list[Item]]:
    """Belief -> the practice questions in which it is behind a wrong answer, in the order of the bank."""
    found: dict[str, list[Item]] = defaultdict(list)
    for item in bank.Bank(project.learner_folder).items():
        traps = item.number.traps if item.number else ()
        for one in dict.fromkeys(part.misconception for part in (*item.options, *traps) if part.misconception):
            found[one].append(item)
    return dict(found)


def remedies(project: Project, lesson: str) -> dict[str, list[str]]:
    """What helps against each false belief: belief -> calls of the course.

    At most ``MOST_REMEDIES`` experiments that show whether it is true, and as many practice questions with it as a wrong answer; those
    of the lesson itself come first.
    """
    found = {}
    for belief, items in met_in(project).items():
        items = sorted(items, key=lambda item: item.lesson != lesson)
        wrong = [(item, option) for item in items for option in item.options if option.misconception == belief]
        experiments = dict.fromkeys(option.experiment or item.experiment for item, option in wrong)
        observe = [f'observe("{one}")' for one in experiments if one]
        review = [f'review("{item.id}")' for item in items if item.kind != "predict"]
        found[belief] = [*observe[:MOST_REMEDIES], *review[:MOST_REMEDIES]]
    return found


def keys(project: Project, lesson: str) -> dict[str, dict]:
    """The keys of a checkpoint by item id. Empty where there is no file."""
    path = project.keys(lesson)
    data = read_yaml(path) or {}
    if not isinstance(data, dict):
        raise ProjectError(f"{path}: expected a mapping from item id to key")
    return data


def name_of(lesson: str) -> str:
    """What the notebook of a checkpoint is called in a course directory, without .ipynb."""
    return checkpoint_names(lesson)[0]


def notebook_in(course: Path, folder: str, lesson: str) -> Path:
    """The notebook of the checkpoint in ``release/`` or ``source/`` of a course directory, whether it exists or not."""
    return course / folder / lesson / f"{name_of(lesson)}.ipynb"


def filled(text: Mapping[str, str], values: Mapping[str, Any]) -> Text:
    """A sentence in both languages with its values; a value may have two languages itself."""
    own = {
        code: {name: one[code] if isinstance(one, Mapping) else one for name, one in values.items()}
        for code in LANGUAGES
    }
    return {code: text[code].format(**own[code]) for code in LANGUAGES}
