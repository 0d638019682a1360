"""The language a new process starts with: COURSE_LANGUAGE, else the learner's last choice, else that of the system."""

from __future__ import annotations

import locale
import os
from contextlib import suppress

from course.core import home
from course.core.files import replace_file

FILE = "language"
"""Where the learner's last choice stands, in the learner's folder."""
SAYS_SO = ("LC_ALL", "LC_MESSAGES", "LANG")
"""Environment variables with the language of the system; Windows has none."""


def wishes() -> list[str]:
    """Language codes in order of preference, such as ["zh", "en"]; some may be no language of the course."""
    system = next(filter(None, map(os.environ.get, SAYS_SO)), "") or locale.setlocale(locale.LC_CTYPE)
    system = system.replace("Chinese", "zh")  # as Windows has it: Chinese (Simplified)_China.936
    return [os.environ.get("COURSE_LANGUAGE", ""), _chosen_last(), system[:2].lower()]


def _chosen_last() -> str:
    try:
        return (home.folder() / FILE).read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def remember(code: str) -> None:
    """Keep the learner's choice for later processes. Where the folder cannot be written, the choice lasts for this process."""
    if _chosen_last() != code:
        with suppress(OSError):
            home.folder().mkdir(parents=True, exist_ok=True)
            replace_file(home.folder() / FILE, f"{code}\n".encode("ascii"))
