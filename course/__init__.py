"""A hands-on course on torch.backends: live experiments, bets, flashcards.

``from course import *`` brings the verbs of the notebooks. Nothing heavy is loaded until a verb needs it.
"""

from __future__ import annotations

import importlib
from typing import Any

from course.core.version import __version__ as __version__

VERBS = {
    verb: f"course.verbs.{module}"
    for module, verbs in {
        "bets": "bets",
        "checkpoints": "check_file checkpoint i_am question",
        "experiments": "explore observe",
        "games": "board case share",
        "interviewing": "interview",
        "keeping": "keep what",
        "lessons": "finish language lesson",
        "passport": "passport",
        "practice": "check hint solution",
        "progress": "export_progress import_progress progress",
        "questions": "answer explain predict review",
        "taking": "cheat_sheet poster take_home",
        "trying": "try_switches",
    }.items()
    for verb in verbs.split()
}
"""verb -> the module it is in"""
__all__ = sorted(VERBS)


def __getattr__(name: str) -> Any:
    if name in VERBS:
        return getattr(importlib.import_module(VERBS[name]), name)
    raise AttributeError(f"module 'course' has no attribute {name!r}; the verbs are {', '.join(__all__)}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
