"""A case of the tuning game as a page can play it: the game itself works out every hand-in, from its rules or a recording, while the
book is built. The page shows what belongs to the setting and the bet; it counts nothing and keeps nothing.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from dataclasses import replace

from course.cards.offline_words import words
from course.game import cases, view
from course.game.cases import Case
from course.i18n import both, pick, speaking, t
from course.learning.log import answer_log
from course.learning.marking import CONFIDENCE
from course.lessons.l10_tuning_master import game, tuning, tuning_view
from course.lessons.l10_tuning_master.tuning import Attempt, Bet, Plan
from course.lessons.l10_tuning_master.tuning_player import Measured, Tuning
from course.markup import inline
from grader.book.clean import STYLE

LESSON = "10_tuning_master"
ASK = both("🎲 Your bet on this setting", "🎲 你押这套设置会怎样")
SURE = both("How sure are you? Your choice hands the setting in.", "你有多大把握？点一个就交方案。")
HERE = both(
    "📼 In this page you hand in at once, and a recording or the rules decide; nothing is counted. "
    "In the notebook you measure first, on your own machine, and it counts:",
    "📼 在网页上直接交方案，由录制或规则来判，不计分。在 notebook 里先在自己的机器上测量，而且计分：",
)
FIRST = both(
    "That is what runs today. It may well be right: try one other setting first.",
    "这就是现在的设置。也许真的不用动，不过先试一套别的。",
)
TODAY = both("today", "现在")


def case_html(identity: str, code: str) -> str:
    """A case to play in the page; empty where the game asks for more than a choice, or nothing is recorded."""
    case = cases.find(identity)
    if case.lesson != LESSON:
        return ""
    with speaking(code):
        whole = tuning.plan_of(case)
        found = Measured(tuning.ruled(whole), "rule") if whole.rules else game.recorded(case)
        plan = tuning.as_played(whole, found.outcomes)
        play = Tuning(case, answer_log(), plan=plan)
        ends = "".join(_hand_in(play, name, found) for name in found.outcomes)
        ticket = view.head_html(case) + view.ticket_html(replace(case, evidence=found.evidence))
        return (
            f'<section class="tbq tbg book-case">{ticket}<p>{inline(pick(HERE))} <code>{case.call}</code></p>'
            f'{_panel(plan, code)}<div role="status" class="book-end" tabindex="-1"></div>{ends}{_after(case)}</section>'
        )


def _panel(plan: Plan, code: str) -> str:
    """The form: a row of choices for each control, the bet, how sure."""
    rows = "".join(
        _choice(
            one.id,
            pick(one.name),
            {name: pick(text) for name, text in one.values.items()},
            plan.today[one.id],
            pick(one.says),
        )
        for one in plan.controls
    )
    rows += _choice("bet", pick(ASK), {name: pick(text) for name, text in plan.bets().items()})
    levels = "".join(
        f'<button type="button" data-level="{level}">{pick(text)}</button>' for level, text in CONFIDENCE.items()
    )
    said = {"nothing": words()[code]["choose_first"], "today": pick(FIRST)}
    said_data = " ".join(f'data-{name}="{html.escape(text, quote=True)}"' for name, text in said.items())
    return f'<form {said_data}>{rows}<p>{pick(SURE)}</p><div class="book-levels">{levels}</div></form>'


def _choice(name: str, head: str, values: dict[str, str], today: str = "", says: str = "") -> str:
    note = f"<p><small>{inline(says)}</small></p>" if says else ""
    shown = "".join(
        f'<label><input type="radio" name="{name}" value="{value}"{" checked" if value == today else ""}> {inline(text)}'
        f"{view.aside(pick(TODAY)) if value == today else ''}</label>"
        for value, text in values.items()
    )
    return f"<fieldset><legend>{inline(head)}</legend>{note}{shown}</fieldset>"


def _hand_in(play: Tuning, name: str, found: Measured) -> str:
    """What is seen after this setting was handed in; of its sentences about bets, the page shows one."""
    plan, evidence = play.plan, {"evidence": found.evidence, "machine": found.machine}
    config, today = tuning.config_in(name), tuning.key(plan.today)
    handed = Bet(config, "", 1, found.outcomes[name], evidence)
    attempt = Attempt((), handed, found.outcomes, (), 0)
    lines = [f"<p>{inline(line)}</p>" for line in tuning_view.result_lines(play, attempt)]
    lines[1:1] = (
        _bets(plan, handed, tuning.came_out(plan, handed.outcome, found.outcomes[today])) if name != today else []
    )
    picture = tuning_view.table_html(play, attempt)[1] + f"<p><small>{tuning_view.origin_words(evidence)}</small></p>"
    mark = " data-today" if name == today else ""
    return f"<template data-config='{html.escape(json.dumps(config))}'{mark}>{''.join(lines)}{picture}</template>"


def _bets(plan: Plan, handed: Bet, came: str | None) -> Iterator[str]:
    for bet in plan.bets():
        for level in CONFIDENCE:
            said = tuning_view.bet_words(plan, replace(handed, bet=bet, confidence=level), came)
            yield f'<p hidden data-bet="{bet} {level}">{inline(said)}</p>'


def _after(case: Case) -> str:
    """What is asked and told after the hand-in: the cause, each answer with its reason behind it, and why."""
    answers = "".join(
        _folded(f"{one.id}) {inline(pick(one.text))}", f"<p>{'✓' if one.right else '✗'} {inline(pick(one.why))}</p>")
        for one in case.cause.answers
    )
    why = _folded(
        t("Why, and when the advice holds", "为什么，以及建议何时成立"),
        "".join(f"<p>{inline(line)}</p>" for line in view.debrief_lines(case)),
    )
    return f'<div class="book-after" hidden><h4>💡 {inline(pick(case.cause.stem))}</h4>{answers}{why}</div>'


def _folded(head: str, body: str) -> str:
    return f"<details><summary>{head}</summary>{body}</details>"


def styles() -> str:
    """The look of the games."""
    return "".join(STYLE.findall(view.STYLE))
