"""Which checkpoints are prepared but not handed out (``releases/decisions.json`` of the course directory)."""

from __future__ import annotations

import json
from pathlib import Path

from grader.handin.files import replace
from grader.project import ProjectError


def held(root: Path) -> set[str]:
    """The checkpoints that are prepared but not handed out: they are neither in the exchange nor in a bundle. Raises ProjectError."""
    return {lesson for lesson, decided in _all(root).items() if decided.get("held")}


def hold(root: Path, lesson: str, holds: bool) -> None:
    """Write down whether a checkpoint is only prepared. Raises ProjectError."""
    if holds != (lesson in held(root)):
        data = {**_all(root), lesson: {"held": holds}}
        replace(root, _path(root), (json.dumps(data, indent=1) + "\n").encode())


def _all(root: Path) -> dict[str, dict]:
    path = _path(root)
    try:
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except ValueError:
        raise ProjectError(
            f"{path} is not readable as JSON; put it back from a copy, or delete it and release again what is out"
        ) from None


def _path(root: Path) -> Path:
    return root / "releases" / "decisions.json"
