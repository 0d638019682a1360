"""The learner's folder: where answers, measured peaks and the like are kept."""

from __future__ import annotations

import os
import tempfile
from functools import lru_cache
from pathlib import Path

from course.core import colab

NAME = "torch-backends-course"


def folder() -> Path:
    """$COURSE_HOME, else a folder in a mounted Google Drive (Colab), else one in the home folder.

    Without any home folder (HOME unset, user unknown to the system) it is in the folder Python started in.
    """
    if home := os.environ.get("COURSE_HOME"):
        return _expanded(home)
    if colab.DRIVE.is_dir():
        return colab.DRIVE / NAME
    return own_folder()


def own_folder() -> Path:
    """The one in the home folder."""
    return _expanded("~") / f".{NAME}"


@lru_cache(maxsize=1)
def _started_in() -> Path:
    try:
        return Path.cwd()
    except OSError:  # the folder was deleted meanwhile
        return Path(tempfile.gettempdir())


def _expanded(folder: str) -> Path:
    """The folder with ~ resolved; where that is impossible, the folder Python started in takes its place."""
    try:
        return Path(folder).expanduser()
    except RuntimeError:
        return _started_in() / folder.lstrip("~/")
