"""Long texts of a figure broken into lines; a Chinese character counts two columns."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Callable

Sentence = str | Callable[[], str]
"""A title, or a function that says it: called while the picture is drawn, so in the language of its labels."""


def wrap(text: Sentence, width: int = 84) -> str:
    """`text` broken into lines at most `width` columns wide; a Chinese character counts two columns."""
    text = text() if callable(text) else text
    return "\n".join(line for part in text.split("\n") for line in _balanced(part, width))


def _balanced(text: str, width: int) -> list[str]:
    """The fewest lines, about equally long."""
    best = _wrap_line(text, width)
    for narrower in range(width - 4, width // 2, -4):
        lines = _wrap_line(text, narrower)
        if len(lines) > len(best):
            break
        best = lines
    return best


def _wrap_line(text: str, width: int) -> list[str]:
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    if wide * 4 < len(text):
        return textwrap.wrap(text, width) or [""]
    lines, line, columns = [], "", 0
    for piece in re.findall(r"[!-~]+|.", text):
        size = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in piece)
        if columns + size > width and piece not in "，。；：！？）、” ":
            opening = line[-1:] if line.endswith(("（", "“")) else ""  # an opening mark goes with what it opens
            lines.append(line.removesuffix(opening).rstrip())
            line, columns = opening, 2 * len(opening)
        line, columns = line + piece, columns + size
    return [*lines, line]
