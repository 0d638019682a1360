"""The two marks allowed in question texts, `code` and **bold**, turned into HTML or plain text.

All else is escaped.
"""

from __future__ import annotations

import html
import re

NO_BREAK = "\u00a0" * 8  # pushes the words of a small button out of sight; a screen reader still reads them
_CODE = re.compile(r"`([^`]+)`")
_BOLD = re.compile(r"\*\*(.+?)\*\*", re.S)
_ADDRESS = re.compile(r"https://(?:[\w./#?=%~+@:-]|&amp;)*[\w/]", re.A)
_STAND_IN = re.compile("\0(\\d+)\0")


def inline(text: str) -> str:
    """HTML of one run of text: escaped, with code spans, bold and addresses; bold may hold code, code holds no marks.

    An address (https://...) is a link.
    """
    bare, codes = _without_code(html.escape(text, quote=True))
    bare = _ADDRESS.sub(lambda found: link(html.unescape(found[0]), found[0]), bare)
    return _with_code(_BOLD.sub(r"<strong>\1</strong>", bare), [f"<code>{code}</code>" for code in codes])


def link(address: str, face: str) -> str:
    """A link that opens beside the notebook. face: HTML."""
    return f'<a href="{html.escape(address, quote=True)}" target="_blank" rel="noopener">{face}</a>'


def _without_code(text: str) -> tuple[str, list[str]]:
    """The text with a numbered stand-in for each code span, and the spans."""
    codes = _CODE.findall(text)
    numbers = iter(range(len(codes)))
    return _CODE.sub(lambda _: f"\0{next(numbers)}\0", text), codes


def _with_code(text: str, codes: list[str]) -> str:
    return _STAND_IN.sub(lambda found: codes[int(found[1])], text)


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
    """The text without marks, for button names and terminals; a line of code keeps the spaces it starts with."""
    bare, codes = _without_code(text.strip())
    return _with_code(_BOLD.sub(r"\1", bare), codes).rstrip()
