"""The ticket, the question about the cause and a closed case of all games, as HTML; text is made from it (``core.plain_text``)."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from course.cards.render import SHEET, foldable_head, in_language
from course.core.i18n import Text, pick, t
from course.core.markup import code_block, inline, link, paragraphs, plain
from course.core.units import format_points
from course.game.cases import Case, origin_said
from course.game.play import Play, Score

STYLE = f"{SHEET}<style>{(Path(__file__).parent / 'game.css').read_text('utf-8')}</style>"


def aside(words: str) -> str:
    """Words in brackets, behind others."""
    return t(f" ({words})", f"（{words}）")


def colon(name: str, words: str) -> str:
    """A name and what it stands for."""
    return t(f"{name}: {words}", f"{name}：{words}")


def source_words(source: Text) -> str:
    """A source in the language in use: lessons and experiments of the course have names in both."""
    words = pick(source)
    return t(words, re.sub(r"\blesson (\d\d)\b", r"第 \1 课", re.sub(r"\bexperiments? (?=\d)", "实验 ", words)))


def lines_html(lines: Iterable[str]) -> str:
    """Sentences with marks as paragraphs."""
    return "".join(f"<p>{inline(line)}</p>" for line in lines)


# --- ticket -------------------------------------------------------------------------------------------------


def head_html(case: Case, folded: bool | None = None, closed: bool = False) -> str:
    """Title and id, and a sentence that shows once the kernel is gone. folded: see ``render.foldable_head``."""
    dead = t(
        "The kernel was restarted. Run the notebook's first code cell, then this one: the case is as you left it.",
        "内核重启过。请先运行 notebook 的第一个代码单元格，再运行这一格，一切还是你离开时的样子。",
    )
    done = t("✓ closed", "✓ 已做完") if closed else ""
    line = foldable_head(title_html(case), inline(pick(case.client)), folded, done)
    return in_language(f'{line}<p class="tbq-dead">{dead}</p>')


def title_html(case: Case) -> str:
    return f"<h3>{case.icon} {html.escape(plain(pick(case.title)))}</h3><code>{case.id}</code>"


def ticket_html(case: Case, more: str = "", facts: Sequence[str] = ()) -> str:
    """Client, ticket, code, quotation, what counts. more: HTML of the game's own. facts: what else is to be known, with marks."""
    code = code_block(pick(case.commented(case.code)), t("What runs today", "现在跑的代码")) if case.code else ""
    quote = ""
    if case.quote:
        where = f" {link(case.quote.source, '↗')}" if case.quote.source[:4] == "http" else ""
        by = f"<small>{inline(pick(case.quote.by))}{where}</small>"
        quote = f"<blockquote><p>“{inline(pick(case.quote.text))}” {by}</p></blockquote>"
    counts = t("🎯 What counts: ", "🎯 看重的是：") + pick(case.wants)
    known = lines_html((counts, *facts, pick(origin_said(case))))
    return in_language(
        f'<p class="tbg-client">{inline(pick(case.client))}</p>'
        f'<div class="tbq-stem">{paragraphs(pick(case.ticket))}</div>{code}{quote}{more}<div class="tbg-facts">{known}</div>'
    )


def hints_html(play: Play) -> str:
    """The hints opened so far."""
    return lines_html(f"💡 {pick(text)}" for text in play.opened_hints())


# --- the cause ----------------------------------------------------------------------------------------------


def cause_said(found: bool) -> str:
    """What to say of the last answer about the cause."""
    return t("🎯 Yes.", "🎯 对，就是它！") if found else t("🕳️ Not this one; have another go.", "🕳️ 不是这个，再想想。")


def whys_html(play: Play) -> str:
    """What was tried explains itself; once the cause is found, every answer does."""
    tried, found = play.attempt.causes, play.attempt.cause_found
    shown = [one for one in play.case.cause.options if found or one.id in tried]
    return "".join(f"<p><b>{one.id}</b> {inline(pick(one.why))}</p>" for one in shown)


def cause_html(play: Play) -> str:
    """The question about the cause with what was answered, and how to answer by typing."""
    tried, found, rows = play.attempt.causes, play.attempt.cause_found, ""
    for one in play.case.cause.options:
        mark = ("✓ " if one.correct else "✗ ") if found or one.id in tried else ""
        rows += f"<li><b>{one.id})</b> {mark}{inline(pick(one.text))}</li>"
    said = f"<p>{cause_said(found)}</p>" if tried else ""
    left = next(one.id for one in play.case.cause.options if one.id not in tried or one.correct)
    call = "" if found else lines_html([f'`{play.case.call}.cause("{left}")`'])
    stem = f"<p>💡 {inline(pick(play.case.cause.stem))}</p>"
    return f'{stem}<ul style="list-style:none">{rows}</ul>{said}{whys_html(play)}{call}'


