"""The student's feedback page, and the instructor's report on a checkpoint. Their words stand in ``words.yaml``, in both languages."""

from __future__ import annotations

from pathlib import Path

from course.core.i18n import Text, pick
from grader.project import read_yaml

TEXTS: dict[str, dict[str, Text]] = read_yaml(Path(__file__).with_name("words.yaml"))


def words(page: str, language: str) -> dict[str, str]:
    """The words of one page in one language."""
    return {name: pick(text, language) for name, text in TEXTS[page].items()}
