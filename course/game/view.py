"""What all games show: the ticket, hints, the cause, the debrief, the letter, the board. HTML, and the same as text."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from course.cards.render import in_language
from course.cards.style import SHEET
from course.game import score
from course.game.board import Career, Standing
from course.game.cases import EVIDENCE, Case
from course.game.moves import Move
from course.game.play import CRITERIA, Play
from course.i18n import Text, pick, t
from course.markup import code_block, inline, link, paragraphs, plain
from course.units import format_points

CSS = """<style>
.tbq.tbg h4{margin:14px 0 4px;padding:0;border:0;font:700 15.5px/1.4 inherit;font-family:inherit;color:var(--q-fg)}
.tbq.tbg .tbg-panel>.widget-html:first-child{margin-bottom:8px}.tbq.tbg .tbg-client{font-weight:600;margin:0 0 6px}
.tbq.tbg blockquote{margin:10px 0;padding:6px 14px;border:0;
border-left:4px solid var(--q-line);color:var(--q-soft);background:none}.tbq.tbg blockquote p{margin:0}
.tbq.tbg p.tbg-kind{display:inline-block;background:var(--q-fill);border-radius:8px;padding:3px 10px;font-size:13.5px;
margin:8px 8px 4px 0}
.tbq.tbg .tbg-row{display:block!important;margin:0 0 10px}.tbq.tbg .tbg-row p{margin:0 0 4px}
.tbq.tbg .tbg-row small{color:var(--q-soft);font-size:13px}
.tbq.tbg .tbg-values{display:flex!important;flex-flow:row wrap!important;gap:8px}
.tbq.tbg button.tbg-value{width:auto;height:auto!important;min-height:40px;margin:0;padding:6px 14px;border-radius:10px;
border:1.5px solid var(--q-edge);background:var(--q-bg);color:var(--q-fg)!important;font:inherit;font-size:14.5px;line-height:1.35;
box-shadow:none;white-space:normal;text-align:left;overflow-wrap:anywhere}
.tbq.tbg button.tbg-value:hover:enabled{border-color:var(--q-main);background:var(--q-fill)}
.tbq.tbg button.tbg-on{border-color:var(--q-main);background:var(--q-pick);color:var(--q-main)!important;font-weight:600}
.tbq.tbg .tbg-go{display:flex!important;flex-flow:row wrap!important;gap:10px;margin:12px 0 0}
.tbq.tbg .tbg-go button{scroll-margin-bottom:260px}
.tbq.tbg .tbg-panel{border-top:1px solid var(--q-line);margin-top:12px;padding-top:12px}
.tbq.tbg ol.tbg-steps{list-style:none;margin:12px 0 0;padding:0;font-size:14px;color:var(--q-soft)}
.tbq.tbg .tbg-steps li{display:flex;gap:10px;margin:0}.tbq.tbg .tbg-steps b{min-width:4.2em;text-align:right;
font-weight:400;font-variant-numeric:tabular-nums}.tbq.tbg .tbg-steps li:last-child{color:var(--q-fg)}
.tbg-wait{height:8px;border-radius:4px;background:var(--q-fill);border:1px solid var(--q-line);margin:8px 0 0;overflow:hidden}
.tbg-wait i{display:block;height:100%;width:100%;background:var(--q-main);transform-origin:left}
@media (prefers-reduced-motion:no-preference){.tbg-wait i{animation:tbg-fill linear both}}
@keyframes tbg-fill{from{transform:scaleX(0)}to{transform:scaleX(1)}}
.tbq.tbg .tbq-lines small{white-space:normal;margin-left:0}
.tbq.tbg ul.tbg-bars{list-style:none;margin:10px 0 4px;padding:0}
.tbq.tbg .tbg-bars li{display:grid;grid-template-columns:minmax(130px,34%) 1fr minmax(150px,30%);gap:2px 14px;align-items:center;
margin:0;padding:6px 0;border-top:1px solid var(--q-line);font-size:14px;line-height:1.4}
.tbq.tbg .tbg-bars li:first-child{border-top:0}.tbg-bars .mine{font-weight:600}
.tbg-track{position:relative;height:18px;background:linear-gradient(var(--q-line),var(--q-line)) 0 50%/100% 1px no-repeat}
.tbg-track s{position:absolute;top:6px;height:6px;min-width:3px;background:var(--q-main);border-radius:3px;opacity:.55}
.tbg-track i{position:absolute;top:3px;width:12px;height:12px;margin-left:-6px;border-radius:50%;background:var(--q-main)}
.tbg-track u{position:absolute;top:-4px;bottom:-4px;width:0;border-left:2px dashed var(--q-soft)}
.tbg-bars .broken s{background:var(--q-bad)}.tbg-bars .broken i{background:var(--q-bg);border:2.5px solid var(--q-bad);
box-sizing:border-box}.tbg-bars .best s,.tbg-bars .best i{background:var(--q-good)}
.tbg-bars em{font-style:normal;color:var(--q-soft);font-size:13px}.tbg-bars em b{color:var(--q-fg);font-weight:600}
.tbq.tbg table.tbg-points{border-collapse:collapse;margin:6px 0;border:0;font-size:14.5px}.tbq.tbg .tbg-points th,
.tbq.tbg .tbg-points td{padding:3px 18px 3px 0;border:0;text-align:left;background:none;color:inherit;font-weight:400;
white-space:normal;max-width:none}.tbq.tbg .tbg-points tr{background:none!important}
.tbq.tbg .tbg-points td{font-variant-numeric:tabular-nums}.tbq.tbg .tbg-points tr:last-child>*{font-weight:700;
border-top:1px solid var(--q-line)}
.tbq.tbg .widget-textarea{width:100%;height:auto;display:block}.tbq.tbg .widget-textarea .widget-label{display:block;
width:auto!important;height:auto;margin:0 0 4px;text-align:left;color:var(--q-fg);font:inherit;font-weight:600}
.tbq.tbg .widget-textarea textarea{width:100%;min-height:92px;
border:1.5px solid var(--q-edge);border-radius:10px;background:var(--q-bg)!important;color:var(--q-fg)!important;font:inherit;
padding:8px 12px}.tbq.tbg textarea:focus{outline:2px solid var(--q-main)!important;border-color:var(--q-main)}
.tbq.tbg .tbg-ticks{display:flex!important;flex-flow:column!important;gap:6px;margin:8px 0}
.tbq.tbg ul.tbg-board{list-style:none;margin:12px 0 0;padding:0;display:grid;gap:10px;
grid-template-columns:repeat(auto-fill,minmax(220px,1fr))}
.tbq.tbg .tbg-board li{margin:0;border:1.5px solid var(--q-line);border-radius:12px;padding:10px 14px;background:var(--q-bg)}
.tbq.tbg .tbg-board li.closed{border-color:var(--q-good);background:var(--q-goodbg)}
.tbq.tbg .tbg-board p{margin:0;font-size:13.5px;line-height:1.45}.tbq.tbg .tbg-board p:first-child{font-weight:600;font-size:15px}
.tbq.tbg .tbg-board code{font-size:12.5px}.tbg-ladder{display:flex;flex-flow:row wrap;gap:4px 16px;color:var(--q-soft);font-size:13.5px}
.tbg-ladder b{color:var(--q-main)}
@container (max-width:520px){.tbq.tbg .tbg-bars li{grid-template-columns:1fr}.tbg-track{margin:2px 6px}}
@media (forced-colors:active){.tbg-track i,.tbg-track s{background:CanvasText}}
</style>"""
STYLE = SHEET + CSS


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


def ticket_html(case: Case, more: str = "") -> str:
    """Head, client, ticket, code, quotation, what counts. more: HTML of the game's own."""
    dead = t(
        "The kernel was restarted. Run the notebook's first code cell, then this one: the case is as you left it.",
        "内核重启过。请先运行 notebook 的第一个代码单元格，再运行这一格，一切还是你离开时的样子。",
    )
    code = code_block(pick(case.code), t("What runs today", "现在跑的代码")) if case.code else ""
    quote = ""
    if case.quote:
        where = f" {link(case.quote.source, '↗')}" if case.quote.source[:4] == "http" else ""
        by = f"<p><small>{inline(pick(case.quote.by))}{where}</small></p>"
        quote = f"<blockquote><p>“{inline(pick(case.quote.text))}”</p>{by}</blockquote>"
    return in_language(
        f'<div class="tbq-head"><h3>{case.icon} {html.escape(plain(pick(case.title)))}</h3><code>{case.id}</code></div>'
        f'<p class="tbq-dead">{dead}</p><p class="tbg-client">{inline(pick(case.client))}</p>'
        f'<div class="tbq-stem">{paragraphs(pick(case.ticket))}</div>{code}{quote}'
        f"<p>{t('<strong>What counts:</strong> ', '<strong>看重的是：</strong>')}{inline(pick(case.wants))}</p>{more}"
        f'<p class="tbg-kind">{pick(EVIDENCE[case.evidence])}</p>'
    )


