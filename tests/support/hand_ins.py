"""Honest work as it really arrives: the programs that save a notebook, the ways to pack it.

Each tool turns the JSON of an answered checkpoint into the bytes of a file, each packing turns that file into the files of a hand-in.
"""

from __future__ import annotations

import copy
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from course.learning.harvesting import MIME
from tests.support.grading_fixtures import LESSON, NOTEBOOK

NAME, ANSWERS = f"{NOTEBOOK}.ipynb", f"{LESSON}.answers.json"
Json = dict[str, Any]


@dataclass(frozen=True)
class Work:
    """What a student has: the notebook as JupyterLab saves it, the answers file, the checkpoint as it was handed out, the lesson."""

    notebook: Json
    answers: bytes
    untouched: bytes
    lesson: bytes

    @property
    def cleared(self) -> Json:
        """The notebook without its outputs; the answers are in the file beside it alone."""
        made = copy.deepcopy(self.notebook)
        for cell in made["cells"]:
            if cell["cell_type"] == "code":
                cell["outputs"] = []
        return made


def saved(change: Callable[[Json], Any] = lambda data: None, write: Callable[[Json], bytes] | None = None):
    """A tool: what it changes in the notebook, and how it writes the file."""

    def tool(notebook: Json) -> bytes:
        data = copy.deepcopy(notebook)
        change(data)
        return write(data) if write else json.dumps(data, indent=1, ensure_ascii=False).encode()

    return tool


def code(data: Json) -> list[Json]:
    return [cell for cell in data["cells"] if cell["cell_type"] == "code"]


def pycharm(data: Json) -> None:
    for cell in code(data):
        del cell["execution_count"]
        for output in cell["outputs"]:
            output["jetTransient"] = {"display_id": None}


def colab(data: Json) -> None:
    data["metadata"]["colab"] = {"provenance": []}
    data["colab"] = {"name": "x"}
    for cell in data["cells"]:
        cell["metadata"]["id"] = "AbC_123"
    error = {"output_type": "error", "ename": "E", "evalue": "x", "traceback": [], "errorDetails": {"actions": []}}
    code(data)[-1]["outputs"].append(error)


def vscode(data: Json) -> None:
    for number, cell in enumerate(data["cells"]):
        cell["id"] = f"#VSC-{number}"
        cell.update(outputs=cell.get("outputs", []), execution_count=None)
        for output in cell["outputs"]:
            output["transient"] = {"display_id": "x"}


def odd_outputs(data: Json) -> None:
    code(data)[-1]["outputs"] += [None, 7, {}, {"output_type": "cat"}, {"output_type": "stream", "text": [1]}]
    code(data)[-2]["outputs"] = None if not code(data)[-2]["outputs"] else code(data)[-2]["outputs"]


def odd_metadata(data: Json) -> None:
    data["metadata"].update(kernelspec={"display_name": "x"}, language_info={"version": "3.11"}, widgets=7, title=None)
    for cell in data["cells"]:
        cell["metadata"].update(tags=["a", "a", 7], collapsed="yes", scrolled=3, jupyter=[], name=4)


def ids_of_all_kinds(data: Json) -> None:
    for number, cell in enumerate(data["cells"]):
        cell["id"] = (None, "x" * 80, "a b", "", 7, "twice")[number % 6]


def without(*names: str, of_cells: tuple[str, ...] = ()):
    def change(data: Json) -> None:
        for name in names:
            data.pop(name, None)
        for cell in data["cells"]:
            for name in of_cells:
                cell.pop(name, None)

    return change


def encoded(code: str, before: str = "", after: str = ""):
    return lambda data: (before + json.dumps(data, ensure_ascii=False) + after).encode(code)