# --- a closed case ------------------------------------------------------------------------------------------


def points_html(found: Score) -> str:
    """The score, part by part: points of the most there are, as a bar, and why."""
    parts = ""
    for part in found.parts:
        why = f"<small>{inline(pick(part.why))}</small>" if part.why else ""
        parts += (
            f"<div><p><span>{pick(part.name)}</span> <b>{format_points(part.points)} / {part.most:g}</b></p>"
            f'<i><u style="width:{100 * part.points / part.most:.0f}%"></u></i>{why}</div>'
        )
    return f'<div class="tbg-pts">{parts}</div>'


def holds_head(case: Case) -> str:
    """What stands before the situation in which the advice, or the other setting, is right."""
    if case.quote:
        return t("Where the advice does hold:", "这条建议什么时候是对的：")
    return t("In another situation:", "换个场合：")


def debrief_html(play: Play) -> str:
    """The cause and why, beside the trap's name and where the advice holds."""
    case, told, right = play.case, play.case.debrief, play.case.right
    tries = len(play.attempt.causes)
    how = f"<small>{t(f'found at try {tries}', f'第 {tries} 次答对')}</small>" if play.attempt.cause_found else ""
    return (
        f'<div class="tbg-half"><div><h4>{inline(pick(case.cause.stem))}</h4>'
        f"<p>✓ {inline(pick(right.text))} {how}</p><p>💡 {inline(pick(told.why))}</p></div>"
        f'<div class="tbg-trap"><p><b>{t("🕳️ The trap:", "🕳️ 这个坑：")}</b> {inline(pick(told.trap))}</p>'
        f"<p><b>{holds_head(case)}</b> {inline(pick(told.holds))}</p></div></div>"
    )


def closing_html(play: Play, headline: str, shown: str = "") -> str:
    """A closed case. headline: what came out, with marks. shown: HTML of the game's own."""
    found = play.attempt.score()
    which = t("practice", "练习") if len(play.attempts) > 1 else t("first attempt", "首次尝试")
    points = f"<b>{format_points(found.points)}</b> / {found.most:g} <span>{which}</span>"
    top = f'<div class="tbg-top"><h4>{inline(headline)}</h4><p class="tbg-score">{points}</p></div>'
    twin = ""
    if play.case.twin:
        words = t("👯 Its twin, the same code in another situation:", "👯 它的双胞胎，同样的代码，换一种场合：")
        twin = lines_html([f'{words} `case("{play.case.twin}")`'])
    body = top + shown + debrief_html(play) + points_html(found) + twin
    return in_language(body, "", ' role="status"')


def colleague_html(case: Case) -> str:
    """The message of a sceptical colleague, to be answered aloud, and one good reply."""
    ask = t("Answer aloud, in two or three sentences. Then compare.", "用自己的话说出声来，两三句就够，再和范文对照。")
    head, says, model = t("One good reply", "一种好的回法"), pick(case.letter.says), inline(pick(case.letter.model))
    return f"<p>“{inline(says)}”</p><p>{ask}</p><details><summary>{head}</summary><p>{model}</p></details>"


def folds_html(play: Play, *more: tuple[str, str], again: str = "") -> str:
    """What can be looked up in a closed case, folded. more: (title, HTML) of the game's own. again: the ticket, where it is not shown."""
    case = play.case
    calls = [
        t("🔬 See the cause yourself: ", "🔬 亲眼看原因：") + f'`observe("{case.debrief.experiment}")`',
        t("🎴 The card: ", "🎴 知识卡：") + f'`keep("{case.debrief.card}")`',
        t("↗ For a friend: ", "↗ 发给朋友：") + f'`share("{case.id}")`',
    ]
    folds = (
        *([(t("✉️ A colleague asks", "✉️ 同事来问"), colleague_html(case))] if case.letter else []),
        *more,
        (t("The other causes", "其他选项"), cause_html(play)),
        (t("Go on", "接着看"), lines_html(one for one in calls if '""' not in one)),
        *([(t("The case again", "再看一遍题目"), again)] if again else []),
        (t("Sources", "出处"), lines_html(map(source_words, case.sources))),
    )
    body = "".join(f"<details><summary>{html.escape(title)}</summary>{inner}</details>" for title, inner in folds)
    return in_language(f'<div class="tbg-folds">{body}</div>')
