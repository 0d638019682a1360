"""Read a notebook source: percent cells, prose in both languages, checkpoint cells.

The markers are ``# %%``, ``# %% [markdown] en``, ``# %% [markdown] zh``, ``# %% bootstrap``,
``# %% question ID``, ``# %% task ID`` and ``# %% essay ID points=N``, each optionally followed by ``tags=a,b``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from grader.project import LANGUAGES, ProjectError

MARKER = re.compile(r"^# %%(?P<rest>.*)$")
TAGGED_COMMENT = re.compile(r"^(?P<indent>\s*)# (?P<language>en|zh): ?(?P<text>.*)$")


@dataclass(frozen=True)
class Cell:
    """One cell of a source. kind: markdown, code, bootstrap, question, task or essay. id: of a question, task or essay. points: of
    an essay, which a person marks. language: en or zh for markdown, else None. line: the number of the line with its marker.
    """

    kind: str
    body: str
    line: int
    language: str | None = None
    id: str | None = None
    tags: tuple[str, ...] = ()
    points: float | None = None

    def prose(self, language: str) -> str:
        """The text of an essay's comments in one language."""
        return "\n".join(line.removeprefix("#").removeprefix(" ") for line in self.code(language).split("\n"))

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
    return parse(path.read_text(encoding="utf-8"), str(path))


def parse(text: str, name: str = "source") -> list[Cell]:
    """The cells of a source text. name: for messages. Raises ProjectError."""
    cells: list[Cell] = []
    head: dict | None = None
    body: list[str] = []
    for number, line in enumerate([*text.split("\n"), "# %%"], start=1):
        marker = MARKER.match(line)
        if marker is None:
            if head is None and line.strip() and not line.startswith("#"):
                raise ProjectError(f"{name}:{number}: code before the first `# %%` marker")
            body.append(line)
            continue
        if head is not None:
            cells.append(_cell(head, body, name))
        head, body = _head(marker["rest"], number, name), []
    return cells


def _head(rest: str, line: int, name: str) -> dict:
    words = rest.split()
    head = {"kind": "code", "line": line}
    if words and words[-1].startswith("tags="):
        head["tags"] = tuple(words.pop().removeprefix("tags=").split(","))
    match words:
        case []:
            pass
        case ["[markdown]", language] if language in LANGUAGES:
            head |= {"kind": "markdown", "language": language}
        case ["bootstrap"]:
            head["kind"] = "bootstrap"
        case ["essay", identity, worth] if re.fullmatch(r"points=\d+(\.\d+)?", worth):
            head |= {"kind": "essay", "id": identity, "points": float(worth.removeprefix("points="))}
        case ["question" | "task" as kind, identity]:
            head |= {"kind": kind, "id": identity}
        case _:
            raise ProjectError(
                f"{name}:{line}: unknown marker `# %%{rest}`; use `# %%`, `# %% [markdown] en` or zh, "
                "`# %% bootstrap`, `# %% question ID`, `# %% task ID` or `# %% essay ID points=N`"
            )
    return head


def _cell(head: dict, body: list[str], name: str) -> Cell:
    if head["kind"] == "markdown":
        body = [_uncomment(line, head["line"] + offset, name) for offset, line in enumerate(body, start=1)]
    text = "\n".join(line.rstrip() for line in body).strip("\n")
    if head["kind"] in ("bootstrap", "question") and text:
        raise ProjectError(f"{name}:{head['line']}: a {head['kind']} cell stays empty; the builder writes it")
    if head["kind"] in ("markdown", "code", "task", "essay") and not text:
        raise ProjectError(f"{name}:{head['line']}: this cell is empty; fill it or remove its marker")
    return Cell(body=text, **head)


def _uncomment(line: str, number: int, name: str) -> str:
    if not line.strip():
        return ""
    if not line.startswith("#"):
        raise ProjectError(f"{name}:{number}: a line of a text cell must start with `# `")
    return line[2:] if line.startswith("# ") else line[1:]
