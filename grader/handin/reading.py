"""Read what one student handed in: the one way from files to what is marked.

Among all notebooks of a hand-in, of any name and in any folder, the one counts in which this student answered and wrote. Where
it is not clear which that is, where none is of this checkpoint, or where something of the work cannot be read, the hand-in is held
back: the reading says what came and what to do. Nothing is written and no code of the student runs.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import nbformat
from nbformat import NotebookNode

from course.core.catalog import checkpoint_names
from course.core.i18n import Text, both
from course.learning.harvesting import Answers, carries_sheet, decoded, harvest, latest
from course.learning.notebook_file import EMPTY, as_handed_out, read_notebook
from grader.handin.files import unlock
from grader.handin.handin import LINK, OURS, STAMP, Files, on_disk, printed, unpacked

PLACEHOLDER = (
    "course_placeholder"  # metadata of a notebook that stands where stock nbgrader needs one (``grader.handin.stock``)
)
HARMLESS = {"harm": "none"}  # added to a sentence about a file that could be read nevertheless
RENAMED = both(
    "The notebook had another name, {name}; it was read all the same.", "notebook 改了名，叫 {name}；仍然照常读取。"
)
COPIES = both("There is another copy of it, {others}; {name} was marked.", "另有一份副本 {others}；评分用的是 {name}。")
SAVE_AGAIN = both(
    "Open your notebook, look whether everything is there, and save it. So far it costs you nothing.",
    "请打开自己的 notebook，确认内容完整，然后保存。到目前为止没有扣分。",
)
WRONG_FILE = both(
    "Expected was the notebook of the checkpoint {lesson}; what came is {what}. Open your checkpoint, save it, and hand in that file. "
    "So far it costs you nothing.",
    "应交的是测验 {lesson} 的 notebook，收到的是{what}。请打开你的测验，保存，再交那个文件。到目前为止没有扣分。",
)
TWO_WORKS = both(
    "Several notebooks hold work, and the work differs: {names}. Hand in one file, with all of your work in it. So far it costs you "
    "nothing.",
    "有几个 notebook 里都有作业，内容又不一样：{names}。请只交一个文件，全部作业都在里面。到目前为止没有扣分。",
)
ALSO_DAMAGED = both(
    "Beside {name} lies a notebook that cannot be read, {other}. If all of your work is in {name}, hand in that file alone. So far it "
    "costs you nothing.",
    "{name} 旁边还有一个无法读取的 notebook：{other}。如果全部作业都在 {name} 里，请只交它。到目前为止没有扣分。",
)
KINDS: tuple[tuple[bytes, Text], ...] = (  # how files of other kinds begin
    (b"Rar!", both("a RAR archive", "RAR 压缩包")),
    (b"7z\xbc\xaf\x27\x1c", both("a 7z archive", "7z 压缩包")),
    (b"\x1f\x8b", both("a packed file (gzip, perhaps tar.gz)", "gzip 压缩文件，可能是 tar.gz")),
    (b"BZh", both("a packed file (bzip2)", "bzip2 压缩文件")),
    (b"\xfd7zXZ", both("a packed file (xz)", "xz 压缩文件")),
    (
        b"PK\x03\x04",
        both("a ZIP archive that could not be unpacked, or an Office file", "打不开的 ZIP，或 Office 文件"),
    ),
    (b"%PDF", both("a PDF", "PDF 文件")),
    (b"\x89PNG", both("a picture", "图片")),
    (b"\xff\xd8\xff", both("a picture", "图片")),
    (b"<!doctype html", both("a web page (HTML)", "HTML 网页")),
    (b"<html", both("a web page (HTML)", "HTML 网页")),
    (b"{\\rtf", both("a text document (RTF)", "RTF 文档")),
    (
        b"version https://git-lfs",
        both("a pointer of Git LFS, not the file: push the file itself", "Git LFS 指针，不是文件本身：请推送文件"),
    ),
    (b"bplist00", both("a placeholder of iCloud, not the file", "iCloud 占位文件，不是文件本身")),
    (b"http", both("a link to a web page, not the file", "网页链接，不是文件本身")),
)
ARCHIVES = (b"Rar!", b"7z\xbc\xaf\x27\x1c", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"PK\x03\x04")
ENDINGS: dict[str, Text] = {
    ".py": both("a Python script", "Python 脚本"),
    ".json": both("a file of answers without its notebook", "答案文件，没有 notebook"),
    ".tar": both("a tar archive", "tar 压缩包"),
    ".lnk": both("a shortcut to a file, not the file", "快捷方式，不是文件本身"),
    ".url": both("a link to a web page", "网页链接"),
    ".gdoc": both("a link to Google Drive, not the file", "Google 云端硬盘的链接，不是文件本身"),
}
MOST_NAMED = 4  # files in a sentence
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
    path, "" for none. said: (code, sentence) for the summary and the student. damaged: whether something could not be read. lost:
    whether all of it. held: why it is not marked, or None. works: whether there is work in it. files: for the working folder.
    """

    notebook: NotebookNode
    name: str
    answers: Answers
    sheet: bool
    said: list[tuple[str, Text]]
    damaged: bool
    lost: bool
    held: Held | None
    works: bool
    files: dict[str, bytes]


