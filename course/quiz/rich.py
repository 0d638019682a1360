"""The two marks allowed in question texts, `code` and **bold**, turned into HTML or plain text.

All else is escaped.
"""

from __future__ import annotations

import html
import re

NO_BREAK = "\u00a0" * 8  # pushes the words of a small button out of sight; a screen reader still reads them
_CODE = re.compile(r"`([^`]+)`")
_BOLD = re.compile(r"\*\*(.+?)\*\*", re.S)


def inline(text: str) -> str:
    """HTML of one run of text: escaped, with code spans and bold."""
    parts = _CODE.split(text)
    for place, part in enumerate(parts):
        escaped = html.escape(part, quote=True)
        parts[place] = f"<code>{escaped}</code>" if place % 2 else _BOLD.sub(r"<strong>\1</strong>", escaped)
    return "".join(parts)


def paragraphs(text: str) -> str:
    """HTML of a text in which blank lines part paragraphs."""
    blocks = [block.strip() for block in re.split(r"\n\s*\n", text.strip())]
    return "".join(f"<p>{inline(block)}</p>" for block in blocks if block)


def code_block(source: str, label: str = "") -> str:
    """HTML of source code, escaped; it can be reached and scrolled with the keyboard.

    label: what a screen reader calls it.
    """
    name = f' role="group" aria-label="{html.escape(label)}"' if label else ""
    return f'<pre tabindex="0"{name}><code>{html.escape(source.strip(chr(10)))}</code></pre>'


def plain(text: str) -> str:
    """The text without marks, for button names and terminals."""
    return _BOLD.sub(r"\1", _CODE.sub(r"\1", text)).strip()
