"""Collecting through nbgrader's exchange, with every submission checked as it comes in."""

from __future__ import annotations

import os
import stat
import tempfile
from datetime import datetime
from logging import Logger
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeCollect
from traitlets import Unicode

from grader.files import MOST_BYTES
from grader.guard import everybodys, guarded
from grader.ingest import MOST_FILES, take_in, timestamp_of
from grader.names import fault
from grader.project import HERE, Project


class CollectChecked(ExchangeCollect):
    """``nbgrader collect`` that also takes in submissions without a notebook, which autograde would pass
    over, and leaves out, aloud, folders whose names are not those of a submission.
    """

    project_root = Unicode(str(HERE), help="The checkout with the checkpoints").tag(config=True)

    def init_src(self) -> None:
        super().init_src()
        self.src_records = [record for record in self.src_records if record["username"] is not None]

    def _path_to_record(self, path: str) -> dict[str, Any]:
        """As nbgrader reads a folder's name; one that it would stop at, for the whole class, belongs to nobody."""
        name = os.path.basename(path)
        student, _, when, *_ = [*name.rsplit("+", 3), "", ""]
        stamp, wrong = timestamp_of(when), fault(student)
        if stamp is None or wrong:
            self.log.error("%a is left out: %s", name, wrong or "there is no time in its name")
            return {"username": None, "filename": name, "timestamp": datetime.min}
        return {"username": student, "filename": name, "timestamp": stamp}

    def copy_files(self) -> None:
        own = Path(self.coursedir.root) / "checkpoints"
        project, lesson = Project(Path(self.project_root), own=own), self.coursedir.assignment_id
        if not project.checkpoint_source(lesson).exists():
            return super().copy_files()
        records, root = self.src_records, Path(self.coursedir.root)
        there = {
            folder.parent.name for folder in (root / "submitted").glob(f"*/{lesson}") if not fault(folder.parent.name)
        }
        for record in records:  # one at a time: nothing that one sent may end the step for the others
            with guarded(record["username"], self._failed):
                if record["username"] in there:
                    self._take_in(root, project, lesson, record["username"])  # before nbgrader reads its time stamp
                self.src_records = [record]
                super().copy_files()
                there.add(record["username"])
        for student in sorted(there):
            with guarded(student, self._failed):
                self._take_in(root, project, lesson, student)
        self.src_records = records

    def _take_in(self, root: Path, project: Project, lesson: str, student: str) -> None:
        reason = take_in(root, project, lesson, student)
        if reason is not None:
            self.log.warning("%s: %s", student, reason["en"])

    def _failed(self, student: str, reason: str) -> None:
        self.log.error("%s could not be collected: %s", student, reason)

    def do_copy(self, src: str, dest: str, log: Logger | None = None) -> None:
        """Copy one submission: regular files only, because whoever hands in can link to what only the collector may
        read. One that cannot be copied leaves an empty folder, which is taken in as such, and ends no batch.
        """
        with tempfile.TemporaryDirectory(prefix="course-collect-") as room:
            regular = Path(room) / "submission"
            regular.mkdir()
            try:
                if os.path.islink(src):
                    raise OSError("it is a link")
                copy_regular(src, regular)
                super().do_copy(str(regular), dest, log)
            except (OSError, RuntimeError) as error:  # shutil.Error is an OSError
                if everybodys(error):
                    raise
                self.log.error("%a could not be copied: %s", src, error)
                os.makedirs(dest, exist_ok=True)


def copy_regular(src: str, dest: Path) -> None:
    """Copy what marking would use: regular files that can be read, of ``MOST_BYTES`` and ``MOST_FILES`` in all; of a
    notebook that is larger so much that it is seen to be. Nothing is opened through a link, also where the student puts
    one in a file's place at this very moment. Raises OSError.
    """
    left, files = MOST_BYTES, MOST_FILES
    for folder, below, names, descriptor in os.fwalk(src, follow_symlinks=False):
        below.sort()
        place = dest / os.path.relpath(folder, src)
        for name in sorted(
            names, key=lambda name: (not name.endswith((".ipynb", ".answers.json", "timestamp.txt")), name)
        ):
            try:
                source = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=descriptor)
            except OSError:  # a link, or closed to us
                continue
            with open(source, "rb") as file:
                kind = os.fstat(source)
                if not stat.S_ISREG(kind.st_mode) or not files or (kind.st_size > left and not name.endswith(".ipynb")):
                    continue
                place.mkdir(parents=True, exist_ok=True)
                data = file.read(MOST_BYTES + 1)
            (place / name).write_bytes(data)
            left, files = left - min(len(data), left), files - 1
