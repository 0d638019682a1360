"""A knowledge card as it is shown: it turns by a press, needs no kernel, and prints open.

The card is a ``details`` element, so it works by mouse and keyboard wherever HTML does: in JupyterLab, VS Code, Colab, in a
saved notebook, on the offline page and on paper.
"""

from __future__ import annotations

import html
from collections.abc import Iterable

from course.cards.render import in_language
from course.cards.style import themed
from course.i18n import pick, t
from course.markup import code_block, inline, plain
from course.questions.knowledge import Knowledge

CSS = (
    themed(".tbk")
    + """
.tbk{color:var(--q-fg);font:400 15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","PingFang SC","Microsoft YaHei",
"Noto Sans CJK SC",sans-serif;max-width:820px;margin:8px 2px 14px;overflow-wrap:anywhere;container-type:inline-size}
.tbk *{box-sizing:border-box}
.tbk details{background:var(--q-bg);border:1px solid var(--q-line);border-top:4px solid var(--q-main);border-radius:14px;
margin:0 0 14px;break-inside:avoid}
.tbk summary{cursor:pointer;list-style:none;padding:14px 20px;border-radius:12px}
.tbk summary::-webkit-details-marker{display:none}
.tbk summary:focus-visible{outline:3px solid var(--q-main);outline-offset:2px}
.tbk summary b{font-size:17px}.tbk summary span{display:block;margin-top:4px;font-size:16px}
.tbk summary em{display:inline-block;margin-top:8px;font-style:normal;font-size:13.5px;font-weight:600;color:var(--q-main)}
.tbk details[open]>summary{border-bottom:1px solid var(--q-line);border-radius:12px 12px 0 0;background:var(--q-pick)}
.tbk details[open] em.turn,.tbk details:not([open]) em.back{display:none}
.tbk dl{display:grid;grid-template-columns:max-content 1fr;gap:8px 18px;margin:0!important;padding:16px 20px 4px!important}
.tbk dt,.tbk dd{float:none!important;width:auto!important;margin:0!important;padding:0!important}
.tbk dt{font-weight:600;color:var(--q-soft);font-size:13.5px;line-height:1.75}
.tbk pre{margin:8px 20px 12px!important;padding:12px 16px!important;background:var(--q-fill)!important;
border:1px solid var(--q-line)!important;border-radius:10px;overflow-x:auto;line-height:1.55;color:inherit;white-space:pre!important}
.tbk code{font:.88em/1.5 ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;background:var(--q-fill);
color:inherit;border-radius:5px;padding:.1em .35em;white-space:break-spaces}
.tbk pre code{background:none!important;padding:0!important;white-space:pre!important}
.tbk a{color:inherit;text-decoration:underline}
.tbk p{margin:0 20px 14px;color:var(--q-soft);font-size:12.5px}
.tbk details[open]>div{animation:tbk .25s ease-out}@keyframes tbk{from{opacity:0;transform:rotateX(-18deg)}}
@media (prefers-reduced-motion:reduce){.tbk details[open]>div{animation:none}}
@container (max-width:520px){.tbk dl{grid-template-columns:1fr;gap:0;padding:12px 16px 4px!important}
.tbk dd{margin-bottom:8px!important}.tbk summary{padding:12px 16px}.tbk pre{margin:8px 16px 12px!important}
.tbk p{margin:0 16px 12px}}
@media print{.tbk em{display:none!important}.tbk summary span{font-style:italic}.tbk details[open]>div{animation:none}
.tbk,.tbk summary span{font-size:9.5pt}.tbk summary b{font-size:11pt}}
"""
)


def front_html(card: Knowledge) -> str:
    """The front: the name and the question."""
    return f"🎴 <b>{inline(pick(card.title))}</b><span>{inline(pick(card.asks))}</span>"


def back_html(card: Knowledge) -> str:
    """The back: what it is, default, how, when, when not, the code, where it is taught."""
    rows = "".join(f"<dt>{html.escape(name)}</dt><dd>{inline(text)}</dd>" for name, text in card.rows())
    number = card.lesson.split("_")[0]
    where = t(f"Lesson {number} · source: ", f"第 {number} 课 · 依据：")
    return (
        f"<dl>{rows}</dl>{code_block(pick(card.code), t('Code of the card', '卡片代码'))}"
        f"<p>{where}{inline(card.source)}</p>"
    )


def card_html(card: Knowledge, turned: bool = False) -> str:
    """One card, without its style sheet."""
    turn, back = t("↻ Turn the card", "↻ 翻面"), t("↺ Turn it back", "↺ 翻回去")
    return (
        f"<details{' open' if turned else ''}><summary>{front_html(card)}"
        f'<em class="turn">{turn}</em><em class="back">{back}</em></summary><div>{back_html(card)}</div></details>'
    )


def cards_html(cards: Iterable[Knowledge], turned: bool = False) -> str:
    """Cards under one style sheet."""
    return f"<style>{CSS}</style>" + in_language("".join(card_html(card, turned) for card in cards), "tbk")


def card_text(card: Knowledge) -> str:
    """The text twin: front, then back."""
    rows = [f"  {name}{t(': ', '：')}{plain(text)}" for name, text in card.rows()]
    code = ["    " + line for line in pick(card.code).strip("\n").splitlines()]
    return "\n".join(
        [
            f"🎴 {plain(pick(card.title))}",
            f"  {plain(pick(card.asks))}",
            *rows,
            *code,
            t(f"  (lesson {card.lesson.split('_')[0]})", f"  （第 {card.lesson.split('_')[0]} 课）"),
        ]
    )
