"""What all games show: the ticket, hints, the cause, the debrief, the letter. HTML, and the same as text."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from course.cards.render import foldable_head, in_language
from course.cards.style import SHEET
from course.core.i18n import Text, pick, t
from course.core.markup import code_block, inline, link, paragraphs, plain
from course.core.text import text_of
from course.core.units import format_points
from course.game import board, score
from course.game.cases import Case, origin_said
from course.game.moves import Move
from course.game.play import CRITERIA, Play

STYLE = f"{SHEET}<style>{(Path(__file__).parent / 'desk.css').read_text('utf-8')}</style>"


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


# --- ticket -------------------------------------------------------------------------------------------------


def head_html(case: Case, folded: bool | None = None, closed: bool = False) -> str:
    """Title and id, and a sentence that shows once the kernel is gone. folded: see ``render.foldable_head``."""
    dead = t(
        "The kernel was restarted. Run the notebook's first code cell, then this one: the case is as you left it.",
        "内核重启过。请先运行 notebook 的第一个代码单元格，再运行这一格，一切还是你离开时的样子。",
    )
    head = f"<h3>{case.icon} {html.escape(plain(pick(case.title)))}</h3><code>{case.id}</code>"
    done = t("✓ closed", "✓ 已做完") if closed else ""
    line = foldable_head(head, inline(pick(case.client)), folded, done)
    return in_language(f'{line}<p class="tbq-dead">{dead}</p>')


def ticket_html(case: Case, more: str = "", facts: Sequence[str] = ()) -> str:
    """Client, ticket, code, quotation, what counts. more: HTML of the game's own. facts: what else is to be known, with marks."""
    code = code_block(pick(case.commented(case.code)), t("What runs today", "现在跑的代码")) if case.code else ""
    quote = ""
    if case.quote:
        where = f" {link(case.quote.source, '↗')}" if case.quote.source[:4] == "http" else ""
        by = f"<small>{inline(pick(case.quote.by))}{where}</small>"
        quote = f"<blockquote><p>“{inline(pick(case.quote.text))}” {by}</p></blockquote>"
    counts = t("🎯 What counts: ", "🎯 看重的是：") + pick(case.wants)
    known = "".join(f"<p>{inline(one)}</p>" for one in (counts, *facts, pick(origin_said(case))))
    return in_language(
        f'<p class="tbg-client">{inline(pick(case.client))}</p>'
        f'<div class="tbq-stem">{paragraphs(pick(case.ticket))}</div>{code}{quote}{more}<div class="tbg-facts">{known}</div>'
    )


def ticket_text(case: Case, more: str = "", facts: Sequence[str] = ()) -> str:
    """The ticket as text."""
    return f"{case.icon} [{case.id}] {plain(pick(case.title))}\n{text_of(ticket_html(case, more, facts))}"


# --- points, debrief, letter --------------------------------------------------------------------------------


def points_html(found: score.Score) -> str:
    """The score, part by part: points of the most there are, as a bar, and why."""
    parts = ""
    for part in found.parts:
        why = f"<small>{inline(pick(part.why))}</small>" if part.why else ""
        parts += (
            f"<div><p><span>{pick(part.name)}</span><b>{format_points(part.points)} / {part.most:g}</b></p>"
            f'<i><u style="width:{100 * part.points / part.most:.0f}%"></u></i>{why}</div>'
        )
    return f'<div class="tbg-pts">{parts}</div>'


def top_html(headline: str, found: score.Score, practice: bool) -> str:
    """What came out in one sentence with marks, and the points."""
    which = t("practice", "练习") if practice else t("first attempt", "首次尝试")
    points = f"<b>{format_points(found.points)}</b> / {found.most:g}<span>{which}</span>"
    return f'<div class="tbg-top"><h4>{inline(headline)}</h4><p class="tbg-score">{points}</p></div>'


def rank_html(play: Play) -> str:
    """The rank after this case."""
    found = board.Board(play.case.lesson, play.log.entries()).career
    return "" if found.mean is None else f'<p class="tbg-rank">{inline(board.career_line(found))}</p>'


def points_text(found: score.Score) -> str:
    parts = [
        "  "
        + colon(pick(part.name), f"{format_points(part.points)} / {part.most:g}")
        + (aside(pick(part.why)) if part.why else "")
        for part in found.parts
    ]
    return "\n".join([*parts, "  " + colon(t("together", "合计"), f"{format_points(found.points)} / {found.most:g}")])


def holds_head(case: Case) -> str:
    """What stands before the situation in which the advice, or the other setting, is right."""
    if case.quote:
        return t("Where the advice does hold", "这条建议什么时候是对的")
    return t("In another situation", "换个场合")


def seen_next(case: Case) -> list[str]:
    """Where the cause can be seen and read about, with marks."""
    experiment, card = case.debrief.experiment, case.debrief.card
    return [
        *([t("🔬 See the cause yourself: ", "🔬 亲眼看原因：") + f'`observe("{experiment}")`'] if experiment else []),
        *([t("🎴 The card: ", "🎴 知识卡：") + f'`keep("{card}")`'] if card else []),
    ]


def debrief_html(play: Play) -> str:
    """The cause and why, beside the trap's name and where the advice holds."""
    case, tries = play.case, play.attempt.causes
    told, right = case.debrief, case.cause.right
    how = t(f"found at try {len(tries)}", f"第 {len(tries)} 次答对") if play.attempt.cause_found else ""
    small = f" <small>{how}</small>" if how else ""
    return (
        f'<div class="tbg-half"><div><h4>{inline(pick(case.cause.stem))}</h4>'
        f"<p>✓ {inline(pick(right.text))}{small}</p><p>💡 {inline(pick(told.why))}</p></div>"
        f'<div class="tbg-trap"><p><b>{t("🕳️ The trap", "🕳️ 这个坑")}</b>{inline(pick(told.trap))}</p>'
        f"<p><b>{holds_head(case)}</b>{inline(pick(told.holds))}</p></div></div>"
    )


