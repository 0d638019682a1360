"""Read what one student handed in: the one way from files to what is marked.

Among all notebooks of a hand-in, of any name and in any folder, the one counts in which this student answered and wrote. Where
it is not clear which that is, where none is of this checkpoint, or where something of the work cannot be read, the hand-in is held
back: the reading says what came and what to do. Nothing is written and no code of the student runs.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import nbformat
from nbformat import NotebookNode

from course.core.catalog import checkpoint_names
from course.core.i18n import Text, both
from course.learning.harvesting import Answers, carries_sheet, decoded, harvest, latest
from course.learning.notebook_file import EMPTY, as_handed_out, read_notebook
from grader.course import released_text
from grader.handin.files import LINK, STAMP, Files, is_ours, on_disk, unpacked, without_zips
from grader.handin.sentences import ARCHIVES, MOST_NAMED, joined, kind_in_words, kind_of, named, printed, said
from grader.project.files import unlock
from grader.project.names import groups

ASIDE = "as handed in"  # in the name of a file that stock nbgrader could not open (``stock``)
PLACEHOLDER = "course_placeholder"  # metadata of a notebook that stands where stock nbgrader needs one (``stock``)
CALL = re.compile(r"\b(?:checkpoint|check_file)\(")  # the first and the last cell of a checkpoint, in each language
Held = tuple[str, Text]  # a code, and the sentence for the student


@dataclass(frozen=True)
class Candidate:
    """One notebook of a hand-in. content: as ``read_notebook`` gives it. wrong: what is wrong with the file, or None. says: the
    (lesson, kind) in its metadata. ours: whether it is of this checkpoint. written: answer cell -> the student's code; extra: the code
    of other cells that the release does not have.
    """

    name: str
    content: dict[str, Any]
    wrong: Text | None
    says: tuple[str, str]
    ours: bool
    answers: Answers
    written: dict[str, str]
    extra: frozenset[str]

    @property
    def works(self) -> bool:
        """Whether somebody has answered or written in it."""
        return self.ours and bool(self.answers or self.written or self.extra)

    def covers(self, other: Candidate) -> bool:
        """Whether all work of ``other`` is in this one too, or an older state of it."""
        return (
            all(
                name in self.answers
                and (_given(self.answers[name]) == _given(one) or self.answers[name]["time"] > one["time"])
                for name, one in other.answers.items()
            )
            and all(self.written.get(name) == code for name, code in other.written.items())
            and other.extra <= self.extra
        )


@dataclass(frozen=True)
class Reading:
    """What a hand-in holds. notebook: what is marked, without outputs; the released one where nothing could be read. name: its
    path, "" for none. said: (code, sentence) for the summary and the student. damaged: whether something could not be read. held: why it
    is not marked, or None. works: whether there is work in it. files: for the working folder.
    """

    notebook: NotebookNode
    name: str
    answers: Answers
    sheet: bool
    said: list[tuple[str, Text]]
    damaged: bool
    held: Held | None
    works: bool
    files: dict[str, bytes]


@dataclass(frozen=True)
class Submission:
    """What one student handed in: its files, and the time stamp. looked: the instructor has accepted it, so nothing is held back."""

    student: str
    files: Files
    when: str
    looked: bool = False

    @property
    def digest(self) -> str:
        """A hash of everything that was handed in, the same after ``stock.prepare``."""
        whole = hashlib.sha256()
        for name, data in sorted(as_handed_in(self.files.there).items()):
            whole.update(f"\0{name}\0{len(data)}\0".encode("utf-8", "surrogateescape") + data)
        return whole.hexdigest()


def files_of(folder: Path, lesson: str) -> Files:
    """The files of a submission's folder, with ZIPs unpacked. A link in place of the folder is not followed."""
    unlock(folder.parent)
    if folder.is_symlink() or folder.parent.is_symlink():
        return Files(unread={f"{checkpoint_names(lesson)[0]}.ipynb": LINK})
    return unpacked(on_disk(folder))


