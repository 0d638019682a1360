"""Collect submissions from nbgrader's exchange and check each of them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from datetime import datetime
from logging import Logger
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeCollect

from grader.course import Course, done
from grader.handin.files import on_disk, write
from grader.handin.guard import everybodys, guarded
from grader.handin.reading import files_of, read
from grader.handin.stock import prepare
from grader.project import notebook_in
from grader.project.dates import timestamp_of
from grader.project.names import fault, printable

WORSE = "%s: what came last holds no work of this checkpoint; what came before it is taken"


class CollectChecked(ExchangeCollect):
    """``nbgrader collect`` with three changes: submissions without a notebook are collected and made ready for stock nbgrader,
    which would skip them; folders whose names are not those of a submission are left out with a message; a submission without any
    work does not replace one with work.
    """

    def init_src(self) -> None:
        super().init_src()
        self.src_records = [record for record in self.src_records if record["username"] is not None]

    def _path_to_record(self, path: str) -> dict[str, Any]:
        """Parse a folder's name as nbgrader does. A name that would stop nbgrader for the whole class gives no student."""
        name = os.path.basename(path)
        student, _, when, *_ = [*name.rsplit("+", 3), "", ""]
        stamp, wrong = timestamp_of(when), fault(student)
        if stamp is None or wrong:
            self.log.error("%a is left out: %s", name, wrong or "there is no time in its name")
            return {"username": None, "filename": name, "timestamp": datetime.min}
        return {"username": student, "filename": name, "timestamp": stamp}

    def _sort_by_timestamp(self, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The submissions of one student in the order in which they count: the newest one with work first."""
        newest = super()._sort_by_timestamp(records)
        lesson = self.coursedir.assignment_id
        path = notebook_in(Path(self.coursedir.root), "release", lesson)
        if len(newest) == 1 or newest[0]["username"] is None or not path.exists():
            return newest
        released = path.read_text(encoding="utf-8")
        for record in newest:
            if read(files_of(Path(self.inbound_path) / record["filename"], lesson), lesson, released).works:
                if record is not newest[0]:
                    self.log.error(WORSE, record["username"])
                return [record, *(one for one in newest if one is not record)]
        return newest

    def copy_files(self) -> None:
        root, lesson = Path(self.coursedir.root), self.coursedir.assignment_id
        project = Course(root).project
        if not project.checkpoint_source(lesson).exists():
            return super().copy_files()
        records = self.src_records
        there = {
            folder.parent.name for folder in (root / "submitted").glob(f"*/{lesson}") if not fault(folder.parent.name)
        }
        for record in records:  # one at a time, so that a faulty submission does not stop the others
            with guarded(record["username"], self._failed):
                student = record["username"]
                if student in there:
                    prepare(root, project, lesson, student)  # before nbgrader reads its time stamp
                self.src_records = [record]
                super().copy_files()
                there.add(student)
        for student in sorted(there):
            with guarded(student, self._failed):
                prepare(root, project, lesson, student)
        self.src_records = records

    def _failed(self, student: str, reason: str) -> None:
        self.log.error("%s could not be collected: %s", student, reason)

    def do_copy(self, src: str, dest: str, log: Logger | None = None) -> None:
        """Copy one submission, only its regular files: a student could link to a file that only the instructor may read.

        A submission that cannot be copied becomes an empty folder, and the others are collected.
        """
        with tempfile.TemporaryDirectory(prefix="course-collect-") as place:
            regular = Path(place) / "submission"
            regular.mkdir()
            try:
                if os.path.islink(src):
                    raise OSError("it is a link")
                write(on_disk(Path(src)), regular)
                super().do_copy(str(regular), dest, log)
            except (OSError, RuntimeError) as error:  # shutil.Error is an OSError
                if everybodys(error):
                    raise
                self.log.error("%a could not be copied: %s", src, error)
                os.makedirs(dest, exist_ok=True)


def collect(course: Course, lesson: str, say: Callable[[str], None] = print) -> int:
    """Collect submissions from the exchange, also newer versions; returns how many there are now. ``say`` gets a sentence for
    each one that could not be collected.
    """
    result = done(course.api.collect(lesson, update=True), f"collect {lesson}")
    for line in (result.get("log") or "").splitlines():
        if line.startswith("[ERROR] "):
            say(printable(line.removeprefix("[ERROR] ")))
    return len(course.submitted(lesson))
