"""A hands-on course on torch.backends: live experiments, bets, flashcards.

``from course import *`` brings the verbs of the notebooks. Nothing heavy is loaded until a verb needs it.
"""

from __future__ import annotations

import importlib
from typing import Any

from course.version import __version__ as __version__

VERBS = (
    "answer",
    "bets",
    "board",
    "case",
    "cheat_sheet",
    "check",
    "checkpoint",
    "explain",
    "export_progress",
    "finish",
    "hint",
    "i_am",
    "import_progress",
    "interview",
    "keep",
    "language",
    "lesson",
    "observe",
    "passport",
    "poster",
    "predict",
    "progress",
    "question",
    "review",
    "share",
    "solution",
    "take_home",
    "what",
)
__all__ = list(VERBS)


def __getattr__(name: str) -> Any:
    if name in VERBS:
        return getattr(importlib.import_module("course.verbs"), name)
    raise AttributeError(f"module 'course' has no attribute {name!r}; the verbs are {', '.join(VERBS)}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
