"""Read a notebook source: MyST Markdown as jupytext reads and writes it, both languages in one file.

A text cell says its language in its metadata (``+++ {"lang": "en"}``, then its Chinese twin with ``"zh"``). Code stands once, its
comments are tagged ``# en:`` and ``# zh:``. Of a checkpoint: ``question("ID")`` alone in a code cell is a question, a code cell with
the option ``:task: ID`` a task, a text cell with ``"essay": "ID", "points": N`` beside its language a text that a person marks.
``# bootstrap`` alone in a code cell is where the course starts; the builder writes it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.project import LANGUAGES, ProjectError

TAGGED_COMMENT = re.compile(r"^(?P<indent>\s*)# (?P<language>en|zh): ?(?P<text>.*)$")
QUESTION = re.compile(r'question\("([^"]+)"\)')
BOOTSTRAP = "# bootstrap"


@dataclass(frozen=True)
class Cell:
    """One cell of a source. kind: markdown, code, bootstrap, question, task or essay. id: of a question, task or essay. points: of
    an essay, which a person marks. language: en or zh for markdown and essay, else None. line: the number of the line above its
    first one.
    """

    kind: str
    body: str
    line: int
    language: str | None = None
    id: str | None = None
    tags: tuple[str, ...] = ()
    points: float | None = None

    def code(self, language: str) -> str:
        """The code with the comments of one language, without their language tags."""
        lines = []
        for line in self.body.split("\n"):
            found = TAGGED_COMMENT.match(line)
            if found is None:
                lines.append(line)
            elif found["language"] == language:
                lines.append(f"{found['indent']}# {found['text']}".rstrip())
        return "\n".join(lines)


def read(path: Path) -> list[Cell]:
    """The cells of a source file. Raises ProjectError, naming file and line, where it cannot be read."""
    from jupytext.myst import MystMetadataParsingError, myst_to_notebook

    text, name = path.read_text(encoding="utf-8"), str(path)
    try:
        notebook = myst_to_notebook(text, add_source_map=True)
    except MystMetadataParsingError as error:
        raise ProjectError(f"{name}: {error}; write it as in the cells above, then read the file again") from error
    lines = text.split("\n")
    return [
        _cell(cell, lines, line, name)
        for cell, line in zip(notebook.cells, notebook.metadata["source_map"], strict=True)
    ]


def _cell(found: Mapping[str, Any], lines: list[str], line: int, name: str) -> Cell:
    said, body = found["metadata"], found["source"].strip("\n")
    body = "\n".join(one.rstrip() for one in body.split("\n"))
    if not body:
        raise ProjectError(f"{name}:{line}: this cell is empty; fill it or remove it")
    tags = tuple(said.get("tags", ()))
    if found["cell_type"] == "markdown":
        if said.get("lang") not in LANGUAGES:
            raise ProjectError(
                f'{name}:{line}: this text says no language; write `+++ {{"lang": "en"}}` (or zh) above it, '
                'or "lang": "en" into its cell metadata in JupyterLab'
            )
        if "essay" in said and not isinstance(said.get("points"), int | float):
            raise ProjectError(
                f'{name}:{line}: the text {said["essay"]!r} says no points; write "points": 4 beside its id'
            )
        kind = "essay" if "essay" in said else "markdown"
        return Cell(kind, body, line, said["lang"], said.get("essay"), tags, said.get("points"))
    first = body.split("\n")[0]
    line = next(number for number in range(line, len(lines)) if lines[number].rstrip() == first)  # below its options
    if asked := QUESTION.fullmatch(body):
        return Cell("question", "", line, None, asked[1], tags)
    if body == BOOTSTRAP:
        return Cell("bootstrap", "", line, None, None, tags)
    return Cell("task" if "task" in said else "code", body, line, None, said.get("task"), tags)
