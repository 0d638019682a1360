"""Files and cells as accidents, tools and tamperers leave them."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from tests.support.grading_corpus.base import ANSWERS, RIGHT, SOLVED, Hostile, cell_of, dumped, sheet
from tests.support.grading_fixtures import LESSON, NOTEBOOK

ANSWERED = {ANSWERS: dumped(sheet(*RIGHT))}
FILE = f"{NOTEBOOK}.ipynb"


def as_json(change):
    """A change of the notebook's raw JSON, which nbformat would not allow."""

    def made(text: str) -> str:
        data = json.loads(text)
        change(data)
        return json.dumps(data)

    return made


def twice(notebook: NotebookNode) -> None:
    """Every cell pasted once more, with ids of their own: the accident that ends a batch elsewhere."""
    for place, cell in enumerate(list(notebook.cells)):
        extra = copy.deepcopy(cell)
        extra.id = f"copy-{place}"
        notebook.cells.append(extra)


def no_metadata(notebook: NotebookNode) -> None:
    """What some front ends leave."""
    for cell in notebook.cells:
        cell.metadata = NotebookNode()


def points_raised(notebook: NotebookNode) -> None:
    for cell in notebook.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader.update(points=1000, locked=False)


def swapped(notebook: NotebookNode) -> None:
    """The grade ids of two cells exchanged, and a third one invented."""
    one, other = cell_of(notebook, "90-c-single"), cell_of(notebook, "90-t-report")
    one.metadata.nbgrader.grade_id, other.metadata.nbgrader.grade_id = "90-t-report", "90-c-single"
    notebook.cells.append(bonus := copy.deepcopy(one))
    bonus.update(id="mine", source="13.0")
    bonus.metadata.nbgrader.update(grade_id="90-c-bonus", points=50, locked=False)


def locked_edited(notebook: NotebookNode) -> None:
    for identity in ("90-c-single", "90-t-contrast", "90-t-report"):
        cell_of(notebook, identity).source = "3.0"


def answer_moved(notebook: NotebookNode) -> None:
    notebook.cells.remove(cell_of(notebook, "90-t-contrast-answer"))
    notebook.cells.insert(0, new_code_cell(SOLVED, id="elsewhere"))


def linked_folder(folder: Path) -> None:
    """The whole folder is a link to somebody else's submission."""
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    folder.symlink_to(folder.parents[1] / "top-student" / LESSON, target_is_directory=True)


def linked_notebook(folder: Path) -> None:
    (folder / FILE).unlink()
    (folder / FILE).symlink_to(folder.parents[1] / "top-student" / LESSON / FILE)


def linked_everything(folder: Path) -> None:
    """Links to what a collector could read, to the answers of the best, and a loop; none of it may reach the sandbox."""
    root = folder.parents[2]
    (folder / ANSWERS).symlink_to(root / "submitted" / "top-student" / LESSON / ANSWERS)
    for name, target in (("gradebook.db", root / "gradebook.db"), ("key", root / "marking_secret"), ("loop", folder)):
        (folder / name).symlink_to(target)
    for name, target in (("passwd", "/etc/passwd"), ("up", root), ("hosts.txt", "/etc/hosts")):
        (folder / name).symlink_to(target)


def strange_names(folder: Path) -> None:
    for name in ("two\nlines.txt", "-rf", "..data", "$(touch x)", "\u202egnp.exe", "é" * 100, "~"):
        (folder / name).write_text("harmless")
    (folder / os.fsdecode(b"\xff\xfe")).write_text("no UTF-8")


def fifo_notebook(folder: Path) -> None:
    (folder / FILE).unlink()
    os.mkfifo(folder / FILE)


def huge_file(folder: Path) -> None:
    """A sparse gigabyte, first in the alphabet."""
    with (folder / "00_data.bin").open("wb") as file:
        file.truncate(1 << 30)


def many_files(folder: Path) -> None:
    for number in range(3000):
        (folder / f"0{number}").touch()


def deep_folders(folder: Path) -> None:
    path = folder
    for _ in range(300):
        path = path / "deeper"
        path.mkdir()


def stamp(text: str | bytes):
    """A time stamp that is none."""

    def place(folder: Path) -> None:
        (folder / "timestamp.txt").write_bytes(text if isinstance(text, bytes) else text.encode())

    return place


def folder_stamp(folder: Path) -> None:
    (folder / "timestamp.txt").unlink()
    (folder / "timestamp.txt").mkdir()


def long_names(folder: Path) -> None:
    """Names that take more room in the sandbox's mail than the files they stand for."""
    for number in range(990):
        (folder / f"{'é' * 100}{number}").touch()
    (folder / "0").write_bytes(bytes(19 << 20))


def deep_metadata(notebook: NotebookNode) -> None:
    deep: list = []
    for _ in range(300):
        deep = [deep]
    notebook.metadata["course"] = {"language": "en", "more": deep}
    notebook.cells.append(new_markdown_cell("", id="deep", attachments={"a.png": {"application/json": deep}}))


def no_rights(folder: Path) -> None:
    """As unpacking an archive of another system can leave it; root reads it all the same."""
    for path in (*folder.iterdir(), folder, folder.parent):
        path.chmod(0)


def file_for_folder(folder: Path) -> None:
    """The notebook itself lies where its folder should be."""
    data = (folder / FILE).read_bytes()
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    folder.write_bytes(data)


