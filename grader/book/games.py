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
from course.i18n import both, pick, speaking
from course.learning.marking import CONFIDENCE
from course.lessons.l10_tuning_master import game, tuning_outcome, tuning_plan, tuning_view
from course.lessons.l10_tuning_master.tuning_attempt import Attempt, Bet
from course.lessons.l10_tuning_master.tuning_outcome import Table
from course.lessons.l10_tuning_master.tuning_plan import Plan
from course.lessons.l10_tuning_master.tuning_player import Measured
from course.markup import inline
from grader.book import hunting, steps
from grader.book.clean import STYLE
from grader.book.hunting import Witness

ASK = both("🎲 Your bet on this setting", "🎲 你押这套设置会怎样")
SURE = both("How sure are you? Your choice hands the setting in.", "你有多大把握？点一个就交方案。")
HERE = both(
    "📼 On this page you hand in at once, and a recording or the rules decide; nothing is counted. "
    "In the notebook you measure first, on your own machine, and it counts:",
    "📼 在网页上直接交方案，由录好的结果或规则来判，不计分。在 notebook 里先在自己的机器上测量，而且计分：",
)
FIRST = both(
    "That is what runs today. It may well be right: try one other setting first.",
    "这就是现在的设置。也许真的不用动，不过先试一套别的。",
)
TODAY = both("today", "现在")


def case_html(identity: str, code: str, witness: Witness) -> str:
    """A case to play in the page. witness: of the scripts of a hunt."""
    case = cases.find(identity)
    if case.lesson == hunting.LESSON:
        return hunting.case_html(case, code, witness)
    with speaking(code):
        whole = tuning_plan.plan_of(case)
        found = Measured(tuning_outcome.ruled(whole), "rule") if whole.rules else game.recorded(case)
        plan = tuning_plan.as_played(whole, found.outcomes)
        table = Table(plan, found.outcomes)
        ends = "".join(_hand_in(table, name, found) for name in found.outcomes)
        after = steps.cause(case, steps.why(case))
        end = f'<div role="status" class="book-end" tabindex="-1"></div>{ends}<div class="book-after" hidden>{after}</div>'
        ticket = view.ticket_html(replace(case, evidence=found.evidence))
        return steps.section(case, ticket, HERE, f'<div class="book-panel">{_panel(plan, code)}{end}</div>')


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
        f'<label><input type="radio" name="{name}" value="{value}"{" checked" if value == today else ""}> <span>{inline(text)}'
        f"{view.aside(pick(TODAY)) if value == today else ''}</span></label>"
        for value, text in values.items()
    )
    return f"<fieldset><legend>{inline(head)}</legend>{note}{shown}</fieldset>"


def _hand_in(table: Table, name: str, found: Measured) -> str:
    """What is seen after this setting was handed in; of its sentences about bets, the page shows one."""
    config, evidence = tuning_plan.config_in(name), {"evidence": found.evidence, "machine": found.machine}
    outcome, today = table.outcomes[name], table.outcomes[table.today]
    handed = Bet(config, "", 1, outcome, today, table.came_out(name), evidence)
    attempt = Attempt((), handed, table, (), 0)
    lines = [f"<p>{inline(line)}</p>" for line in tuning_view.result_lines(attempt)]
    lines[1:1] = _bets(table.plan, handed) if name != table.today else []
    picture = tuning_view.table_html(attempt)[1] + f"<p><small>{tuning_view.origin_words(evidence)}</small></p>"
    mark = " data-today" if name == table.today else ""
    return f"<template data-config='{html.escape(json.dumps(config))}'{mark}>{''.join(lines)}{picture}</template>"


def _bets(plan: Plan, handed: Bet) -> Iterator[str]:
    for bet in plan.bets():
        for level in CONFIDENCE:
            said = tuning_view.bet_words(plan, replace(handed, bet=bet, confidence=level))
            yield f'<p hidden data-bet="{bet} {level}">{inline(said)}</p>'


def styles() -> str:
    """The look of the games."""
    return "".join(STYLE.findall(view.STYLE))
