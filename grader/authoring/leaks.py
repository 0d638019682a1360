"""Check that nothing learners get contains a solution, a key, a hidden case or an import of the grader.

What is secret is listed once (``secrets``) and looked for in every text: notebooks, files of the course, what is in a bundle. A key among
the questions of a checkpoint is a fault of their schema, which the lint reports.
"""

from __future__ import annotations

import ast
import functools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from course.core.catalog import checkpoint_names
from course.questions.lint import Finding
from course.questions.variants import NUMBERS, alternatives
from grader import project as files
from grader.project import Project
from grader.project.source import read

IMPORT = re.compile(r"^\s*(from|import)\s+grader\b|import_module\(\s*['\"]grader\b", re.MULTILINE)
SHORT = 20  # shorter texts stand in innocent places too


@dataclass(frozen=True)
class Secret:
    """A text that nobody may get. rule, what: how it is reported. lesson: whose checkpoint's files it is looked for in, because elsewhere
    it can be innocent; "" for all files.
    """

    rule: str
    what: str
    text: str
    lesson: str = ""


def leaks(project: Project, made: dict[Path, str] | None = None) -> list[Finding]:
    """A finding for each leak in the notebooks (those on disk, or ``made``) and in the course package."""
    if made is None:
        made = {path: path.read_text(encoding="utf-8") for path in project.notebooks.rglob("*.ipynb")}
    texts = {path: notebook_text(text) for path, text in made.items()}
    for pattern in ("*.py", "*.yaml", "*.json"):
        texts |= {path: path.read_text(encoding="utf-8") for path in (project.root / "course").rglob(pattern)}
    return sorted(in_texts(project, texts))


def in_texts(project: Project, texts: dict[Path, str]) -> set[Finding]:
    """A finding for each secret, hidden function and import of the grader in ``texts``, of notebooks and files."""
    known = [(one, _squeezed(one.text)) for lesson in project.checkpoints() for one in secrets(project, lesson)]
    hidden, found = dict(_hidden_functions(project)), set()
    for path, text in texts.items():
        flat = _squeezed(text)
        held = {(one.rule, one.what) for one, bare in known if bare in flat and _looked_for(project, one, path)}
        if path.suffix == ".ipynb" and "BEGIN SOLUTION" in text:
            held.add(("leaked-mark", "a solution mark"))
        if path.suffix in (".py", ".ipynb") and IMPORT.search(text):
            held.add(("imports-grader", "an import of the grader, which no learner has"))
        for name, code in _functions(text) if path.suffix == ".py" else ():
            if code in hidden:
                held.add(("leaked-task", f"in {name} the hidden function {hidden[code]}"))
        found |= {Finding(rule, f"{path}: holds {what}") for rule, what in held}
    return found


def secrets(project: Project, lesson: str) -> Iterator[Secret]:
    """The solutions of a checkpoint, whole and line by line, the explanations in its keys and the formulas of its variants."""
    for cell in (cell for cell in read(project.checkpoint_source(lesson)) if cell.kind == "task"):
        what = f"the solution of task {cell.id!r}"
        inside = "\n".join(re.findall(r"### BEGIN SOLUTION\n(.*?)\n[^\n]*### END SOLUTION", cell.body, re.DOTALL))
        if len(_squeezed(inside)) >= SHORT:
            yield Secret("leaked-solution", what, inside)
        for line in map(str.strip, inside.split("\n")):
            if len(line) >= SHORT // 2 and line not in cell.body.replace(inside, ""):
                yield Secret("leaked-solution", f"the line `{line}` of {what}", line, lesson)
    keys = files.keys(project, lesson)
    for identity, key in keys.items():
        for sentence in _strings(key.get("why", "")):
            if len(sentence) >= SHORT // 2:
                yield Secret("leaked-explanation", f"the explanation of the checkpoint item {identity!r}", sentence)
    for one in (one for item in files.checkpoint_items(project, lesson).values() for one in alternatives(item)):
        key = keys.get(one["id"], {}) if "draw" in one else {}
        number = key.get("number", {})
        numbers = [part.get(name) for part in (number, *number.get("traps", ())) for name in NUMBERS]
        for formula in _strings([key.get("let"), key.get("correct"), numbers]):
            if re.search(r"[-+*/%(]", formula):
                what = f"the formula `{formula}` of the key of {one['id']!r}"
                yield Secret("leaked-formula", what, formula, lesson)


def _looked_for(project: Project, secret: Secret, path: Path) -> bool:
    if not secret.lesson:
        return True
    if path.suffix != ".ipynb":
        return path.parts[-2:] == project.checkpoint_items(secret.lesson).parts[-2:]
    new, old = checkpoint_names(secret.lesson)  # the old one is that of the lesson, too
    return path.stem == new or (path.stem == old and path.parent.name == "checkpoints")


def notebook_text(text: str) -> str:
    """All texts in a notebook: its cells, and its metadata, which are not shown."""
    content = json.loads(text)
    return "\n".join(
        ["".join(cell["source"]) for cell in content["cells"]] + list(_strings(content.get("metadata", {})))
    )


@functools.lru_cache(maxsize=4096)
def _squeezed(text: str) -> str:
    return "".join(text.split())


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value.strip()
    elif isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)


def _hidden_functions(project: Project) -> Iterator[tuple[str, str]]:
    """(body, name with its file) of each function of the hidden tests."""
    for path in filter(Path.exists, map(project.task_module, project.checkpoints())):
        for name, code in _functions(path.read_text(encoding="utf-8")):
            yield code, f"{name} of grader/lessons/{path.parent.name}/{path.name}"


@functools.cache
def _functions(text: str) -> tuple[tuple[str, str], ...]:
    """(name, body) of each function with more than one short statement. Cached."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            body = [
                part for part in node.body if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
            ]
            code = "\n".join(map(ast.unparse, body))
            if len(code) >= 2 * SHORT:
                found.append((node.name, code))
    return tuple(found)
