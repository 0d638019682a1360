"""The one way in which a page is made of data: a Jinja2 template."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from course.core.i18n import pick
from course.core.look import css
from course.core.markup import inline


def render(
    template: Path, language: str, words: Mapping[str, Any] = {}, styles: tuple[Path, ...] = (), **values: Any
) -> str:
    """The text of a template (``.html``: escaped; others: as it is). In it ``words`` has those texts in the language, ``say(text)`` is a
    text with its marks as HTML, ``plain(text)`` the same as it is, ``table(columns, rows)`` a table in Markdown, ``code`` the
    language, ``lang`` its HTML name, ``css`` the theme and these style sheets.
    """
    environment = Environment(
        loader=FileSystemLoader(template.parent),
        autoescape=template.suffix == ".html",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(template.name).render(
        words={name: text[language] for name, text in words.items() if language in text},
        code=language,
        lang={"en": "en", "zh": "zh-Hans"}[language],
        css=Markup(css(*styles)) if styles else "",
        say=lambda text: Markup(inline(pick(text, language))),
        plain=lambda text: pick(text, language),
        table=_table,
        **values,
    )


def _table(columns: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in (columns, ["---"] * len(columns), *rows))