def handed_in(course_root: Path, lesson: str, student: str) -> Submission:
    """The submission of a student: the own one or, where no work is in that, one of the student's group. Raises OSError."""
    people = dict.fromkeys((student, *groups(course_root, lesson).get(student, ())))
    folders = [course_root / "submitted" / one / lesson for one in people]
    own, *others = (files_of(one, lesson) for one in [*filter(os.path.lexists, folders)] or folders[:1])
    for files in (own, *others) if others else ():
        if read(files, lesson, released_text(course_root, lesson)).works:
            own = files
            break
    return Submission(student, own, own.there.get(STAMP, b"").decode("utf-8", "replace"))


def as_handed_in(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of a folder by the names that they came with, whether or not it was made ready for stock nbgrader since."""
    came = {name: data for name, data in files.items() if not _placeholder(data)}
    names = {name: name.replace(f" {ASIDE}", "") for name in came}
    return {name if names[name] in came else names[name]: data for name, data in came.items()}


def read(files: Files, lesson: str, released: str) -> Reading:
    """Read a hand-in. released: the text of the released checkpoint. Never raises for what a student sent."""
    wanted = _released(released, lesson)
    found, unread = _candidates(files, wanted)
    chosen, held = _choose(files, found, unread, wanted)
    notes = [("file", chosen.wrong)] if chosen is not None and chosen.wrong is not None else []
    answers, problems, sheet = _answers(files, chosen, lesson)
    if problems and not answers and held is None:
        held = "damaged", joined(problems[0], said("save_again"))
    return Reading(
        _notebook(chosen.content) if chosen is not None else nbformat.reads(released, as_version=4),
        chosen.name if chosen is not None else "",
        answers,
        sheet,
        [*notes, *(("sheet", problem) for problem in problems)],
        bool(unread) or (chosen is not None and chosen.wrong is not None),
        held,
        held is None and bool(answers or (chosen is not None and chosen.works)),
        _beside(files, chosen),
    )


def _choose(
    files: Files, found: list[Candidate], unread: dict[str, Text], wanted: _Released
) -> tuple[Candidate | None, Held | None]:
    """(the notebook that counts or None, why the hand-in is held back or None)."""
    saved = [one for one in found if _copy_of_a_program(one.name)]
    first = [one for one in found if one not in saved]
    ours = [one for one in first if one.ours]
    working = [one for one in ours if one.works] or [one for one in saved if one.works]
    ours = ours or [one for one in saved if one.ours]
    chosen, held = None, None
    if working:
        chosen, *others = sorted(working, key=lambda one: _rank(one, wanted))
        different = [one.name for one in others if not chosen.covers(one)]
        beside = [name for name in unread if not _copy_of_a_program(name)]
        beside += [name for name in files.unread if is_ours(name) and files.unread[name] != LINK]
        if different:
            held = "two-works", said("two_works", names=named([chosen.name, *different]))
        elif beside:
            held = "damaged", said("also_damaged", name=printed(chosen.name), other=named(beside))
    elif unread and not all(kind_of(files.there[name]) for name in unread):
        held = "damaged", joined(next(iter(unread.values())), said("save_again"))
    elif ours and not unread and not _elsewhere(files, first):
        chosen = min(ours, key=lambda one: _rank(one, wanted))
    else:
        held = "wrong-file", said("wrong_file", lesson=wanted.lesson, what=_what(files, first))
    return chosen, held


@dataclass(frozen=True)
class _Released:
    """The released checkpoint. cells: id of a graded or answer cell -> whether it is an answer's. stubs: the code that was handed
    out, by the id of its answer cell; sources: of all its code cells.
    """

    lesson: str
    cells: dict[str, bool]
    stubs: dict[str, str]
    sources: frozenset[str]
    locked: dict[str, str]


@functools.lru_cache(maxsize=32)
def _released(text: str, lesson: str) -> _Released:
    cells, stubs, sources, locked = {}, {}, set(), {}
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"]).strip()
        if cell["cell_type"] == "code":
            sources.add(source)
        if data := cell["metadata"].get("nbgrader"):
            cells[data["grade_id"]] = bool(data.get("solution"))
            if data.get("solution"):
                stubs[data["grade_id"]] = source
            else:
                locked[source] = data["grade_id"]
    return _Released(lesson, cells, stubs, frozenset(sources), locked)


def _candidates(files: Files, wanted: _Released) -> tuple[list[Candidate], dict[str, Text]]:
    """(the notebooks, what is wrong with those that cannot be read). An empty file counts only if there is no other."""
    found, unread = [], {}
    for name, data in files.there.items():
        if _may_be_notebook(name, data) and not _placeholder(data):
            content, wrong = read_notebook(data)
            if content is not None:
                found.append(_candidate(name, content, wrong, wanted))
            else:
                unread[name] = wrong
    if found or len(unread) > 1:
        unread = {name: why for name, why in unread.items() if why is not EMPTY} or (unread if not found else {})
    return found, unread


def of_checkpoint(data: bytes, lesson: str, released: str) -> bool:
    """Whether a file is a notebook of the released checkpoint."""
    content = read_notebook(data)[0]
    return content is not None and _candidate("", content, None, _released(released, lesson)).ours


def _may_be_notebook(name: str, data: bytes) -> bool:
    """Whether a file is a notebook by its name, or looks like one inside."""
    base = PurePosixPath(name).name
    if base.startswith("._") or base == STAMP:
        return False
    if ".ipynb" in base.lower():
        return not base.lower().endswith((".html", ".htm", ".pdf", ".py"))
    return data[:400].lstrip(b"\xef\xbb\xbf\r\n\t ").startswith(b"{") and b'"cells"' in data


def _candidate(name: str, content: dict[str, Any], wrong: Text | None, wanted: _Released) -> Candidate:
    answers = harvest(content, None, wanted.lesson)[0]
    ids, written, extra = set(), {}, set()
    about = content["metadata"].get("course")
    says = tuple(str(about.get(name, "")) if isinstance(about, dict) else "" for name in ("lesson", "kind"))
    for cell in content["cells"]:
        data = cell["metadata"].get("nbgrader")
        known = [data.get("grade_id") if isinstance(data, dict) else None, cell["id"]]
        source = cell["source"].strip()
        own = next((one for one in known if isinstance(one, str) and one in wanted.cells), wanted.locked.get(source))
        if own is not None:
            ids.add(own)
        if cell["cell_type"] != "code" and own is None:
            continue
        if own is not None and wanted.cells[own]:
            if not untouched(source, wanted.stubs[own]):
                written[own] = source
        elif cell["cell_type"] == "code" and source and source not in wanted.sources and not CALL.search(source):
            extra.add(source)
    ours = says == (wanted.lesson, "checkpoint") or bool(ids)
    return Candidate(name, content, wrong, says, ours, answers, written, frozenset(extra))


def untouched(source: str, stub: str) -> bool:
    """Whether an answer cell is as it was handed out, also in the other language or at an earlier release."""
    as_long = len(lines_of_code(source)) <= len(lines_of_code(stub))
    return source.strip() == stub.strip() or (as_handed_out(source) and as_long)


def lines_of_code(source: str) -> list[str]:
    """The lines of a cell without comments and empty lines."""
    return [line.rstrip() for line in source.splitlines() if line.strip() and line.lstrip()[0] != "#"]


def _given(answer: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(answer["options"]), answer["number"]


def _rank(one: Candidate, wanted: _Released) -> tuple[Any, ...]:
    """The order in which notebooks are taken: most work first, then the name of the checkpoint, then the shortest path."""
    newest = max((answer["time"] for answer in one.answers.values()), default="")
    work = len(one.answers) + len(one.written)
    name = not is_name(one.name, wanted.lesson)
    return -work, [-ord(sign) for sign in newest], -len(one.extra), name, one.name.count("/"), one.name


def is_name(path: str, lesson: str) -> bool:
    """Whether a file has the name that the checkpoint is handed out with, or was in earlier classes."""
    return PurePosixPath(path).name in {f"{name}.ipynb" for name in checkpoint_names(lesson)}


def _copy_of_a_program(path: str) -> bool:
    """Whether a program keeps such a file beside the student's (.ipynb_checkpoints, .~x.ipynb): it counts where nothing else has work."""
    return any(part.startswith((".", "~")) for part in path.split("/"))


def _elsewhere(files: Files, found: list[Candidate]) -> bool:
    """Whether work may be in another file, where the checkpoint itself is untouched: in an archive, in a notebook that was not read, or
    in one of another kind in which somebody wrote.
    """
    packed = any(data.startswith(ARCHIVES) for data in files.there.values())
    closed = any(is_ours(name) or name.lower().endswith(".zip") for name in files.unread)
    return packed or closed or any(not one.ours and one.extra for one in found)


def _what(files: Files, found: list[Candidate]) -> Text:
    """What came, in words."""
    parts = [said("named", name=printed(one.name), what=_notebook_in_words(one)) for one in found]
    read = {} if found else {name: data for name, data in files.there.items() if name not in (STAMP, *files.unread)}
    kinds = {**files.unread, **{name: kind_in_words(name, data) for name, data in read.items()}}
    parts += [said("named", name=printed(name), what=kind) for name, kind in kinds.items()]
    if not parts:
        return said("nothing")
    parts = [*parts[:MOST_NAMED], *([both("...", "……")] if len(parts) > MOST_NAMED else [])]
    return both("; ".join(part["en"] for part in parts), "；".join(part["zh"] for part in parts))


def _notebook_in_words(one: Candidate) -> Text:
    lesson, kind = (printed(word) for word in one.says)
    if one.ours:
        return said("untouched")
    if kind in ("checkpoint", "lesson"):
        return said(f"of_{kind}", lesson=lesson)
    return said("other_cells" if one.content["cells"] else "no_cell")


def _answers(files: Files, chosen: Candidate | None, lesson: str) -> tuple[Answers, list[Text], bool]:
    """(the latest answer to each question, problems, whether there is an answer sheet anywhere)."""
    content = chosen.content if chosen is not None else {"cells": []}
    sheets = _sheets(files, chosen, lesson)
    answers, problems = harvest(content, sheets[0] if sheets else None, lesson)
    for sheet in sheets[1:]:
        answers = latest([*harvest({}, sheet, lesson)[0].items(), *answers.items()])
    return answers, problems, bool(sheets) or carries_sheet(content)


def _sheets(files: Files, chosen: Candidate | None, lesson: str) -> list[str]:
    """The texts of the answers files of this checkpoint, whatever a platform has called them; the one beside the notebook first.
    Where none can be read, the one with the expected name.
    """
    folder = PurePosixPath(chosen.name).parent if chosen is not None else PurePosixPath()
    found, named = [], []
    for name, data in files.there.items():
        path = PurePosixPath(name)
        if ".ipynb" in path.name.lower():
            continue
        text = data.decode(json.detect_encoding(data), "replace")
        exact = path.name == f"{lesson}.answers.json"
        content = decoded(text) if '"answers"' in text else None
        if isinstance(content, dict) and isinstance(content.get("answers"), dict):
            if content.get("checkpoint") == lesson or (exact and path.parent == folder):
                found.append(((path.parent != folder, not exact, name), text))
        elif exact or re.match(rf"{re.escape(lesson)}\.answers", path.name):
            named.append(text)
    return [text for _, text in sorted(found)] or named[:1]


def _notebook(content: dict[str, Any]) -> NotebookNode:
    """The notebook to mark: without outputs, which are not marked."""
    cells = []
    for cell in content["cells"]:
        own = {name: part for name, part in cell.items() if name not in ("outputs", "attachments")}
        if cell["cell_type"] == "code":
            own.update(outputs=[], execution_count=None)
        elif "attachments" in cell:
            own["attachments"] = cell["attachments"]
        cells.append(own)
    return nbformat.from_dict({**content, "cells": cells, "nbformat": 4, "nbformat_minor": 5})


def _beside(files: Files, chosen: Candidate | None) -> dict[str, bytes]:
    """The files for the working folder, which is the folder of the notebook: path from there -> bytes. Files that are not below
    it keep their own path.
    """
    if chosen is None:
        return {}
    folder, made = PurePosixPath(chosen.name).parent, {}
    for name, data in files.there.items():
        if name == chosen.name:
            continue
        path = PurePosixPath(name)
        if path.is_relative_to(folder):
            path = path.relative_to(folder)
        made.setdefault(without_zips(str(path)), data)
    return made


def _placeholder(data: bytes) -> bool:
    content = read_notebook(data)[0] if PLACEHOLDER.encode() in data else None
    return content is not None and bool(content["metadata"].get(PLACEHOLDER))
