"""What marking says to a student: the sentences of ``said.yaml``, both languages side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from course.core.i18n import LANGUAGES, Text
from grader.project import read_yaml

SAID: dict[str, dict[str, dict[str, str]]] = read_yaml(Path(__file__).with_name("said.yaml"))


def say(what: str, /, **values: Any) -> Text:
    """A sentence in both languages: ``say("held.other-paper", other="eve", student="ada")``. A value may be a text in both, too."""
    section, _, name = what.partition(".")
    return _filled(SAID[section][name], values)


def beside(module: str) -> Callable[..., Text]:
    """The same for the sentences of ``report.yaml`` beside a module of tasks. module: its ``__file__``."""
    said = read_yaml(Path(module).with_name("report.yaml"))
    return lambda name, /, **values: _filled(said[name], values)


def _filled(text: Mapping[str, str], values: Mapping[str, Any]) -> Text:
    def own(code: str) -> dict[str, Any]:
        return {key: value[code] if isinstance(value, Mapping) else value for key, value in values.items()}

    return {code: text[code].format(**own(code)) for code in LANGUAGES}
