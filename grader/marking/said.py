"""What marking says to a student: the sentences of ``said.yaml``, both languages side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from course.core.i18n import Text
from grader.project import filled, read_yaml

SAID: dict[str, dict[str, dict[str, str]]] = read_yaml(Path(__file__).with_name("said.yaml"))


def say(what: str, **values: Any) -> Text:
    """A sentence in both languages: ``say("held.other-paper", other="eve", student="ada")``. A value may be a text in both, too."""
    section, _, name = what.partition(".")
    return filled(SAID[section][name], values)
