"""The pages a verb shows (progress, finish, passport): tables, bars, lists; their look is in ``page.css``.

A state is always in words; colour and bars repeat it.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from pathlib import Path

from course.core.i18n import t
from course.core.look import css

CSS = Path(__file__).with_name("page.css")


def page(title: str, *blocks: str) -> str:
    """The whole page."""
    return f'<style>{css(CSS)}</style><div class="tbp"><h3>{html.escape(title)}</h3>{"".join(blocks)}</div>'


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], label: str) -> str:
    """A table; cells are HTML, the first of each row names the row. label: its name for screen readers."""
    head = "".join(f'<th scope="col">{html.escape(one)}</th>' for one in heads)
    names = [html.escape(one + t(": ", "："), quote=True) for one in heads]
    body = ""
    for row in rows:
        cells = (f'<td data-label="{name}">{cell}</td>' for name, cell in zip(names[1:], row[1:], strict=True))
        body += f'<tr><th scope="row">{row[0]}</th>{"".join(cells)}</tr>'
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{html.escape(label, quote=True)}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def listing(title: str, lines: Sequence[str]) -> str:
    """A headed list; nothing without lines. lines: HTML."""
    if not lines:
        return ""
    return f"<h4>{html.escape(title)}</h4><ul>{''.join(f'<li>{line}</li>' for line in lines)}</ul>"