TOOLS = {
    "jupyterlab": saved(),
    "pycharm": saved(pycharm),
    "colab": saved(colab),
    "vscode": saved(vscode),
    "odd-outputs": saved(odd_outputs),
    "odd-metadata": saved(odd_metadata),
    "odd-ids": saved(ids_of_all_kinds),
    "no-ids": saved(without(of_cells=("id",))),
    "ids-in-4.4": saved(lambda data: data.update(nbformat_minor=4)),
    "minor-of-the-future": saved(lambda data: data.update(nbformat_minor=99)),
    "no-format": saved(without("nbformat", "nbformat_minor")),
    "no-notebook-metadata": saved(without("metadata")),
    "no-cell-metadata": saved(without(of_cells=("metadata",))),
    "unknown-keys": saved(lambda data: data.update({"$schema": "x", "extra": [1, {"a": None}], "worksheets": []})),
    "one-line": saved(write=encoded("utf-8")),
    "byte-order-mark": saved(write=encoded("utf-8-sig")),
    "utf-16": saved(write=encoded("utf-16")),
    "windows-lines": saved(write=lambda data: json.dumps(data, indent=1).replace("\n", "\r\n").encode()),
    "zeros-after-the-end": saved(write=encoded("utf-8", after="\n\0\0\0\0")),
}


def zipped(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return made.getvalue()


PACKINGS: dict[str, dict[str, Any]] = {  # path -> which part of the work lies there, bytes, or what is in a ZIP
    "alone": {NAME: "work"},
    "with-answers": {NAME: "work", ANSWERS: "answers"},
    "answers-renamed": {NAME: "cleared", f"{ANSWERS}.txt": "answers"},
    "old-name": {f"{LESSON}.ipynb": "work"},
    "old-and-new": {NAME: "untouched", f"{LESSON}.ipynb": "work"},
    "with-its-lesson": {NAME: "work", f"{LESSON}.ipynb": "lesson"},
    "browser-names": {f"{NOTEBOOK} (2).ipynb": "cleared", f"{LESSON}.answers (1).json": "answers"},
    "copy-and-untouched": {f"{NOTEBOOK}-Copy1.ipynb": "work", NAME: "untouched"},
    "untouched-copy": {NAME: "work", f"Copy of {NAME}": "untouched"},
    "cleared-copy": {NAME: "work", "final.ipynb": "cleared"},
    "upper": {f"{NOTEBOOK}.IPYNB": "work"},
    "json": {f"{NAME}.json": "work"},
    "zip-in-zip": {"outer.zip": {"x/inner.zip": {NAME: "work"}, "x/notes.txt": b"x"}},
    "whole-course": {
        "course.zip": {
            f"c/checkpoints/{NAME}": "untouched",
            f"c/lessons/{LESSON}.ipynb": "lesson",
            f"c/my work/{NAME}": "work",
            f"c/my work/.ipynb_checkpoints/{NOTEBOOK}-checkpoint.ipynb": "untouched",
        }
    },
    "saved-copy-alone": {"h.zip": {f".ipynb_checkpoints/{NOTEBOOK}-checkpoint.ipynb": "work"}},
    "with-junk": {
        NAME: "work",
        f"._{NAME}": b"\0\5\26\7",
        "work.pdf": b"%PDF-1.7",
        "a.html": b"<html></html>",
        "b.ipynb": b"",
    },
}


def packed(packing: str, work: Work, tool: Callable[[Json], bytes]) -> dict[str, bytes]:
    """The files of a hand-in: the work as a tool saved it, packed in one of the ways."""
    parts = {"work": tool(work.notebook), "cleared": tool(work.cleared), "answers": work.answers}
    parts |= {"untouched": work.untouched, "lesson": work.lesson}

    def made(what: Any) -> bytes:
        if isinstance(what, dict):
            return zipped({name: made(one) for name, one in what.items()})
        return what if isinstance(what, bytes) else parts[what]

    return {name: made(what) for name, what in PACKINGS[packing].items()}


def sheet_in(notebook: Json, sheet: Json) -> None:
    """Put an answer sheet into the first code cell, as the course does at every click."""
    code(notebook)[0]["outputs"] = [{"output_type": "display_data", "data": {MIME: sheet}, "metadata": {}}]
