"""Check a submission before it is marked, and replace a damaged notebook, so that it can be graded.

The original bytes are stored under ``damaged/<student>/<assignment>/``. The replacement contains everything that could be
read; if nothing could, it is the released notebook. The answers file is never changed. Unfinished files are written to
``.unfinished/`` of the course directory, not into the student's folder, where the student chooses the names.
"""

from __future__ import annotations

import filecmp
import hashlib
import json
import os
import shutil
import stat
import sys
import warnings
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.utils import parse_utc

from course.i18n import Text, both
from course.learning.harvesting import crowded
from grader.authoring.build import checkpoint_notebook
from grader.authoring.publish import text_of
from grader.choosing import choose, is_copy, sentence
from grader.files import read_regular, replace, unlock
from grader.guard import guarded
from grader.project import Project
from grader.sandbox.limits import MOST_BYTES, MOST_FILES

LITERALS = ("true", "false", "null")  # what a file can end in the middle of, beside strings
LONGEST_STAMP = 100  # characters; the parser takes minutes over megabytes
REASONS = "ingest.json"  # under damaged/: digest of a replacement -> why it was made
MISSING = both("There was no notebook in the submission.", "提交里没有 notebook。")
LINK = both(
    "The notebook was a link to another file; links are not followed.", "notebook 是指向别处的链接；不跟随链接。"
)
LARGE = both("The notebook file is larger than 20 MB and was not read.", "notebook 文件超过 20 MB，未读取。")
EMPTY = both("The notebook file was empty.", "notebook 文件是空的。")
HALF = both("The notebook file ends in the middle.", "notebook 文件只有一半。")
NOT_JSON = both("The file is not a notebook: it cannot be read as JSON.", "这个文件不是 notebook：无法按 JSON 读取。")
CROWDED = both(
    "The notebook file is made of far too many parts, or nests them far too deeply, and was not read.",
    "notebook 文件的组成部分过多或嵌套过深，未读取。",
)
OTHER_CODE = both(
    "The file is not saved in plain UTF-8; it was read all the same.", "文件不是以纯 UTF-8 保存的；仍然照常读取。"
)
NOT_NOTEBOOK = both("The file is valid JSON but not a notebook.", "文件是合法的 JSON，但不是 notebook。")
CELLS_LOST = both(
    "Some cells of the notebook could not be read and were left out.", "notebook 中有些单元格无法读取，已略去。"
)
REPLACED = both(
    "It was replaced by the released notebook; answers in the answers file still count.",
    "已换成发布时的 notebook；答案文件里的回答仍然计分。",
)


def take_in(course: Path, project: Project, lesson: str, student: str) -> Text | None:
    """Check one submission and replace its notebook if it is damaged; returns what was wrong, or None.

    Raises OSError; call it inside ``guarded``.
    """
    folder = course / "submitted" / student / lesson
    path = folder / f"{lesson}.ipynb"
    for link in (folder.parent, folder):  # a link of the student's own folder leads as far as one inside it
        if link.is_symlink():
            link.unlink()
            return _put_released(course, project, student, lesson, path, LINK)
    unlock(folder.parent)
    if folder.exists() and not folder.is_dir():  # a file where the folder should be: perhaps the notebook itself
        kept = _set_aside(course, student, lesson, folder)
        folder.unlink(missing_ok=True)
        return _take_other(course, project, student, lesson, path, [kept] if _is_notebook(kept) else [])
    linked = path.is_symlink()
    for found in _files(folder, most=1_000_000):
        if found.is_symlink():
            found.unlink()  # stock commands would follow it
        else:
            unlock(found)
    if linked:
        return _put_released(course, project, student, lesson, path, LINK)
    _set_stamp_aside(course, student, lesson, folder / "timestamp.txt")
    if not path.is_file():
        if path.exists():  # a folder, a pipe
            _set_aside(course, student, lesson, path)
        return _take_other(course, project, student, lesson, path, sorted(filter(_is_notebook, folder.glob("*.ipynb"))))
    if path.stat().st_size > MOST_BYTES:
        _set_aside(course, student, lesson, path)
        return _put_released(course, project, student, lesson, path, LARGE)
    notebook, reason = examine(read_regular(path))
    if reason is None:
        return name_copies(course, student, lesson)
    _set_aside(course, student, lesson, path)
    if notebook is None:
        return _put_released(course, project, student, lesson, path, reason)
    replace(course, path, text_of(notebook).encode())
    return _remember(course, student, lesson, reason, path)


