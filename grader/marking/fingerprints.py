"""Short hashes of everything that decides a mark. They are stored in the graded notebook, so that it can be said why a
mark is different when the submission is marked again.

For a question: its key, its words and its points. For a task: the code of its hidden test. For all
cells together: the code that marks and the versions of the libraries.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.metadata
import json
import platform
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from course.questions.items import Item
from grader.answers import keyed_items
from grader.papers import has_papers
from grader.project import HERE, Infrastructure, Project, checkpoint_items, keys
from grader.task import Task, tasks

PROGRAM = (
    "course/questions/expressions.py",
    "course/learning/marking.py",
    "course/questions/variants.py",
    "course/learning/harvesting.py",
    "course/learning/notebook_file.py",
    "grader/marking/machine.py",
    "grader/marking/mark.py",
    "grader/marking/probe.py",
    "grader/marking/restored_cells.py",
    "grader/marking/running.py",
    "grader/marking/tasks.py",
    "grader/papers.py",
    "grader/reading.py",
    "grader/task.py",
)
LENGTH = 16  # hex digits
OF_VARIANTS = ("template", "seed", "values", "key")  # of an item: what it was drawn from, not what it says


def of_cell(subject: Item | Task, points: float) -> dict[str, Any]:
    """The hashes {"points", "key", "words"} of one graded cell. points: what the cell is worth in the released notebook."""
    if isinstance(subject, Task):
        return {"points": points, "key": of_task(subject), "words": ""}
    held = _items.get(id(subject))
    if held is None or held[0] is not subject:
        held = (subject, *_of_item(subject))
        if not subject.varies:  # read once a process, and marked thousands of times
            _items[id(subject)] = held
    return {"points": points, "key": held[1], "words": held[2]}


_items: dict[int, tuple[Item, str, str]] = {}


def _of_item(item: Item) -> tuple[str, str]:
    number = item.number
    key = {
        "kind": item.kind,
        "correct": sorted(item.correct),
        "order": item.order,
        "number": None if number is None else [number.value, number.low, number.high],
    }
    said = {name: value for name, value in asdict(item).items() if name not in OF_VARIANTS}
    return _hash(key), _hash({**said, "points": None})


def rests_on(project: Project, lesson: str) -> dict[str, Any]:
    """The hashes of everything that decides the marks of a checkpoint, without the submissions: keys, tests, points, code."""
    subjects = {**keyed_items(project, lesson), **tasks(project, lesson)}
    cells = {name: of_cell(subject, float(subject.points)) for name, subject in subjects.items()}
    if has_papers(project, lesson):
        cells["variants"] = _hash([checkpoint_items(project, lesson), keys(project, lesson)])
    return {**cells, "program": of_program()["code"]}


def of_questions(project: Project, lesson: str) -> str:
    """A hash of the keys, tests and points of a checkpoint; "" where a key is missing, which is said of each submission."""
    try:
        return _hash({name: one for name, one in rests_on(project, lesson).items() if name != "program"})
    except Infrastructure:
        return ""


def of_program() -> dict[str, str]:
    """{"code", "versions"}: a hash of the code that marks, and the versions of Python and the libraries in words."""
    return dict(_program())


@functools.cache
def _program() -> tuple[tuple[str, str], ...]:
    code = _hash([(HERE / name).read_text(encoding="utf-8") for name in PROGRAM])
    try:
        torch = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        torch = "none"
    return ("code", code), ("versions", f"Python {platform.python_version()}, torch {torch}")


def of_task(task: Task) -> str:
    """A hash of a task's hidden test: its inputs, reference, parts, and every helper in the file that they use."""
    path = Path((task.judge or task.cases).__globals__["__file__"])
    return _hash([_of_task(path, task.id, path.stat().st_mtime_ns), task.reference is not None and task.solution])


@functools.lru_cache(maxsize=256)
def _of_task(path: Path, identity: str, _as_of: int) -> str:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    made = next(
        (
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and any(
                word.arg == "id" and isinstance(word.value, ast.Constant) and word.value.value == identity
                for word in node.keywords
            )
        ),
        None,
    )
    if made is None:  # no plain definition was found: hash the whole file
        return _hash(ast.unparse(tree))
    defined = {name: node for node in tree.body for name in _names_defined(node)}
    used, waiting = [ast.unparse(made)], [made]
    while waiting:
        for node in ast.walk(waiting.pop()):
            if isinstance(node, ast.Name) and node.id in defined:
                source = defined.pop(node.id)
                waiting.append(source)
                used.append(_text(source, path))
    return _hash(sorted(set(used)))


def _names_defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names)
    else:
        yield from (
            inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
        )


def _text(node: ast.stmt, path: Path) -> str:
    """The code of one definition; of an import from the project also the imported file."""
    text = ast.unparse(node)
    if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("course", "grader"):
        for root in (path.parents[2], HERE):
            imported = root / f"{node.module.replace('.', '/')}.py"
            if imported.exists():
                return text + imported.read_text(encoding="utf-8")
    return text


def _hash(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:LENGTH]
