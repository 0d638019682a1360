"""The class on one page, for the next lesson: which false beliefs to take up, with which cards and experiments, and how
each checkpoint went.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from course.i18n import both, pick
from course.markup import inline
from grader.course import Course
from grader.marks import released
from grader.reporting import pictures
from grader.reporting.collect import gather
from grader.reporting.numbers import analyse
from grader.reporting.style import CSS
from grader.reporting.words import percent, remedy, weighed

STUDENT = (
    12.71,
    4.30,
    3.18,
    2.78,
    2.57,
    2.45,
    2.36,
    2.31,
    2.26,
    2.23,
    2.20,
    2.18,
    2.16,
    2.14,
    2.13,
    2.12,
    2.11,
    2.10,
    2.09,
    2.09,
)
"""Student's t at 97.5 % for 1, 2, ... degrees of freedom."""
IDEAS = 6  # no more fit into an hour
SAY = {
    "title": both("The class so far", "全班目前的情况"),
    "ideas": both("Ideas to discuss", "值得在课上讲的想法"),
    "idea": both("belief", "误解"),
    "who": both("students who showed it, of those who answered", "表现出的学生 / 作答学生"),
    "where": both("seen in", "出现在"),
    "meet": both("how to answer it", "怎么应对"),
    "none": both(
        "No false belief shows in the answers of more than one student.", "没有哪个误解出现在不止一名学生的答案里。"
    ),
    "checkpoints": both("How each checkpoint went", "各次测验"),
    "checkpoint": both("checkpoint", "测验"),
    "share": both("share of points, mean", "平均得分率"),
    "handed": both("handed in", "已提交"),
    "counted": both("counted", "计入"),
    "worst": both("hardest", "最难的题"),
    "cards": both("Cards for the warm-up", "热身卡片"),
    "no_names": both(
        "No names on this page: it may hang on a wall. Intervals are 95 %.", "本页不含姓名，可以张贴。区间为 95%。"
    ),
    "nothing": both("No checkpoint is marked yet.", "还没有评过分的测验。"),
}
Data = dict[str, Any]


def picture(course: Course) -> Data:
    """Collect the content of the page as plain data. Raises ProjectError."""
    found = [analyse(gather(course, lesson)) for lesson in released(course)]
    marked = [one for one in found if one["counted"]]
    ideas: dict[str, Data] = {}
    for one in marked:
        for belief in one["beliefs"]:
            known = ideas.setdefault(belief["id"], {**belief, "holds": 0, "n": 0, "cells": []})
            if belief["holds"] > known["holds"]:
                known |= {name: belief[name] for name in ("holds", "n", "low", "experiments", "practice")}
            known["cells"] = [*known["cells"], *belief["cells"]]
    alive = sorted((one for one in ideas.values() if one["holds"] > 1), key=lambda one: one["low"], reverse=True)
    return {
        "checkpoints": [_checkpoint(one) for one in found],
        "ideas": alive[:IDEAS],
        "cards": list(dict.fromkeys(card for one in alive[:IDEAS] for card in one["practice"])),
    }


def _checkpoint(one: Data) -> Data:
    n, mean = one["counted"], sum(one["totals"]) / len(one["totals"]) if one["totals"] else 0.0
    spread = (sum((share - mean) ** 2 for share in one["totals"]) / (n - 1)) ** 0.5 if n > 1 else 0.0
    reach = (STUDENT[n - 2] if n - 2 < len(STUDENT) else 2.0) * spread / n**0.5 if n > 1 else 1.0
    worst = min(weighed(one), key=lambda cell: cell["facility"]["share"], default=None) if n else None
    return {
        "lesson": one["lesson"],
        "handed_in": one["handed_in"],
        "class": one["handed_in"] + len(one["idle"]),
        "counted": n,
        "mean": mean,
        "low": max(0.0, mean - reach),
        "high": min(1.0, mean + reach),
        "worst": None
        if worst is None
        else {"id": worst["id"], "stem": worst["stem"], "share": worst["facility"]["share"]},
    }


def page(found: Mapping[str, Any], language: str) -> str:
    """The page as HTML: no script, no external files; light, dark, and one sheet in print."""

    def say(name: str) -> str:
        return html.escape(pick(SAY[name], language))

    def table(heads: list[str], rows: list[list[str]]) -> str:
        head = "".join(f"<th>{say(name)}</th>" for name in heads)
        body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
        return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'

    marked = [one for one in found["checkpoints"] if one["counted"]]
    ideas = [
        [
            f"<b>{inline(pick(one['text'], language))}</b>",
            f"{one['holds']} / {one['n']}",
            ", ".join(f"<code>{html.escape(cell)}</code>" for cell in one["cells"]),
            inline(pick(remedy(one), language)),
        ]
        for one in found["ideas"]
    ]
    rows = [
        [
            f"<code>{html.escape(one['lesson'])}</code>",
            f"{one['handed_in']} / {one['class']}",
            str(one["counted"]),
            f"{percent(one['mean'])} ({100 * one['low']:.0f} – {percent(one['high'])})" if one["counted"] else "",
            f"<code>{html.escape(one['worst']['id'])}</code> {percent(one['worst']['share'])}" if one["worst"] else "",
        ]
        for one in found["checkpoints"]
    ]
    plot = pictures.intervals(
        [(one["lesson"], one["mean"], one["low"], one["high"]) for one in marked], pick(SAY["share"], language)
    )
    cards = ", ".join(f'"{card}"' for card in found["cards"])
    body = [
        f"<h1>{say('title')}</h1><p class='soft'>{say('no_names')}</p>",
        f"<h2>{say('ideas')}</h2>",
        table(["idea", "who", "where", "meet"], ideas) if ideas else f"<p>{say('none')}</p>",
        f"<h2>{say('cards')}</h2><p><code>review({html.escape(cards, quote=False)})</code></p>" if cards else "",
        f"<h2>{say('checkpoints')}</h2>",
        plot if marked else f"<p>{say('nothing')}</p>",
        table(["checkpoint", "handed", "counted", "share", "worst"], rows) if rows else "",
    ]
    lang = {"en": "en", "zh": "zh-Hans"}[language]
    return (
        f'<!doctype html><html lang="{lang}" class="tb-page"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width, initial-scale=1"><title>{say("title")}</title><style>{CSS}</style></head>'
        f'<body class="sheet"><main>{"".join(body)}</main></body></html>\n'
    )
