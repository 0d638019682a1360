"""Which items, exercises and experiments exist, and which of them a cell names. Read from the files without importing code."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from course.questions.bank import read_yaml
from grader import project as files
from grader.project import Project
from grader.project.source import Cell
from grader.project.task import tasks

VERBS = {
    "predict": "item",
    "explain": "item",
    "answer": "item",
    "review": "item",
    "observe": "experiment",
    "check": "exercise",
    "hint": "exercise",
    "solution": "exercise",
    "question": "checkpoint item",
    "case": "case",
}


def known_ids(project: Project) -> dict[str, set[str]]:
    """All existing ids: kind -> ids."""
    checkpoint = {identity for lesson in project.checkpoints() for identity in files.checkpoint_items(project, lesson)}
    return {
        "item": set(files.practice_items(project)) | checkpoint,
        "checkpoint item": checkpoint,
        "exercise": _exercises(project)
        | {name for lesson in project.own_checkpoints() for name in tasks(project, lesson)},
        "experiment": _experiments(project),
        "case": _cases(project),
    }


def used_ids(cell: Cell) -> Iterator[tuple[str, str, int]]:
    """Kind, id and line offset of each id a cell names through a verb, or as a task (whose smoke test must
    exist).
    """
    if cell.kind == "question":
        yield "checkpoint item", cell.id, 0
    if cell.kind == "task":
        yield "exercise", cell.id, 0
    if cell.kind not in ("code", "task"):
        return
    try:
        tree = ast.parse(cell.body)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in VERBS:
            named = node.args if node.func.id == "review" else node.args[:1]
            listed = [one for argument in named for one in getattr(argument, "elts", [argument])]
            for argument in listed:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield VERBS[node.func.id], argument.value, node.lineno


def _cases(project: Project) -> set[str]:
    """The cases of the games, with their short names."""
    ids = {one["id"] for path in project.learner_folder.glob("*/cases.yaml") for one in read_yaml(path)}
    return ids | {one.partition("-")[2] for one in ids}


def _exercises(project: Project) -> set[str]:
    return {name for path in project.root.glob("course/*/*/exercises.yaml") for name in read_yaml(path)}


def _experiments(project: Project) -> set[str]:
    return {name for path in project.learner_folder.glob("*/experiments.yaml") for name in read_yaml(path)}
