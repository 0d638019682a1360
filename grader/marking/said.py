"""What marking says to a student: the sentences of ``said.yaml``, both languages side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from course.core.i18n import Text
from grader.project import filled, read_yaml

SAID: dict[str, dict[str, dict[str, str]]] = read_yaml(Path(__file__).with_name("said.yaml"))


def say(what: str, /, **values: Any) -> Text:
    """A sentence in both languages: ``say("held.other-paper", other="eve", student="ada")``. A value may be a text in both, too."""
    section, _, name = what.partition(".")
    return filled(SAID[section][name], values)


def beside(module: str) -> Callable[..., Text]:
    """The same for the sentences of ``report.yaml`` beside a module of tasks. module: its ``__file__``."""
    said = read_yaml(Path(module).with_name("report.yaml"))
    return lambda name, /, **values: filled(said[name], values)


# --- the word for what happened to a submission ---

WORDS = SAID["verdict"]
LEGEND = (
    "ok: marked, and nobody needs to look at it. pending: a text waits for your points. look: read its line and decide. Every "
    "other word says what went amiss in the work; its marks count."
)
OF_KERNEL = {"died": "killed", "memory": "memory", "stuck": "timeout", "flood": "output"}  # Ran.ended -> word


def gravest(words: Iterable[str]) -> str:
    """The gravest of these words; ``ok`` where there is none."""
    order = list(WORDS)
    return max((word for word in words if word in WORDS), key=order.index, default="ok")
