"""The two marks allowed in question texts, `code` and **bold**, turned into HTML or plain text.

All else is escaped.
"""

from __future__ import annotations

import html
import re

NO_BREAK = "\u00a0" * 8  # pushes the words of a small button out of sight; a screen reader still reads them
_CODE, _BOLD = r"`([^`]+)`", r"\*\*((?:`[^`]+`|.)+?)\*\*"
_ADDRESS = r"(https://[A-Za-z0-9_./#?=%~+@:&-]*[A-Za-z0-9_/])"
_MARKS, _PLAIN = (re.compile("|".join(kinds), re.S) for kinds in ((_CODE, _BOLD, _ADDRESS), (_CODE, _BOLD)))


def inline(text: str) -> str:
    """HTML of one run of text: escaped, with code spans, bold and addresses; bold may hold code, code holds no marks.

    An address (https://...) is a link.
    """
    found, end = "", 0
    for mark in _MARKS.finditer(text):
        code, bold, address = mark.groups()
        found += html.escape(text[end : mark.start()])
        if code:
            found += f"<code>{html.escape(code)}</code>"
        else:
            found += f"<strong>{inline(bold)}</strong>" if bold else link(address, html.escape(address))
        end = mark.end()
    return found + html.escape(text[end:])


def link(address: str, face: str) -> str:
    """A link that opens beside the notebook. face: HTML."""
    return f'<a href="{html.escape(address, quote=True)}" target="_blank" rel="noopener">{face}</a>'


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
    return _PLAIN.sub(lambda found: found[1] or _PLAIN.sub(r"\1", found[2]), text.strip()).rstrip()
