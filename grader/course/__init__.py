"""A course directory: make it (``init``) and open it (``Course``). Its folders have nbgrader's layout."""

from __future__ import annotations

import os
import re
import secrets
import shlex
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.course.nbgrader_config import FILE
from grader.project import HERE, Infrastructure, Project, ProjectError, name_of, notebook_in
from grader.project.files import unlock
from grader.project.names import fault, groups

if TYPE_CHECKING:
    from nbgrader.api import Gradebook
    from nbgrader.apps.api import NbGraderAPI

PRIVATE = ("source", "release", "submitted", "autograded", "feedback")  # students may have accounts on this machine
OURS = "grader.project.Infrastructure: "


def init(
    root: Path,
    language: str = "en",
    course_id: str = "torch-backends",
    exchange: Path | None = None,
    project: Project | None = None,
    timezone: str = "UTC",
) -> list[str]:
    """Make a course directory, or complete one without overwriting a file. Returns sentences about what was done.

    timezone: in which dates are read and shown. Raises ProjectError for one that is not known.
    """
    from grader.project import dates

    root, zone = root.resolve(), dates.known(timezone)
    (exchange or root / "exchange").mkdir(parents=True, exist_ok=True)
    root.mkdir(parents=True, exist_ok=True)
    for name in PRIVATE:
        (root / name).mkdir(mode=0o700, exist_ok=True)
    secret = root / "marking_secret"
    for name in (secret.name, "gradebook.db"):
        (root / name).touch(mode=0o600)
    said = []
    config = root / "nbgrader_config.py"
    if config.exists():
        said.append(f"kept {config}: language, course id, exchange and time zone stay as they are there")
    else:
        config.write_text(
            FILE.format(
                checkout=str(HERE),
                language=language,
                course_id=course_id,
                exchange=str(exchange.resolve()) if exchange else None,
                project_root=str(project.root) if project else None,
                timezone=zone,
            ),
            encoding="utf-8",
        )
        said.append(f"wrote {config}; dates are in the time zone {zone}")
    if not secret.stat().st_size:
        secret.write_bytes(secrets.token_bytes(32))
        said.append(f"wrote {secret}: hidden inputs are drawn with it; keep it to yourself")
    return said


class Course:
    """An opened course directory. Raises ProjectError where ``root`` is not a course directory."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        if not (self.root / "nbgrader_config.py").exists():
            raise ProjectError(f"{self.root} is no course directory; make one with `python -m grader init {root}`")
        tools = str(Path(sys.executable).parent)  # nbgrader calls alembic and jupyter by name
        if tools not in os.environ.get("PATH", "").split(os.pathsep):
            os.environ["PATH"] = os.pathsep.join([tools, os.environ.get("PATH", "")])

    @cached_property
    def config(self) -> Any:
        from traitlets.config import PyFileConfigLoader

        try:
            return PyFileConfigLoader("nbgrader_config.py", path=str(self.root)).load_config()
        except Exception as error:  # it is Python, written by hand
            said = f"{type(error).__name__}: {error}"
            raise ProjectError(f"{self.root / 'nbgrader_config.py'} cannot be read: {said}") from error

    @cached_property
    def api(self) -> NbGraderAPI:
        from nbgrader.apps.api import NbGraderAPI
        from nbgrader.coursedir import CourseDirectory

        return NbGraderAPI(CourseDirectory(config=self.config), config=self.config)

    @property
    def project(self) -> Project:
        return Project(Path(self.config.CourseStep.project_root), own=self.root / "checkpoints")

    @property
    def language(self) -> str:
        return self.config.CourseStep.course_language

    @property
    def timezone(self) -> str:
        """The time zone in which dates are read and shown."""
        return self.config.CourseStep.course_timezone

    @property
    def gradebook(self) -> Gradebook:
        """A new connection to the gradebook; use it in a ``with`` block."""
        return self.api.gradebook

    def submitted(self, lesson: str) -> list[str]:
        """The students whose submission of a checkpoint was collected, or that of their group."""
        there = {name for name in self._handed_in(lesson) if fault(name) is None}
        return sorted(there | {one for one, group in groups(self.root, lesson).items() if there & {*group}})

    def nobodys(self, lesson: str) -> list[str]:
        """The folders with a submission whose names are not allowed as names of students."""
        return [name for name in self._handed_in(lesson) if fault(name) is not None]

    def _handed_in(self, lesson: str) -> list[str]:
        """The folders with a submission, and those that cannot be read, so that they are reported."""
        found = []
        for folder in (self.root / "submitted").glob("*"):
            if folder.is_dir():
                unlock(folder)
                if os.path.lexists(folder / lesson) or not os.access(folder, os.R_OK | os.X_OK):
                    found.append(folder.name)
        return sorted(found)

    def autograded(self, student: str, lesson: str) -> Path:
        return self.root / "autograded" / student / lesson / f"{name_of(lesson)}.ipynb"


def command(words: str, root: Path) -> str:
    """The command line ``python -m grader WORDS`` for this course directory, in back quotes, for use in the present folder."""
    return f"`python -m grader {words} --dir {shlex.quote(min(str(root), os.path.relpath(root), key=len))}`"


def released_text(root: Path, lesson: str) -> str:
    """The text of the released checkpoint. Raises Infrastructure where it was not released."""
    path = notebook_in(root, "release", lesson)
    if not path.exists():
        raise Infrastructure(f"{path} is missing; run {command('release ' + lesson, root)} first")
    return path.read_text(encoding="utf-8")


def done(result: dict, what: str) -> dict:
    """Return the result of an API call of nbgrader. Raises ProjectError with the last lines of its log if it failed."""
    if not result["success"]:
        raise ProjectError(f"{what} did not work: {why(result)}")
    return result


def why(result: dict) -> str:
    """The reason in the log of a failed API call: the last exception it names, else its last line."""
    lines = [line.strip() for line in f"{result.get('log') or ''}\n{result.get('error') or ''}".split("\n")]
    named = [
        line
        for line in lines
        if re.match(r"[\w.]*(Error|Exception|Infrastructure|MissingEntry): \S", line)
        and not line.startswith("nbgrader.converters.base.NbGraderException")
    ]
    return (named or [line for line in lines if line] or ["no reason was given"])[-1].removeprefix(OURS)