def ticket_text(case: Case) -> str:
    """The ticket as text."""
    lines = [f"{case.icon} [{case.id}] {plain(pick(case.title))}", plain(pick(case.client)), plain(pick(case.ticket))]
    if case.code:
        lines.append("\n".join("    " + line for line in pick(case.code).strip("\n").splitlines()))
    if case.quote:
        by = " ".join(filter(None, [plain(pick(case.quote.by)), case.quote.source]))
        lines.append(f"“{plain(pick(case.quote.text))}”{aside(by)}")
    lines.append(t("What counts: ", "看重的是：") + plain(pick(case.wants)))
    lines.append(pick(EVIDENCE[case.evidence]))
    return "\n\n".join(lines)


# --- points, debrief, letter --------------------------------------------------------------------------------


def points_html(found: score.Score) -> str:
    """The score, part by part."""
    if not found.counts:
        return f"<p>{inline(no_points_words())}</p>"
    rows = "".join(
        f"<tr><th scope=row>{pick(part.name)}{f'<small>{aside(pick(part.why))}</small>' if part.why else ''}</th>"
        f"<td>{format_points(part.points)} / {part.most:g}</td></tr>"
        for part in found.parts
    )
    total = (
        f"<tr><th scope=row>{t('together', '合计')}</th><td>{format_points(found.points)} / {found.most:g}</td></tr>"
    )
    return f'<table class="tbg-points">{rows}{total}</table>'


