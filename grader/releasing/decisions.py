"""The instructor's decisions on questions that were added after the first submission (``releases/decisions.json``)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from grader.project import ProjectError

COUNTS = ("nobody", "from-now", "all")  # for whom a question counts that comes after the first submission


def read(root: Path, lesson: str) -> dict[str, Any]:
    """The decisions for one checkpoint. "nobody": graded cells that count for nobody. "excused": graded cell -> students who
    submitted before this question existed. "held": whether the release is prepared but not handed out yet.
    """
    return {"nobody": [], "excused": {}, "held": False, **_all(root).get(lesson, {})}


def write(root: Path, lesson: str, decided: dict[str, Any]) -> None:
    """Write the decisions for one checkpoint; those for the others stay."""
    path = _path(root)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    fresh = path.with_name(path.name + ".new")
    fresh.write_text(json.dumps({**_all(root), lesson: decided}, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    os.replace(fresh, path)


def held(root: Path) -> set[str]:
    """The checkpoints that are prepared but not handed out: they are neither in the exchange nor in a bundle."""
    return {lesson for lesson, decided in _all(root).items() if decided.get("held")}


def _all(root: Path) -> dict[str, Any]:
    path = _path(root)
    try:
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except ValueError:
        raise ProjectError(
            f"{path} is not readable as JSON; put it back from a copy, or delete it and decide again"
        ) from None


def _path(root: Path) -> Path:
    return root / "releases" / "decisions.json"