def files_of(folder: Path, lesson: str) -> Files:
    """The files of a submission's folder, with ZIPs unpacked. A link in place of the folder is not followed."""
    unlock(folder.parent)
    if folder.is_symlink() or folder.parent.is_symlink():
        return Files(unread={f"{checkpoint_names(lesson)[0]}.ipynb": LINK})
    return unpacked(on_disk(folder))


def read(files: Files, lesson: str, released: str) -> Reading:
    """Read a hand-in. released: the text of the released checkpoint. Never raises for what a student sent."""
    wanted = _released(released, lesson)
    found, unread = _candidates(files, wanted)
    closed = [name for name in files.unread if OURS.search(name)]
    saved = [one for one in found if _copy_of_a_program(one.name)]
    first = [one for one in found if one not in saved]
    ours = [one for one in first if one.ours]
    working = [one for one in ours if one.works] or [one for one in saved if one.works]
    ours = ours or [one for one in saved if one.ours]
    chosen, held = None, None
    said: list[tuple[str, Text]] = []
    if working:
        chosen, *others = sorted(working, key=lambda one: _rank(one, wanted))
        different = [one for one in others if not chosen.covers(one)]
        beside = [name for name in unread if not _copy_of_a_program(name)]
        beside += [name for name in closed if files.unread[name] != LINK]
        if different:
            held = "two-works", _with(TWO_WORKS, names=_named(one.name for one in [chosen, *different]))
        elif beside:
            held = "damaged", _with(ALSO_DAMAGED, name=printed(chosen.name), other=_named(beside))
    elif unread and not all(_kind(files.there[name]) for name in unread):
        held = "damaged", joined(next(iter(unread.values())), SAVE_AGAIN)
    elif ours and not unread and not _elsewhere(files, first):
        chosen = min(ours, key=lambda one: _rank(one, wanted))
    else:
        held = _wrong(lesson, _what(files, first))
    if chosen is not None:
        others = [one.name for one in ours if one is not chosen]
        if about := _about(chosen.name, lesson, others):
            said.append(("file", about))
        if chosen.wrong is not None:
            said.append(("file", chosen.wrong))
    answers, problems, sheet = _answers(files, chosen, lesson)
    notebook = _notebook(chosen.content) if chosen is not None else nbformat.reads(released, as_version=4)
    return Reading(
        notebook,
        chosen.name if chosen is not None else "",
        answers,
        sheet,
        [*said, *(("sheet", problem) for problem in problems)],
        bool(unread) or (chosen is not None and chosen.wrong is not None),
        chosen is None,
        held,
        held is None and bool(answers or (chosen is not None and chosen.works)),
        _beside(files, chosen),
    )


def lesson_of(files: Files) -> str:
    """The checkpoint that a notebook among the files says it is; "" where none says so."""
    for name, data in files.there.items():
        if _may_be_notebook(name, data) and (content := read_notebook(data)[0]) is not None:
            lesson, kind = _says(content)
            if kind == "checkpoint":
                return lesson
    return ""


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
        said = cell["metadata"].get("nbgrader")
        if said:
            cells[said["grade_id"]] = bool(said.get("solution"))
            if said.get("solution"):
                stubs[said["grade_id"]] = source
            else:
                locked[source] = said["grade_id"]
    return _Released(lesson, cells, stubs, frozenset(sources), locked)


def _candidates(files: Files, wanted: _Released) -> tuple[list[Candidate], dict[str, Text]]:
    """(the notebooks, what is wrong with those that cannot be read). An empty file counts only if there is no other."""
    found, unread = [], {}
    for name, data in files.there.items():
        if _may_be_notebook(name, data):
            content, wrong = read_notebook(data)
            if content is not None and content["metadata"].get(PLACEHOLDER):
                continue
            if content is not None:
                found.append(_candidate(name, content, wrong, wanted))
            else:
                unread[name] = wrong
    if found or len(unread) > 1:
        unread = {name: why for name, why in unread.items() if why is not EMPTY} or (unread if not found else {})
    return found, unread


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
    ids, written, extra, lesson_kind = set(), {}, set(), _says(content)
    for cell in content["cells"]:
        said = cell["metadata"].get("nbgrader")
        known = [said.get("grade_id") if isinstance(said, dict) else None, cell["id"]]
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
    ours = lesson_kind == (wanted.lesson, "checkpoint") or bool(ids)
    return Candidate(name, content, wrong, lesson_kind, ours, answers, written, frozenset(extra))


def untouched(source: str, stub: str) -> bool:
    """Whether an answer cell is as it was handed out, also in the other language or at an earlier release."""
    lines = [[line for line in one.splitlines() if line.strip() and line.lstrip()[0] != "#"] for one in (source, stub)]
    return source.strip() == stub.strip() or (as_handed_out(source) and len(lines[0]) <= len(lines[1]))


