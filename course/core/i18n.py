"""Which language the learner reads: every text of the course exists in English and Simplified Chinese.

A text is either a plain string (the same in both languages, such as code) or a mapping
``{"en": ..., "zh": ...}``. Nothing here imports torch, numpy or ipywidgets.
"""

from __future__ import annotations

import locale
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from course.core import home
from course.core.home import replace_file

LANGUAGES = ("en", "zh")
Text = str | Mapping[str, str]

_current = ""  # not asked for yet


def html_language() -> str:
    """The language in use as HTML names it."""
    return {"zh": "zh-CN"}.get(language(), language())


def language() -> str:
    """The language in use now, ``"en"`` or ``"zh"``; at first the one that this process was asked for, or else English."""
    global _current
    if not _current:
        _current = next((one for one in wishes() if one in LANGUAGES), "en")
    return _current


def set_language(code: str) -> str:
    """Use ``"en"`` or ``"zh"`` from now on and return it.

    Raises ValueError, in both languages, for any other code.
    """
    global _current
    if code not in LANGUAGES:
        raise ValueError(f'The course speaks "en" and "zh", not {code!r}. / 课程支持 "en" 和 "zh"，没有 {code!r}。')
    _current = code
    return code


@contextmanager
def speaking(code: str) -> Iterator[None]:
    """Use a language inside a ``with`` block, then the one from before again. Raises ValueError like
    ``set_language``.
    """
    before = language()
    set_language(code)
    try:
        yield
    finally:
        set_language(before)


def pick(text: Text, code: str | None = None) -> str:
    """The string of ``text`` in the language ``code`` (default: the one in use)."""
    return text if isinstance(text, str) else text[code or language()]


def t(en: str, zh: str) -> str:
    """One short user-interface string, written in both languages where it is used."""
    return zh if language() == "zh" else en


def both(en: str, zh: str) -> dict[str, str]:
    """A text that is stored now and picked later."""
    return {"en": en, "zh": zh}


# --- the language a new process starts with: COURSE_LANGUAGE, else the learner's last choice, else the system's ---

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
