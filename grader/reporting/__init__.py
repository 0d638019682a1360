"""The student's feedback page, and the instructor's report on a checkpoint. Their words stand in ``words.yaml``, in both languages."""

from __future__ import annotations

from pathlib import Path

from course.core.i18n import Text
from grader.project import read_yaml

TEXTS: dict[str, dict[str, Text]] = read_yaml(Path(__file__).with_name("words.yaml"))