def _says(content: Mapping[str, Any]) -> tuple[str, str]:
    """(lesson, kind) in the metadata of a notebook; empty texts where it says nothing."""
    said = content["metadata"].get("course")
    said = said if isinstance(said, dict) else {}
    return str(said.get("lesson", "")), str(said.get("kind", ""))


def _given(answer: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(answer["options"]), answer["number"]


def _rank(one: Candidate, wanted: _Released) -> tuple[Any, ...]:
    """The order in which notebooks are taken: most work first, then the name of the checkpoint, then the shortest path."""
    newest = max((answer["time"] for answer in one.answers.values()), default="")
    work = len(one.answers) + len(one.written)
    name = not _is_name(one.name, wanted.lesson)
    return -work, [-ord(sign) for sign in newest], -len(one.extra), name, one.name.count("/"), one.name


def _is_name(path: str, lesson: str) -> bool:
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
    closed = any(OURS.search(name) or name.lower().endswith(".zip") for name in files.unread)
    return packed or closed or any(not one.ours and one.extra for one in found)


def _wrong(lesson: str, what: Text) -> Held:
    return "wrong-file", both(*(WRONG_FILE[code].format(lesson=lesson, what=what[code]) for code in ("en", "zh")))


def _what(files: Files, found: list[Candidate]) -> Text:
    """What came, in words."""
    parts = [_notebook_in_words(one) for one in found]
    read = {} if found else {name: data for name, data in files.there.items() if name not in (STAMP, *files.unread)}
    kinds = {**files.unread, **{name: _kind_in_words(name, data) for name, data in read.items()}}
    parts += [
        _with(both("{name}, {kind}", "{name}（{kind}）"), name=printed(name), kind=kind) for name, kind in kinds.items()
    ]
    if not parts:
        return both("nothing that can be read", "没有能读取的内容")
    more = len(parts) - MOST_NAMED
    en = "; ".join(part["en"] for part in parts[:MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")
    zh = "；".join(part["zh"] for part in parts[:MOST_NAMED]) + (f"；另有 {more} 个" if more > 0 else "")
    return both(en, zh)


def _notebook_in_words(one: Candidate) -> Text:
    lesson, kind = (printed(word) for word in one.says)
    name = printed(one.name)
    if one.ours:
        return both(f"{name}, the checkpoint with no work in it", f"{name}（测验本身，但没有作答）")
    if kind == "checkpoint":
        return both(f"{name}, the checkpoint {lesson}", f"{name}（测验 {lesson}）")
    if kind == "lesson":
        return both(f"{name}, the lesson {lesson}, not its checkpoint", f"{name}（课程 {lesson}，不是测验）")
    if not one.content["cells"]:
        return both(f"{name}, a notebook without a cell", f"{name}（没有单元格的 notebook）")
    return both(f"{name}, a notebook with no cell of this checkpoint", f"{name}（不含这次测验单元格的 notebook）")


def _kind_in_words(name: str, data: bytes) -> Text:
    empty, other = both("an empty file", "空文件"), both("a file of another kind", "其他类型的文件")
    return _kind(data) or ENDINGS.get(PurePosixPath(name).suffix.lower()) or (other if data.strip() else empty)


def _kind(data: bytes) -> Text | None:
    """The kind of a file by how it begins; None for a kind that is not known."""
    begin = data[:200].lstrip(b"\xef\xbb\xbf\r\n\t ").lower()
    return next((words for sign, words in KINDS if data.startswith(sign) or begin.startswith(sign)), None)


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
        if path.suffix.lower() != ".json" or ".ipynb" in path.name.lower():
            continue
        text = data.decode("utf-8", "replace")
        exact = path.name == f"{lesson}.answers.json"
        content = decoded(text) if b'"answers"' in data else None
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
        inside = path.is_relative_to(folder)
        made.setdefault(str(path.relative_to(folder)) if inside else name, data)
    return made


def _about(name: str, lesson: str, others: list[str]) -> Text:
    """The sentence about a notebook of quite another name, and about copies of it; empty where there is nothing to say. It costs no
    points.
    """
    base = PurePosixPath(name).name
    parts = [] if lesson in base and ".ipynb" in base.lower() else [_with(RENAMED, name=printed(name))]
    parts += [_with(COPIES, others=_named(others), name=printed(name))] if others else []
    return {**functools.reduce(joined, parts), **HARMLESS} if parts else {}


def _named(names: Iterable[str]) -> Text:
    listed = [printed(name) for name in names]
    listed = [*listed[:MOST_NAMED], *(["..."] if len(listed) > MOST_NAMED else [])]
    return both(", ".join(listed), "、".join(listed))


def _with(text: Text, **values: str | Text) -> Text:
    """Fill in both languages of a sentence; a value may have two languages itself."""
    return both(
        *(
            text[code].format(**{name: one if isinstance(one, str) else one[code] for name, one in values.items()})
            for code in ("en", "zh")
        )
    )


def joined(first: Text, second: Text) -> Text:
    """Join two sentences in both languages."""
    return both(f"{first['en']} {second['en']}", f"{first['zh']}{second['zh']}")
