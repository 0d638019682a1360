"""The command ``grader``: a small script in the virtual environment, which remembers the course directory used last.

The wheel contains ``course`` alone, so it cannot have an entry point for this package; the script names the checkout instead.
"""

from __future__ import annotations

import os
import shlex
import stat
import sys
from pathlib import Path

from course.home import folder
from grader.project import HERE

PROGRAM = "COURSE_GRADER_PROGRAM"  # how this process was started, said by the script


def program() -> str:
    """How to call a command: ``grader`` if that script started this process, else ``python -m grader``."""
    return os.environ.get(PROGRAM, "python -m grader")


def install() -> Path | None:
    """Write the script into this virtual environment; returns its path, None where there is no such folder or it cannot be
    written.
    """
    place = Path(sys.executable).parent
    if sys.prefix == sys.base_prefix:
        return None
    if os.name == "nt":
        target = place / "grader.cmd"
        text = f'@echo off\r\nset "PYTHONPATH={HERE};%PYTHONPATH%"\r\nset "{PROGRAM}=grader"\r\n"{sys.executable}" -m grader %*\r\n'
    else:
        target = place / "grader"
        text = (
            f"#!/bin/sh\nPYTHONPATH={shlex.quote(str(HERE))}${{PYTHONPATH:+:$PYTHONPATH}} {PROGRAM}=grader "
            f'exec {shlex.quote(sys.executable)} -m grader "$@"\n'
        )
    try:
        if not target.exists() or target.read_bytes() != text.encode():
            target.write_bytes(text.encode())
            target.chmod(target.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    except OSError:
        return None
    return target


def is_course(root: Path) -> bool:
    """Whether a folder is a course directory."""
    return (root / "nbgrader_config.py").is_file()


def _memory() -> Path:
    return folder() / "course_directory"


def remember(root: Path) -> None:
    """Store this course directory as the one to use where none is named. Does nothing if that cannot be written."""
    path, said = _memory(), f"{root.resolve()}\n"
    try:
        if not path.exists() or path.read_text(encoding="utf-8") != said:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(said, encoding="utf-8")
    except OSError:
        pass


def remembered() -> Path | None:
    """The course directory used last, if it is still there."""
    try:
        root = Path(_memory().read_text(encoding="utf-8").strip())
    except OSError:
        return None
    return root if is_course(root) else None
