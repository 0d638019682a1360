"""Check that nothing learners get contains a solution, a key, a hidden case or an import of the grader."""

from __future__ import annotations

import ast
import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path

from course.core.catalog import checkpoint_names
from course.questions.lint import Finding
from course.questions.variants import NUMBERS, alternatives
from grader import project as files
from grader.project import Project
from grader.project.source import read

KEY_FIELDS = ("correct", "let", "why", "misconception", "order", "verify", "value", "low", "high", "traps", "factor")
IMPORT = re.compile(r"^\s*(from|import)\s+grader\b|import_module\(\s*['\"]grader\b", re.MULTILINE)
SHORT = 20  # shorter texts stand in innocent places too


def leaks(project: Project, made: dict[Path, str] | None = None) -> list[Finding]:
    """A finding for each leak in the notebooks (those on disk, or ``made``) and in the course package."""
    if made is None:
        made = {path: path.read_text(encoding="utf-8") for path in project.notebooks.rglob("*.ipynb")}
    texts = {path: notebook_text(text) for path, text in made.items()}
    for pattern in ("*.py", "*.yaml", "*.json"):
        texts |= {path: path.read_text(encoding="utf-8") for path in (project.root / "course").rglob(pattern)}
    return sorted({*in_texts(project, texts), *_item_fields(project)})


def in_texts(project: Project, texts: dict[Path, str]) -> set[Finding]:
    """A finding for each solution, explanation, hidden function or import of the grader in ``texts``, of notebooks and files."""
    found = {*_imports(texts), *_task_code(project, texts)}
    for lesson in project.checkpoints():
        found |= {*_solutions(project, lesson, texts), *_of_keys(project, lesson, texts)}
    return found


def notebook_text(text: str) -> str:
    """All texts in a notebook: its cells, and its metadata, which are not shown."""
    content = json.loads(text)
    return "\n".join(
        ["".join(cell["source"]) for cell in content["cells"]] + list(_strings(content.get("metadata", {})))
    )


@functools.lru_cache(maxsize=4096)
def _squeezed(text: str) -> str:
    return "".join(text.split())


def solutions(project: Project, lesson: str) -> Iterator[tuple[str, str, str]]:
    """(task id, the text between the solution marks, the rest of the cell) for each task of a checkpoint."""
    for cell in read(project.checkpoint_source(lesson)):
        if cell.kind == "task":
            inside = "\n".join(re.findall(r"### BEGIN SOLUTION\n(.*?)\n[^\n]*### END SOLUTION", cell.body, re.DOTALL))
            yield cell.id, inside, cell.body.replace(inside, "")


def _solutions(project: Project, lesson: str, texts: dict[Path, str]) -> Iterator[Finding]:
    known = [*solutions(project, lesson)]
    for path, text in texts.items():
        if "BEGIN SOLUTION" in text and path.suffix == ".ipynb":
            yield Finding("leaked-mark", f"{path}: a solution mark is left in this notebook")
        for identity, inside, starter in known:
            if len(_squeezed(inside)) >= SHORT and _squeezed(inside) in _squeezed(text):
                yield Finding("leaked-solution", f"{path}: holds the solution of task {identity!r}")
            for line in map(str.strip, inside.split("\n") if _is_checkpoint(path, lesson) else ()):
                if len(line) >= SHORT // 2 and line in text and line not in starter:
                    said = f"{path}: holds the line `{line}` of the solution of task {identity!r}"
                    yield Finding("leaked-solution", said)


def _is_checkpoint(path: Path, lesson: str) -> bool:
    new, old = checkpoint_names(lesson)
    return path.suffix == ".ipynb" and (path.stem == new or (path.stem == old and path.parent.name == "checkpoints"))


def _of_keys(project: Project, lesson: str, texts: dict[Path, str]) -> Iterator[Finding]:
    """A finding for each explanation of a key anywhere, and for each of its formulas that is also in the question's file or in a notebook
    of its checkpoint.
    """
    keys = files.keys(project, lesson)
    for identity, key in keys.items():
        for sentence in _strings(key.get("why", "")):
            for path in (path for path, text in texts.items() if len(sentence) >= SHORT // 2 and sentence in text):
                yield Finding(
                    "leaked-explanation", f"{path}: holds the explanation of the checkpoint item {identity!r}"
                )
    notebooks = [path for path in texts if path.suffix == ".ipynb" and path.stem in checkpoint_names(lesson)]
    for one in (one for item in files.checkpoint_items(project, lesson).values() for one in alternatives(item)):
        key = keys.get(one["id"], {}) if "draw" in one else {}
        number = key.get("number", {})
        numbers = [part.get(name) for part in (number, *number.get("traps", ())) for name in NUMBERS]
        for formula in _strings([key.get("let"), key.get("correct"), numbers]):
            for path in (project.checkpoint_items(lesson), *notebooks):
                if re.search(r"[-+*/%(]", formula) and formula in texts.get(path, ""):
                    yield Finding(
                        "leaked-formula", f"{path}: holds the formula `{formula}` of the key of {one['id']!r}"
                    )


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value.strip()
    elif isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)


def _imports(texts: dict[Path, str]) -> Iterator[Finding]:
    for path, text in texts.items():
        if path.suffix in (".py", ".ipynb") and IMPORT.search(text):
            yield Finding("imports-grader", f"{path}: imports the grader; what a learner gets must not know it")


def _item_fields(project: Project) -> Iterator[Finding]:
    for path in project.learner_folder.glob("l*/checkpoint.yaml"):
        for identity, item in files.checkpoint_items(project, path.parent.name.removeprefix("l")).items():
            for one in alternatives(item):
                for place in (one, one.get("number") or {}, *(one.get("options") or [])):
                    for field in set(KEY_FIELDS) & set(place):
                        yield Finding(
                            "leaked-key", f"{path}: item {identity!r} holds {field!r}; keys stand in grader/lessons"
                        )


def _task_code(project: Project, texts: dict[Path, str]) -> Iterator[Finding]:
    hidden = {}
    for path in map(project.task_module, project.checkpoints()):
        if path.exists():
            found = _functions(path.read_text(encoding="utf-8"))
            hidden |= {code: (f"{path.parent.name}/{path.name}", name) for name, code in found}
    for path, text in texts.items():
        for name, code in _functions(text) if path.suffix == ".py" else ():
            if code in hidden:
                task_file, task_function = hidden[code]
                yield Finding(
                    "leaked-task",
                    f"{path}: {name} is the hidden function {task_function} of grader/lessons/{task_file}",
                )


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