def name_copies(course: Path, student: str, lesson: str) -> Text | None:
    """Write down that there are other copies of a sound notebook in its folder; returns the sentence. None where there are
    none, or where another sentence about the file exists already.
    """
    path = course / "submitted" / student / lesson / f"{lesson}.ipynb"
    others = [
        one
        for one in sorted(path.parent.glob("*.ipynb"))
        if one != path and _is_notebook(one) and is_copy(read_regular(one), lesson)
    ]
    if not others or reason_of(course, student, lesson) is not None:
        return None
    return _remember(course, student, lesson, sentence(path.name, lesson, others), path)


def examine(data: bytes) -> tuple[NotebookNode | None, Text | None]:
    """Read a notebook. Returns (notebook, None), or (what could be read, what is wrong), or (None, what is wrong)."""
    if not data.strip():
        return None, EMPTY
    if crowded(data):
        return None, CROWDED
    code = json.detect_encoding(data)  # an editor or a shell may have saved it as UTF-16, or with a byte order mark
    try:
        text = data.decode(code)
        if code != "utf-8" and crowded(text):
            return None, CROWDED
        content = json.loads(
            text, parse_constant=lambda name: None
        )  # NaN and Infinity are no JSON: no page could read them
    except (ValueError, RecursionError) as error:
        return None, HALF if _cut(error) else NOT_JSON
    if not isinstance(content, dict) or not ("cells" in content or "worksheets" in content):
        return None, NOT_NOTEBOOK
    notebook = _sound(content)
    if notebook is not None:
        return notebook, None if code == "utf-8" else OTHER_CODE
    cells = content.get("cells")
    kept = [cell for cell in cells if _sound(_with_cells(content, [cell]))] if isinstance(cells, list) else []
    salvaged = _sound(_with_cells(content, kept)) if kept else None
    return (salvaged, CELLS_LOST) if salvaged is not None else (None, NOT_NOTEBOOK)


def beside(folder: Path, first: tuple[str, ...] = ()) -> dict[str, bytes]:
    """The regular files of a submission: relative path -> bytes, at most ``MOST_FILES`` with ``MOST_BYTES`` together.

    Files named ``first`` are read first, then the others by name. Links are not followed; files that cannot be read are
    left out.
    """
    found: dict[str, bytes] = {}
    left, linked = MOST_BYTES, folder.is_symlink() or folder.parent.is_symlink()
    for path in [*(folder / name for name in first), *_files(folder)]:
        name = str(path.relative_to(folder))
        try:
            kind = path.lstat()
            if name in found or not stat.S_ISREG(kind.st_mode) or kind.st_size > left or linked:
                continue
            unlock(path)
            found[name] = read_regular(path)
        except OSError:
            continue
        left -= len(found[name])
    return found


def _files(folder: Path, most: int = MOST_FILES) -> list[Path]:
    """The files in a folder and its subfolders, in order, at most ``most``. Links to folders are not followed."""
    found, folders = [], [folder]
    for _ in range(most):
        if not folders or len(found) >= most:
            break
        inner = folders.pop()
        unlock(inner)
        try:
            with os.scandir(inner) as entries:
                for entry in entries:
                    (folders if entry.is_dir(follow_symlinks=False) else found).append(Path(entry.path))
        except OSError:
            continue
    return sorted(found)[:most]


def _cut(error: Exception) -> bool:
    """Whether parsing failed because the text ends too early, not because of a fault in it."""
    if isinstance(error, UnicodeDecodeError):
        return error.end == len(error.object) and "end of data" in error.reason
    return (
        isinstance(error, json.JSONDecodeError)
        and error.doc.lstrip().startswith("{")
        and (
            error.msg.startswith("Unterminated")
            or any(word.startswith(error.doc[error.pos :].strip()) for word in LITERALS)
        )
    )


def reason_of(course: Path, student: str, lesson: str) -> Text | None:
    """Why the notebook in submitted/ was replaced; None if it is the one the student sent."""
    path = course / "submitted" / student / lesson / f"{lesson}.ipynb"
    log = course / "damaged" / student / lesson / REASONS
    if not (log.is_file() and path.is_file()):
        return None
    return json.loads(log.read_text(encoding="utf-8")).get(_digest(read_regular(path)))