def points_text(found: score.Score) -> str:
    if not found.counts:
        return plain(no_points_words())
    parts = [
        "  "
        + colon(pick(part.name), f"{format_points(part.points)} / {part.most:g}")
        + (aside(pick(part.why)) if part.why else "")
        for part in found.parts
    ]
    return "\n".join([*parts, "  " + colon(t("together", "合计"), f"{format_points(found.points)} / {found.most:g}")])


def no_points_words() -> str:
    return t(
        "**Inconclusive.** Too few rounds, or intervals too wide for points: the machine was busy, and that is not your fault. "
        "It does not count; go on with the cause now, and try again when it is quiet.",
        "**无法判定。** 轮数太少，或者区间太宽，没法计分：机器太忙了，不怪你。这次不算；先接着答原因，等机器闲下来再来一次。",
    )


def debrief_html(case: Case) -> str:
    """Why, the trap's name, where the advice holds, the card, the experiment, the twin, the sources."""
    rows = "".join(f"<p>{inline(line)}</p>" for line in debrief_lines(case))
    return f"<h4>{t('💡 Why', '💡 为什么')}</h4>{rows}"


def debrief_lines(case: Case) -> list[str]:
    """The debrief in sentences with marks."""
    told = case.debrief
    lines = [
        pick(told.why),
        t("🕳️ The trap: ", "🕳️ 这个坑叫：") + f"**{pick(told.trap)}**",
        (
            t("Where the advice does hold: ", "这条建议什么时候是对的：")
            if case.quote
            else t("And otherwise: ", "换个场合：")
        )
        + pick(told.holds),
    ]
    if told.card:
        lines.append(t("🎴 The card: ", "🎴 知识卡：") + f'`keep("{told.card}")`')
    if told.experiment:
        lines.append(t("🔬 See the cause yourself: ", "🔬 亲眼看原因：") + f'`observe("{told.experiment}")`')
    if case.twin:
        lines.append(t("👯 The twin, another regime: ", "👯 它的双胞胎，换一种场合：") + f'`case("{case.twin}")`')
    return [*lines, t("Sources: ", "出处：") + t("; ", "；").join(map(source_words, case.sources))]


