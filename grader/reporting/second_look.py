"""Requests for a second look: students fill in a text and send it; the instructor's command lists all requests.

The feedback page contains the text, with the checkpoint, the student's id and the questions that lost points. The student
writes a reason behind a question and sends the text as a file; the instructor saves the files in
``second-look/`` of the course directory, under any name.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from course.i18n import Text, both, pick
from course.units import format_points
from grader.course import Course
from grader.files import read_regular
from grader.marking.step import printable
from grader.marks import cell_marks

FOLDER, CONTACT = "second-look", "contact.txt"
MOST_BYTES, LONGEST = 20_000, 400  # bytes of a file; characters shown of a reason
QUOTED = re.compile(r"^(?:\s*>)+\s?")
CHECKPOINT, STUDENT = ("checkpoint", "测验"), ("student", "学生")
FORM: Text = both("checkpoint: {lesson}\nstudent: {student}\n{rows}", "测验：{lesson}\n学生：{student}\n{rows}")
ROW: Text = both("{name}: ", "{name}：")


@dataclass
class Request:
    """One request. reasons: graded cell -> why, in the student's words."""

    file: str
    lesson: str = ""
    student: str = ""
    reasons: dict[str, str] = field(default_factory=dict)


def form(lesson: str, student: str, cells: list[str], language: str) -> str:
    """The text for the student to fill in."""
    rows = "\n".join(pick(ROW, language).format(name=name) for name in cells)
    return pick(FORM, language).format(lesson=lesson, student=student, rows=rows)


def contact(root: Path) -> str:
    """The text of ``contact.txt`` in the course directory: whom students should ask; "" without that file."""
    path = root / CONTACT
    return printable(path.read_text(encoding="utf-8", errors="replace").strip())[:200] if path.is_file() else ""


def requests(course: Course) -> list[Request]:
    """Read all files in ``second-look/``, in the order of their names. Their content is not trusted: it is cut and only shown."""
    paths = sorted(path for path in (course.root / FOLDER).glob("*") if path.is_file() and not path.is_symlink())
    return [_read(path.name, _text(read_regular(path)[:MOST_BYTES])) for path in paths]


def _text(data: bytes) -> str:
    """The text of a file, as Windows and mail programs save it too; the signs of a quotation in front of lines are removed."""
    code = json.detect_encoding(data) if data else "utf-8"
    text = data.decode(code, "replace").replace("\ufeff", "")
    return "\n".join(QUOTED.sub("", line) for line in text.splitlines())


def _read(name: str, text: str) -> Request:
    found, last = Request(printable(name)), ""
    for row in text.replace("：", ":").splitlines():
        head, colon, rest = (part.strip() for part in row.partition(":"))
        if colon and head.lower() in CHECKPOINT:
            found.lesson = printable(rest)
        elif colon and head.lower() in STUDENT:
            found.student = printable(rest)
        elif colon and head[:2].isdigit() and " " not in head:
            last = printable(head)
            found.reasons[last] = printable(rest)
        elif last and row.strip():
            found.reasons[last] = f"{found.reasons[last]} {printable(row.strip())}".strip()
    found.reasons = {cell: why[:LONGEST] for cell, why in found.reasons.items() if why}
    return found


def listed(course: Course) -> list[str]:
    """A line for each question in the requests, with its present mark."""
    lines = []
    for one in requests(course):
        if not one.reasons or one.lesson not in course.project.checkpoints():
            what = (
                "no reason is written behind a question"
                if not one.reasons
                else f"there is no checkpoint {one.lesson!r}"
            )
            lines.append(f"{one.file}: {what}; look at the file")
            continue
        marks = cell_marks(course, one.lesson).get(one.student)
        if marks is None:
            lines.append(f"{one.file}: {one.student!r} has no marks in {one.lesson}; look at the file")
            continue
        for cell, why in one.reasons.items():
            mark = marks.get(cell)
            points = "no such question" if mark is None else f"{format_points(mark.points)} of {mark.top:g}"
            lines.append(f"{one.lesson}  {one.student}  {cell} ({points}): {why}")
    return lines
