"""The learner's folder, where answers, measured peaks and the like are kept; and how a file is written there, whole or not at all."""

from __future__ import annotations

import os
import tempfile
import time
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


# --- a file, whole or not at all ---

WAITS_S = (0.01, 0.05, 0.2, 0.5)
"""On Windows a file that something else reads cannot be replaced; a virus scanner or a cloud folder is done after a moment."""


def replace_file(path: Path, content: bytes) -> None:
    """Write ``content`` to ``path`` atomically.

    Raises OSError when the folder cannot be written; nothing is left.
    """
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        _put(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _put(name: str, path: Path) -> None:
    """`os.replace`, tried again while the file at `path` is held by somebody else."""
    for wait in WAITS_S:
        try:
            return os.replace(name, path)
        except PermissionError:
            time.sleep(wait)
    os.replace(name, path)
