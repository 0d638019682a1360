"""Collecting through nbgrader's exchange, with every submission checked as it comes in."""

from __future__ import annotations

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
