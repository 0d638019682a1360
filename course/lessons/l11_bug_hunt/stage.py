"""A script on stage: run in this process, which is a new one; and what a scene has to say of it.

Nothing here imports torch by itself: some scripts must be the first to do so.
"""

from __future__ import annotations

import importlib.util
import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from course.core.i18n import Text

MOST_PRINTED = 20_000
"""Characters a script may print; one that prints for ever is stopped there."""
NAME = "script"


class Missing(Exception):
    """The script lacks a name that the rest of its program uses."""


class TooMuch(Exception):
    """The script printed more than anybody would read."""


class Printed(io.StringIO):
    def write(self, text: str) -> int:
        if self.tell() + len(text) > MOST_PRINTED:
            raise TooMuch(f"it printed more than {MOST_PRINTED} characters")
        return super().write(text)


class Stage:
    """Where a scene runs its script. ``path``: the script's file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.script: ModuleType | None = None

    def run(self) -> ModuleType:
        """Import the script, which runs it, and give back its names. Raises whatever the script raises."""
        spec = importlib.util.spec_from_file_location(NAME, self.path)
        self.script = importlib.util.module_from_spec(spec)
        sys.modules[NAME] = self.script
        spec.loader.exec_module(self.script)
        return self.script

    def get(self, name: str) -> Any:
        """What the script calls by this name. Raises Missing."""
        if not hasattr(self.script, name):
            raise Missing(name)
        return getattr(self.script, name)


Facts = dict[str, Any]
"""What a scene saw, as JSON data."""


@dataclass(frozen=True)
class Scene:
    """watch(stage) -> facts, in the new process. told(facts): the symptom as it was seen, in one sentence. objection(facts): what
    still speaks against a repair, or None. innocence(as it is, as wished): why the facts of both scripts do not prove that nothing
    is wrong, or None where they do; only scenes of innocent scripts have it.
    """

    watch: Callable[[Stage], Facts]
    told: Callable[[Facts], Text]
    objection: Callable[[Facts], Text | None]
    innocence: Callable[[Facts, Facts], Text | None] | None = None