def before_autograde(project_root: str) -> Callable[..., None]:
    """The hook that stock ``nbgrader autograde`` calls before each submission."""

    def hook(assignment: str, student: str, notebooks: list[str]) -> None:
        for folder in {Path(notebook).parent for notebook in notebooks}:
            project, lesson = Project(Path(project_root), own=folder.parents[2] / "checkpoints"), folder.name
            if project.checkpoint_source(lesson).exists():
                with guarded(folder.parent.name, lambda name, reason: print(f"{name}: {reason}", file=sys.stderr)):
                    take_in(folder.parents[2], project, lesson, folder.parent.name)
                expected = str(folder / f"{lesson}.ipynb")
                if expected not in notebooks:
                    notebooks.append(expected)

    return hook


def _with_cells(content: dict, cells: list) -> dict:
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": content.get("metadata") or {}, "cells": cells}


def _sound(content: dict) -> NotebookNode | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            text = json.dumps(content, ensure_ascii=False).encode("utf-8", "replace")  # half surrogates end here
            notebook = nbformat.reads(text.decode("utf-8"), as_version=4)
            nbformat.validate(notebook)
            return notebook
    except Exception:  # nbformat fails in many ways on what is not a notebook
        return None


def _is_notebook(path: Path) -> bool:
    """Whether a file can be read as a sound notebook."""
    try:
        return path.lstat().st_size <= MOST_BYTES and examine(read_regular(path))[1] is None
    except OSError:  # a link, a folder, a pipe
        return False


def _take_other(course: Path, project: Project, student: str, lesson: str, path: Path, sound: list[Path]) -> Text:
    """Put a notebook in place where the assignment is missing: the one of ``sound`` that is the assignment under another name,
    else the released one. Returns the sentence about it.
    """
    other, copies = choose({one: read_regular(one) for one in sound}, lesson)
    if other is None:
        return _put_released(course, project, student, lesson, path, MISSING)
    replace(course, path, read_regular(other))
    return _remember(course, student, lesson, sentence(other.name, lesson, copies), path)


def _put_released(course: Path, project: Project, student: str, lesson: str, path: Path, reason: Text) -> Text:
    released = course / "release" / lesson / f"{lesson}.ipynb"
    text = released.read_bytes() if released.exists() else text_of(checkpoint_notebook(project, lesson, "en")).encode()
    replace(course, path, text)
    return _remember(course, student, lesson, joined(reason, REPLACED), path)


def joined(first: Text, second: Text) -> Text:
    """Join two sentences in both languages."""
    return both(f"{first['en']} {second['en']}", f"{first['zh']}{second['zh']}")


def _set_aside(course: Path, student: str, lesson: str, path: Path) -> Path:
    """Move the original to damaged/ and return its path. An earlier file with other bytes is not overwritten."""
    folder = course / "damaged" / student / lesson
    folder.mkdir(parents=True, exist_ok=True)
    target, number = folder / path.name, 1
    while target.exists() and not (path.is_file() and target.is_file() and filecmp.cmp(target, path, shallow=False)):
        number += 1
        target = folder / f"{path.stem}.{number}{path.suffix}"
    if not path.is_file() or path.stat().st_size > MOST_BYTES:
        shutil.move(path, target)
    else:
        shutil.copy2(path, target)
    return target


def _set_stamp_aside(course: Path, student: str, lesson: str, path: Path) -> None:
    """Move a damaged time stamp to damaged/: it would stop stock commands for the whole class. Without one nobody is late."""
    if os.path.lexists(path) and not (
        path.is_file() and path.stat().st_size <= MOST_BYTES and timestamp_of(read_regular(path))
    ):
        _set_aside(course, student, lesson, path)
        path.unlink(missing_ok=True)


def timestamp_of(stamp: bytes | str) -> datetime | None:
    """Parse a time stamp; returns it as nbgrader stores it (UTC without a zone), None where it is missing or damaged."""
    text = (stamp.decode("utf-8", "replace") if isinstance(stamp, bytes) else stamp).strip()
    try:
        return parse_utc(text) if 0 < len(text) <= LONGEST_STAMP else None
    except Exception:  # it comes from the student's side, and the parser fails in many ways: OverflowError, TypeError
        return None


def _remember(course: Path, student: str, lesson: str, reason: Text, path: Path) -> Text:
    log = course / "damaged" / student / lesson / REASONS
    log.parent.mkdir(parents=True, exist_ok=True)
    known = json.loads(log.read_text(encoding="utf-8")) if log.exists() else {}
    known[_digest(read_regular(path))] = dict(reason)
    replace(course, log, json.dumps(known, ensure_ascii=False, indent=1).encode())
    return reason


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