def cause_said(found: bool) -> str:
    """What to say of the last answer about the cause."""
    return t("🎯 Yes.", "🎯 对，就是它！") if found else t("🕳️ Not this one; have another go.", "🕳️ 不是这个，再想想。")


def cause_text(play: Play) -> str:
    """The question about the cause as text: what was tried explains itself; once it is found, every answer does."""
    tried, found, lines = play.causes(), play.cause_found(), [f"💡 {plain(pick(play.case.cause.stem))}"]
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
        "Read the “Why” above first. "
        "Then answer in two or three sentences of your own, compare with a model and tick what yours does; nobody else marks it.",
        "先看看上面的“为什么”，再用你自己的话回两三句。然后对照范文，勾出自己做到的几条；除了你，没有人打分。",
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


# --- board --------------------------------------------------------------------------------------------------


def career_lines(found: Career) -> list[str]:
    """Rank, mean, and this time against last time, with marks."""
    sign, name = found.rank
    if found.mean is None:
        return [t("No case closed yet: the night is young.", "还一个都没做完：夜还长着呢。")]
    lines = [
        f"{sign} **{pick(name)}** · "
        + t(
            f"{format_points(found.mean)} of 10, mean of first attempts · {found.closed} of {found.all} cases closed",
            f"首次尝试平均 {format_points(found.mean)} / 10 · 已完成 {found.closed}/{found.all}",
        )
    ]
    if found.before is not None:
        gain = found.mean - found.before
        before = t(
            f"Before your last case it was {format_points(found.before)}: ", f"此前平均 {format_points(found.before)}："
        )
        up = t("up. The coffee helps.", "涨了！咖啡没白喝。")
        down = t("down a little. The case was a good teacher.", "掉了一点，不过学到了不少。")
        lines.append(before + (up if gain > 0.05 else down if gain < -0.05 else t("steady hands.", "手很稳。")))
    return lines


def ladder(found: Career) -> list[tuple[str, bool]]:
    """(rank and what it takes, whether it is the one reached) from the lowest."""
    here, steps = found.rank if found.mean is not None else None, []
    for least, cases, sign, name in found.ranks:
        few = "case" if cases == 1 else "cases"
        takes = t(f" (from {least:g}, {cases} {few})", f"（≥ {least:g} 分，完成 {cases} 个）") if cases else ""
        steps.append((f"{sign} {pick(name)}{takes}", (sign, name) == here))
    return steps


def board_html(title: Text, standings: Sequence[Standing], found: Career) -> str:
    """All cases as tickets."""
    cells = "".join(
        f'<li class="{"closed" if one.first else ""}"><p>{one.case.icon} {html.escape(plain(pick(one.case.title)))}</p>'
        f"<p>{pick(EVIDENCE[one.case.evidence]).split(',')[0].split('，')[0]}</p><p>{pick(one.words)}{_latest(one)}</p>"
        f"<p><code>case(&quot;{one.case.id.partition('-')[2]}&quot;)</code></p></li>"
        for one in standings
    )
    steps = "".join(
        f"<span>{'<b>▶ ' if here else ''}{words}{'</b>' if here else ''}</span>" for words, here in ladder(found)
    )
    lines = "".join(f"<p>{inline(line)}</p>" for line in career_lines(found))
    body = in_language(
        f'<div class="tbq-head"><h3>{html.escape(pick(title))}</h3></div>{lines}<div class="tbg-ladder">{steps}</div>'
        f'<ul class="tbg-board">{cells}</ul>'
    )
    return f'{STYLE}<div class="tbq tbg">{body}</div>'


def _latest(one: Standing) -> str:
    """The last attempt, where there was more than one: practice."""
    if len(one.scores) < 2 or not one.scores[-1].counts:
        return ""
    points = format_points(one.scores[-1].points)
    return t(f" · practice: {points}", f" · 练习：{points}")


def board_text(title: Text, standings: Sequence[Standing], found: Career) -> str:
    rows = [
        f"  {one.case.icon} {one.case.id:16} {colon(plain(pick(one.case.title)), pick(one.words))}{_latest(one)}"
        for one in standings
    ]
    steps = "  ".join(f"{'> ' if here else ''}{words}" for words, here in ladder(found))
    return "\n".join([pick(title), *map(plain, career_lines(found)), steps, *rows])
