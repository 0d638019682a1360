"""The style sheets of the course: ``theme.css`` holds every colour, a file beside each surface's code the rest of its look."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

THEME = Path(__file__).with_name("theme.css")


@cache
def css(*files: Path) -> str:
    """``theme.css``, then these files, as one style sheet without comments: every output of a saved notebook carries it."""
    return re.sub(
        r"/\*.*?\*/\s*|(?<=[{}])\n+", "", "".join(file.read_text("utf-8") for file in (THEME, *files)), flags=re.S
    )


COLOURS: dict[str, tuple[str, str]] = {
    name: (light, dark)
    for name, light, dark in re.findall(r"--p-([a-z]+):light-dark\((#[0-9a-f]{6}),(#[0-9a-f]{6})\)", css())
}
"""name of a colour -> how it is written on light and on dark paper."""
