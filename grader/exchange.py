"""Collecting through nbgrader's exchange, with every submission checked as it comes in."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from logging import Logger
from pathlib import Path

from nbgrader.exchange.default import ExchangeCollect
from traitlets import Unicode

from grader.intake import take_in
from grader.project import HERE, Project


class CollectChecked(ExchangeCollect):
    """``nbgrader collect`` that also takes in submissions without a notebook, which autograde would pass
    over.
    """

    project_root = Unicode(str(HERE), help="The checkout with the checkpoints").tag(config=True)

    def copy_files(self) -> None:
        super().copy_files()
        project, lesson = Project(Path(self.project_root)), self.coursedir.assignment_id
        if project.checkpoint_source(lesson).exists():
            for folder in sorted((Path(self.coursedir.root) / "submitted").glob(f"*/{lesson}")):
                reason = take_in(Path(self.coursedir.root), project, lesson, folder.parent.name)
                if reason is not None:
                    self.log.warning("%s: %s", folder.parent.name, reason["en"])

    def do_copy(self, src: str, dest: str, log: Logger | None = None) -> None:
        """Copy one submission: regular files only, because whoever hands in can link to what only the collector may
        read. One that cannot be copied leaves an empty folder, which is taken in as such, and ends no batch.
        """
        with tempfile.TemporaryDirectory(prefix="course-collect-") as room:
            regular = Path(room) / "submission"
            try:
                if os.path.islink(src):
                    raise OSError("it is a link")
                shutil.copytree(src, regular, ignore=_not_regular)
                super().do_copy(str(regular), dest, log)
            except (OSError, RuntimeError) as error:  # shutil.Error is an OSError
                self.log.error("%s could not be copied: %s", src, error)
                os.makedirs(dest, exist_ok=True)


def _not_regular(folder: str, names: list[str]) -> list[str]:
    """Links, pipes, devices, and what is gone or closed to us."""
    def regular(name: str) -> bool:
        path = os.path.join(folder, name)
        try:
            kind = os.lstat(path).st_mode
        except OSError:
            return False
        return (stat.S_ISREG(kind) or stat.S_ISDIR(kind)) and os.access(path, os.R_OK)

    return [name for name in names if not regular(name)]