def closing_html(play: Play, headline: str, shown: str = "", noted: str = "") -> str:
    """A closed case: what came out and the points, HTML of the game's own, the cause, the points part by part, the rank."""
    found = play.attempt.score()
    return in_language(
        top_html(headline, found, len(play.attempts) > 1)
        + shown
        + debrief_html(play)
        + points_html(found)
        + noted
        + rank_html(play),
        "",
        ' role="status"',
    )


def as_it_is(text: str) -> str:
    """A text as HTML, its lines as they are."""
    return f'<pre style="white-space:pre-wrap">{html.escape(text)}</pre>'


def lines_html(lines: Iterable[str]) -> str:
    """Sentences with marks as paragraphs."""
    return "".join(f"<p>{inline(line)}</p>" for line in lines)


def folds_html(play: Play, *more: tuple[str, str]) -> str:
    """What can be looked up in a closed case, folded. more: (title, HTML) of the game's own, first."""
    case = play.case
    whys = "".join(
        f"<p><b>{one.id}</b> {inline(pick(one.text))} {inline(pick(one.why))}</p>" for one in case.cause.answers
    )
    friend = t("↗ For a friend: ", "↗ 发给朋友：") + f'`share("{case.id.partition("-")[2]}")`'
    calls = [*seen_next(case), friend]
    sources = "".join(f"<p>{inline(source_words(one))}</p>" for one in case.sources)
    folds = (
        *more,
        (t("The other causes", "其他选项"), whys),
        (t("Go on", "接着看"), "".join(f"<p>{inline(one)}</p>" for one in calls)),
        (t("The case again", "再看一遍题目"), ticket_html(case)),
        (t("Sources", "出处"), sources),
    )
    body = "".join(f"<details><summary>{html.escape(title)}</summary>{inner}</details>" for title, inner in folds)
    return in_language(f'<div class="tbg-folds">{body}</div>')


def debrief_lines(case: Case) -> list[str]:
    """The debrief in sentences with marks."""
    told = case.debrief
    lines = [
        pick(told.why),
        t("🕳️ The trap: ", "🕳️ 这个坑叫：") + f"**{pick(told.trap)}**",
        colon(holds_head(case), pick(told.holds)),
        *seen_next(case),
    ]
    if case.twin:
        lines.append(t("👯 The twin, another situation: ", "👯 它的双胞胎，换一种场合：") + f'`case("{case.twin}")`')
    return [*lines, t("Sources: ", "出处：") + t("; ", "；").join(map(source_words, case.sources))]


def cause_said(found: bool) -> str:
    """What to say of the last answer about the cause."""
    return t("🎯 Yes.", "🎯 对，就是它！") if found else t("🕳️ Not this one; have another go.", "🕳️ 不是这个，再想想。")


def cause_button() -> str:
    return t("💡 This is the cause", "💡 原因就是它")


def cause_text(play: Play) -> str:
    """The question about the cause as text: what was tried explains itself; once it is found, every answer does."""
    tried, found, lines = play.attempt.causes, play.attempt.cause_found, [f"💡 {plain(pick(play.case.cause.stem))}"]
    for one in play.case.cause.answers:
        shown = found or one.id in tried
        mark = ("✓ " if one.right else "✗ ") if shown else ""
        lines.append(f"  {one.id}) {mark}{plain(pick(one.text))}" + (f"\n     {plain(pick(one.why))}" if shown else ""))
    lines += [cause_said(found)] if tried else []
    if not found:
        untried = next(one.id for one in play.case.cause.answers if one.id not in tried)
        lines.append(f'  {play.case.call}.cause("{untried}")')
    return "\n".join(lines)


def letter_ask(case: Case) -> str:
    """The colleague's message and what to do with it, with marks."""
    return t("✉️ A colleague writes: ", "✉️ 同事来信：") + f"“{pick(case.letter.says)}”"


def letter_help() -> str:
    return t(
        "Answer in two or three sentences of your own, with the help of the “Why” above. Then compare with a model reply. "
        "Nobody marks it but you.",
        "参考上面的“为什么”，用自己的话回两三句，再和范文对照。除了你，没有人打分。",
    )


def model_html(case: Case) -> str:
    """One good reply."""
    head = t("One good reply:", "一种好的回法：")
    return f"<p><strong>{head}</strong></p><blockquote><p>{inline(pick(case.letter.model))}</p></blockquote>"


def letter_text(case: Case, written: Move | None) -> str:
    """The letter as text: the ask; once written, the model and the criteria."""
    call = f'{case.call}.letter("...", tick=["cause", "need"])'
    if written is None:
        return f"{plain(letter_ask(case))}\n{letter_help()}\n  {call}"
    ticks = "\n".join(
        f"  {'[x]' if name in written.choice else '[ ]'} {colon(name, pick(text))}" for name, text in CRITERIA.items()
    )
    return "\n".join(
        [
            plain(letter_ask(case)),
            t("You wrote: ", "你写的：") + written.text,
            t("One good reply: ", "一种好的回法：") + plain(pick(case.letter.model)),
            t("What yours does (tick with the call below):", "你的回信做到了哪几条（用下面的写法打勾）："),
            ticks,
            f"  {call}",
        ]
    )
