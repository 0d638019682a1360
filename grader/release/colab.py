"""Single files for Google Colab: a notebook that carries the wheel of the course and installs it."""

from __future__ import annotations

import base64
import io
import lzma
import textwrap
import zipfile
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from course.core.i18n import pick
from grader.project import read_yaml
from grader.project.texts import ABSENT

TEXTS = read_yaml(Path(__file__).with_name("texts.yaml"))  # also those of the bundle
HIDDEN = {"cellView": "form", "jupyter": {"source_hidden": True}}
LINE = 4000  # characters of data in a line: an editor draws neither one line of a million nor ten thousand lines well


def single(notebook: NotebookNode, name: str, packed: str, language: str) -> NotebookNode:
    """The notebook with an installing cell before its first code and a downloading one at its end. packed: of ``pack``."""
    made = NotebookNode({**notebook, "cells": [_first_cell_named(cell, language) for cell in notebook.cells]})
    place = next((n for n, cell in enumerate(made.cells) if cell.cell_type == "code"), 0)
    made.cells[place:place] = [
        new_markdown_cell(pick(TEXTS["carries"], language), id="carries"),
        _install(name, packed, language),
    ]
    made.cells.append(
        new_code_cell(
            TEXTS["download"].format(title=pick(TEXTS["take_home"], language)),
            id="take-home",
            metadata={"cellView": "form"},
        )
    )
    return made


def _install(name: str, packed: str, language: str) -> NotebookNode:
    """The installing cell."""
    source = TEXTS["install"].format(
        title=pick(TEXTS["form"], language),
        name=name,
        data="\n".join(textwrap.wrap(packed, LINE)),
        ready=pick(TEXTS["installed"], language),
        failed=pick(TEXTS["not_installed"], language),
    )
    return new_code_cell(source, id="install", metadata=HIDDEN)


def _first_cell_named(cell: NotebookNode, language: str) -> NotebookNode:
    """The cell; where it starts the notebook, with the installing cell as the next step for a course that is missing."""
    start, absent, _ = cell.source.partition(ABSENT)
    return (
        NotebookNode({**cell, "source": f'{start}{ABSENT}\n    print("{pick(TEXTS["not_there"], language)}")'})
        if absent
        else cell
    )


def pack(wheel: bytes) -> str:
    """A wheel as text: its files uncompressed in the same wheel, packed as a whole, which takes much less room."""
    flat = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(wheel)) as old, zipfile.ZipFile(flat, "w", zipfile.ZIP_STORED) as new:
        for entry in old.infolist():
            new.writestr(zipfile.ZipInfo(entry.filename), old.read(entry))
    return base64.b64encode(lzma.compress(flat.getvalue(), preset=9 | lzma.PRESET_EXTREME)).decode()


def unpack(source: str) -> bytes | None:
    """The wheel that an installing cell carries, or None."""
    if 'WHEEL = """' not in source:
        return None
    return lzma.decompress(base64.b64decode(source.split('WHEEL = """')[1].split('"""')[0]))