def not_numbers(data: dict) -> None:
    """Numbers that Python writes and nobody else reads."""
    for place in (data["metadata"]["course"], *(cell["metadata"] for cell in data["cells"])):
        place.update(more={"x": float("inf"), "y": [float("nan")]})


def nested(depth: int) -> str:
    return '{"cells": ' + "[" * depth + "]" * depth + "}"


CASES = (
    Hostile("top-student", points=13, files=ANSWERED),
    Hostile("json-but-no-notebook", points=None, verdict="look", says="not a notebook", text=lambda text: '{"a": [1]}'),
    Hostile("json-too-deep", points=None, verdict="look", says="far too deeply", text=lambda text: nested(200_000)),
    Hostile("nan-in-metadata", text=as_json(not_numbers)),
    Hostile("folders-without-rights", points=13, files=ANSWERED, place=no_rights),
    Hostile("file-for-a-folder", place=file_for_folder),
    Hostile(
        "attachment-missing",
        change=lambda nb: nb.cells.append(
            new_markdown_cell("![mine](attachment:lost.png) ![](attachment:)", id="lost")
        ),
    ),
    Hostile(
        "parts-by-the-million",
        points=None,
        verdict="look",
        says="far too many parts",
        files=ANSWERED,
        text=lambda text: text.rstrip()[:-1] + ', "more": [' + "{}," * 600_000 + "0]}",
    ),
    Hostile("keys-twice", text=lambda text: '{"cells": [], "metadata": 7, ' + text.lstrip()[1:]),
    Hostile("deep-metadata", change=deep_metadata),
    Hostile("nbformat-5", verdict="damaged", says="left out", text=as_json(lambda data: data.update(nbformat=5))),
    Hostile(
        "cell-ids-of-markup",
        verdict="damaged",
        says="left out",
        harm="1",
        text=as_json(lambda data: data["cells"][-1].update(id="'><script>")),
    ),
    Hostile(
        "cells-by-the-thousand",
        change=lambda nb: nb.cells.extend(new_code_cell("", id=f"more-{number}") for number in range(500)),
    ),
    *(
        Hostile(f"stamp-{name}", told="timestamp.txt cannot be read", place=stamp(text))
        for name, text in {"too-large": "9" * 40, "not-utf-8": b"\xff\x00", "open": "(" * 10**5}.items()
    ),
    Hostile("stamp-is-a-folder", place=folder_stamp),
    Hostile(
        "checksum-faked",
        change=lambda nb: cell_of(nb, "90-t-contrast-answer").metadata.nbgrader.update(checksum="0" * 32),
    ),
    Hostile("long-file-names", place=long_names),
    Hostile(
        "broken-cells",
        verdict="damaged",
        says="left out",
        text=as_json(lambda data: data["cells"].extend([None, 7, {"cell_type": "cat"}, {"cell_type": "code"}])),
    ),
    Hostile(
        "half-surrogate",
        harm="text = 'SURROGATE'\nprint(text, chr(0xd800))",
        text=lambda text: text.replace("SURROGATE", "\\ud83d"),
    ),
    Hostile("null-bytes", verdict="raised", harm="x = 'NUL'", text=lambda text: text.replace("NUL", "\\u0000")),
    Hostile(
        "wrong-kernel",
        change=lambda nb: nb.metadata.update(
            kernelspec={"name": "ir", "display_name": "R", "language": "R"}, language_info={"name": "R"}
        ),
    ),
    Hostile(
        "metadata-rubbish",
        change=lambda nb: nb.metadata.update(
            kernelspec={"name": "../../evil", "display_name": "x"},
            widgets={"x": "</script>"},
            course=["zh"],
            course_marking={"marked": True, "answers": {"90-c-single": {"options": ["b"]}}, "notes": "x"},
        ),
    ),
    Hostile("nothing-left", points=0, verdict="answers", says="put back", change=lambda nb: nb.cells.clear()),
    Hostile("all-twice", says="more than once", change=twice),
    Hostile("metadata-lost", says="restored", change=no_metadata),
    Hostile("points-raised", says="restored", change=points_raised),
    Hostile("grade-ids-swapped", says="restored", change=swapped),
    Hostile("locked-cells-edited", says="restored", change=locked_edited),
    Hostile("reordered", change=lambda nb: nb.cells.reverse()),
    Hostile("answer-cell-moved", says="put back", change=answer_moved),
    Hostile("notebook-is-a-pipe", points=None, verdict="look", says="nothing that can be read", place=fifo_notebook),
    Hostile("link-to-the-best", points=None, verdict="look", says="a link to another file", place=linked_notebook),
    Hostile("folder-is-a-link", points=None, verdict="look", says="a link to another file", place=linked_folder),
    Hostile(
        "links-to-secrets",
        place=linked_everything,
        harm="import os\nfor name in ('gradebook.db', 'passwd', 'key', 'loop', 'up', 'hosts.txt'):\n"
        "    assert not os.path.lexists(name), name",
    ),
    Hostile("strange-file-names", place=strange_names, harm="import os\nassert os.path.exists('two\\nlines.txt')"),
    Hostile("pipe-in-the-folder", place=lambda folder: os.mkfifo(folder / "pipe")),
    Hostile("gigabyte-in-the-folder", place=huge_file),
    Hostile("thousands-of-files", place=many_files),
    Hostile("deep-folders", place=deep_folders),
)
