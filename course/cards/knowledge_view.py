"""A knowledge card as HTML. It turns at a press, needs no kernel, and is open in print.

The card is a ``details`` element, so it works by mouse and keyboard wherever HTML does: in JupyterLab, VS Code, Colab, in a
saved notebook, on the offline page and on paper.
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from pathlib import Path

from course.cards.render import in_language
from course.core.i18n import pick, t
from course.core.look import css
from course.core.markup import code_block, inline
from course.questions.knowledge import Knowledge

CSS = Path(__file__).with_name("knowledge.css")


def front_html(card: Knowledge) -> str:
    """The front: the name and the question."""
    return f"🎴 <b>{inline(pick(card.title))}</b><div>{inline(pick(card.asks))}</div>"


def back_html(card: Knowledge) -> str:
    """The back: what it is, default, how, when, when not, the code, where it is taught."""
    rows = "".join(f"<dt>{html.escape(name)}</dt><dd>{inline(text)}</dd>" for name, text in card.rows())
    number = card.lesson.split("_")[0]
    where = t(f"Lesson {number} · source: ", f"第 {number} 课 · 依据：")
    return (
        f"<dl>{rows}</dl>{code_block(pick(card.code), t('Code of the card', '卡片代码'))}"
        f"<p>{where}{inline(card.source)}</p>"
    )


def card_html(card: Knowledge) -> str:
    """The HTML of one knowledge card, without its style sheet."""
    words = (("turn", t("↻ Turn the card", "↻ 翻面")), ("back", t("↺ Turn it back", "↺ 翻回去")))
    turns = "".join(f'<em class="{name}" aria-hidden="true">{said}</em>' for name, said in words)
    return f"<details><summary>{front_html(card)}{turns}</summary><div>{back_html(card)}</div></details>"


def cards_html(cards: Iterable[Knowledge]) -> str:
    """The HTML of knowledge cards with their style sheet."""
    return f"<style>{css(CSS)}</style>" + in_language("".join(map(card_html, cards)), "tbk")
