"""The steps of a case in a page: one chooses and sees what was worked out for the choice while the book was built; the right choice
opens what comes next.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

from course.cards.offline_words import words
from course.game import view
from course.game.cases import Case
from course.i18n import Text, language, pick, t
from course.markup import inline


@dataclass(frozen=True)
class Choice:
    """One answer button: its label and the HTML shown after the press; right: whether it leads to the next step."""

    label: str
    said: str
    right: bool


def section(case: Case, ticket: str, here: Text, body: str) -> str:
    """A case. here: what is different in a page, before the call that opens the case in a notebook."""
    head = f"{view.head_html(case)}{ticket}<p>{inline(pick(here))} <code>{case.call}</code></p>"
    return f'<section class="tbq tbg book-case">{head}{body}</section>'


def step(head: str, button: str, choices: Sequence[Choice], after: str, look: str = "") -> str:
    """One step. head, button: words with marks; after: HTML that the right choice opens; look: a class of the list."""
    rows = "".join(
        f'<label><input type="radio" name="choice" value="{place}"> <span>{one.label}</span></label>'
        for place, one in enumerate(choices)
    )
    ends = "".join(
        f'<template data-choice="{place}"{" data-right" if one.right else ""}>{one.said}</template>'
        for place, one in enumerate(choices)
    )
    nothing = html.escape(words()[language()]["choose_first"], quote=True)
    return (
        f'<div class="book-step"><form data-nothing="{nothing}"><fieldset class="{look}"><legend>{inline(head)}</legend>{rows}</fieldset>'
        f'<div class="book-levels"><button>{inline(button)}</button></div></form>'
        f'<div role="status" class="book-end" tabindex="-1"></div>{ends}<div class="book-after" hidden>{after}</div></div>'
    )


def cause(case: Case, after: str) -> str:
    """The question about the cause; each answer with its reason. after: as in ``step``."""
    choices = [
        Choice(inline(pick(one.text)), f"<p><b>{view.cause_said(one.right)}</b> {inline(pick(one.why))}</p>", one.right)
        for one in case.cause.answers
    ]
    return step(f"💡 {pick(case.cause.stem)}", view.cause_button(), choices, after)


def why(case: Case) -> str:
    """What is told at the end."""
    head = t("Why, and when the advice holds", "为什么，以及建议何时成立")
    lines = "".join(f"<p>{inline(line)}</p>" for line in view.debrief_lines(case))
    return f"<h4>{head}</h4>{lines}"
